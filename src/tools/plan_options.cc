#include "tools/plan_options.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "import/file.h"
#include "tools/hardware_option.h"

namespace shw::tools {

Result<std::pair<std::string, std::string>> parse_pin(const std::string& option,
                                                      const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return invalid_argument(option + " '" + text + "': expected NAME=LAYOUT");
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

// LAYOUT applies to all, NAME=LAYOUT to those that match.
static Status parse_layouts(const std::string& option, const std::vector<std::string>& texts,
                            std::string& of_all,
                            std::vector<std::pair<std::string, std::string>>& named) {
  for (const std::string& text : texts) {
    if (text.find('=') == std::string::npos) {
      of_all = text;
      continue;
    }
    SHW_ASSIGN_OR_RETURN(auto layout, parse_pin(option, text));
    named.push_back(std::move(layout));
  }
  return {};
}

Result<ParameterBudget> parse_budget(const std::string& text) {
  if (text == "default") return ParameterBudget{};
  if (text == "none") return ParameterBudget{ParameterBudget::Kind::kNone, 0};
  char* end = nullptr;
  const double factor = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(factor > 0))
    return invalid_argument("--param-budget '" + text +
                            "': expected default, none, or a factor greater than 0");
  return ParameterBudget{ParameterBudget::Kind::kFactor, factor};
}

Result<int64_t> parse_bytes(const std::string& text) {
  static constexpr std::pair<const char*, double> kUnits[] = {
      {"", 1},        {"B", 1},     {"kB", 1e3},   {"KB", 1e3},           {"MB", 1e6},
      {"GB", 1e9},    {"TB", 1e12}, {"KiB", 1024}, {"MiB", 1024 * 1024.}, {"GiB", 0x1p30},
      {"TiB", 0x1p40}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  while (*end == ' ') ++end;
  for (const auto& [unit, bytes] : kUnits)
    if (end != text.c_str() && unit == std::string_view(end) && number * bytes >= 1 &&
        number * bytes < 0x1p62)
      return static_cast<int64_t>(number * bytes);
  return invalid_argument("'" + text + "': expected a number of bytes, such as 80GB or 74.5GiB");
}

Result<CompileOptions> PlanOptions::options() const {
  CompileOptions c = compile;
  c.start_clock();
  c.mesh = mesh;
  SHW_ASSIGN_OR_RETURN(c.hardware, hardware_text(hardware));
  c.einsum = !no_einsum;
  SHW_ASSIGN_OR_RETURN(c.rules, rules_from_name(rules));
  SHW_ASSIGN_OR_RETURN(c.parameter_budget, parse_budget(budget));
  if (!placements.empty()) {
    SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(placements));
    c.placements.assign(bytes.begin(), bytes.end());
  }
  SHW_ASSIGN_OR_RETURN(c.overlap.kind, overlap_from_name(overlap));
  SHW_ASSIGN_OR_RETURN(c.recompute, recompute_policy(recompute));
  if (!prefetch.empty()) {
    SHW_ASSIGN_OR_RETURN(c.prefetch_bytes, parse_bytes(prefetch));
  }
  if (!memory.empty()) {
    SHW_ASSIGN_OR_RETURN(c.memory_limit_bytes, parse_bytes(memory));
  }
  if (!grad_reduce_dtype.empty()) {
    c.grad_reduce_dtype = dtype_from_name(grad_reduce_dtype);
    if (!c.grad_reduce_dtype)
      return invalid_argument("--grad-reduce-dtype: unknown dtype '" + grad_reduce_dtype +
                              "': expected f32, bf16, f16 or f64");
  }
  for (const std::string& text : pins) {
    SHW_ASSIGN_OR_RETURN(auto pin, parse_pin("--pin", text));
    c.pins.push_back(std::move(pin));
  }
  for (const std::string& text : buckets) {
    auto sizes = parse_bucket_sizes(text);
    if (!sizes.ok()) return invalid_argument("--buckets " + sizes.status().message());
    c.buckets.push_back(*std::move(sizes));
  }
  SHW_RETURN_IF_ERROR(parse_layouts("--input-layout", inputs, c.input_layout, c.inputs));
  SHW_RETURN_IF_ERROR(parse_layouts("--output-layout", outputs, c.output_layout, c.outputs));
  return c;
}

void PlanOptions::add_to(Verb& verb, bool with_mesh) {
  verb.option("GRAPH", graph, "Graph file (.swgraph), as written by `shardwise import`").required();
  if (with_mesh) {
    verb.option("--mesh", mesh, "Mesh dims, outermost first: dp=8,tp=8").required();
    compile.solver.threads = 0;
    verb.option("--threads", compile.solver.threads,
                "Maximum number of threads; 0: one per core. Does not affect the plan");
  }
  verb.option("--hardware", hardware, kHardwareHelp).shows_default();
  verb.option("--rules", rules,
              "Sharding rules: full (all valid strategies) or compat (those of AutoParallel)")
      .shows_default();
  verb.option(
          "--input-layout", inputs,
          "LAYOUT for all plain inputs, such as S(0)R, or NAME=LAYOUT for matching inputs (* is a "
          "wildcard; the last match applies). free: chosen by the planner, the default. "
          "Repeatable")
      .repeatable();
  verb.option("--output-layout", outputs,
              "The same for results and, by name, for other outputs: 'output.1=free', "
              "'grad.*.wq.weight=S(0)R'")
      .repeatable();
  verb.option(
          "--pin", pins,
          "Constrain layouts: NODES=LAYOUTS, such as 'param.*.wq.weight=RS(0)'. NODES: the name of "
          "a node, input or output (* is a wildcard), module:PATH, op:NAME, or several of these "
          "joined by &. LAYOUTS: one layout or alternatives separated by ; (* matches any "
          "placement on a mesh dim), !LAYOUTS for none of these, or `same` for equal layouts. "
          "Repeatable")
      .repeatable();
  verb.option("--without", compile.without,
              "Drop a constraint by its name in conflict reports (* is a wildcard): 'gradients*', "
              "'casts*', \"pin 'norm=S(0)R'\"")
      .repeatable();
  verb.option("--placements", placements,
              "Use exactly the placements in this file, written by --save-placements");
  verb.option(
          "--param-budget", budget,
          "default: shard every parameter as much as possible; none: no budget; or the mean share "
          "of a parameter that a rank may hold")
      .shows_default();
  verb.option("--grad-reduce-dtype", grad_reduce_dtype,
              "Reduce gradients in this wider dtype (f32), after the up-cast");
  verb.option("--entries", compile.entries,
              "Comma-separated entries to derive from a training graph: step, forward, backward, "
              "infer (default: the graph's own)")
      .separator(',');
  verb.option("--buckets", buckets,
              "ENTRY:SYMBOL=SIZE,SIZE or SYMBOL=SIZE,SIZE: sizes to plan for, where the graph "
              "has symbols, such as decode:cache=16,64; may be repeated. Default: the hint")
      .repeatable();
  verb.flag("--strided", compile.strided,
            "Also use strided shards, which views create (with --no-einsum they keep the "
            "sequence sharded through linear layers)");
  verb.flag("--no-einsum", no_einsum, "Do not rewrite view-mm-view into einsum");
  verb.option("--time-limit", compile.time_limit_s,
              "Seconds after which to take the best answer so far; default: no limit")
      .not_negative();
  verb.option(
          "--overlap", overlap,
          "Communication that the objective treats as hidden. none; prefetch: that of parameters "
          "and gradients, as in AutoParallel; bounded: as much of it as adjacent compute "
          "can hide")
      .shows_default();
  verb.option(
      "--overlap-scale", compile.overlap.scale,
      "prefetch: the share of hidden communication that is charged anyway; bounded: the share "
      "of compute that can hide communication (0: all)");
  verb.option(
          "--recompute", recompute,
          "What the backward pass computes again in place of keeping it. none; cheap: what costs "
          "little beside its memory, no products; selective: in each block all but every second "
          "product, attention and reductions; full: all of each block; every:N: full in every N-th "
          "block; with +gathered behind, gathered parameters are kept, else they are gathered "
          "again; auto: what --memory asks for, block by block. Tags of the graph win")
      .shows_default();
  verb.option("--prefetch-bytes", prefetch,
              "Memory that starting collectives early may cost, such as 64MiB; default: 512MiB");
  verb.option("--prefetch-depth", compile.prefetch_depth,
              "Steps of compute between a collective and its first reader, at most; default: 256");
  verb.option("--memory", memory,
              "Memory limit of a rank at any point of a step, such as 80GB or 74.5GiB");
  verb.option("--optimizer-factor", compile.optimizer_factor,
              "Bytes of optimizer state per byte of parameter (Adam on f32 parameters: 2)")
      .not_negative();
}

}  // namespace shw::tools
