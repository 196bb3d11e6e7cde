// shardwise plan: a graph and a mesh in, a plan out.
#include <sys/resource.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/pipeline.h"
#include "import/file.h"
#include "plan/report.h"
#include "tools/commands.h"
#include "tools/hardware_option.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct Options {
  std::string graph, output, mesh, hardware = "h100", rules = "full", budget = "default",
                                   grad_reduce_dtype, memory;
  std::vector<std::string> pins;
  CompileOptions compile;
  bool json = false, no_einsum = false, strip_graph = false;
};

Result<ParameterBudget> parse_budget(const std::string& text) {
  if (text == "default") return ParameterBudget{};
  if (text == "none") return ParameterBudget{ParameterBudget::Kind::kNone, 0};
  char* end = nullptr;
  const double factor = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(factor > 0))
    return invalid_argument("--param-budget '" + text +
                            "': want default, none, or a factor greater than 0");
  return ParameterBudget{ParameterBudget::Kind::kFactor, factor};
}

// "80GB", "74.5 GiB", "1e9".
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
  return invalid_argument("'" + text + "': want a number of bytes, such as 80GB or 74.5GiB");
}

// Largest resident set so far, in bytes (ru_maxrss is in KiB on Linux).
int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

void print_phases(const std::vector<PhaseTime>& phases) {
  double total = 0;
  std::printf("time    ");
  for (const PhaseTime& p : phases) {
    std::printf(" %.*s %.1f ms,", static_cast<int>(p.name.size()), p.name.data(), p.seconds * 1e3);
    total += p.seconds;
  }
  std::printf(" total %.1f ms\n", total * 1e3);
}

void print_json(const Compiled& compiled) {
  auto j = nlohmann::ordered_json::parse(plan_json(compiled.plan, /*with_decisions=*/false));
  double total = 0;
  for (const PhaseTime& p : compiled.phases) {
    j["seconds"][std::string(p.name)] = p.seconds;
    total += p.seconds;
  }
  j["seconds"]["total"] = total;
  j["peak_rss_bytes"] = peak_rss_bytes();
  j["solver"] = {{"sweeps", compiled.solve_stats.sweeps},
                 {"variables", compiled.solve_stats.variables},
                 {"labels", compiled.solve_stats.labels},
                 {"edges", compiled.solve_stats.edges},
                 {"branch_nodes", compiled.solve_stats.branch_nodes}};
  std::printf("%s\n", j.dump(1).c_str());
}

Status run(Options& o) {
  CompileOptions& c = o.compile;
  c.mesh = o.mesh;
  SHW_ASSIGN_OR_RETURN(c.hardware, hardware_text(o.hardware));
  c.einsum = !o.no_einsum;
  c.keep_graph = !o.strip_graph;
  SHW_ASSIGN_OR_RETURN(c.rules, rules_from_name(o.rules));
  SHW_ASSIGN_OR_RETURN(c.parameter_budget, parse_budget(o.budget));
  if (!o.memory.empty()) {
    SHW_ASSIGN_OR_RETURN(c.memory_limit_bytes, parse_bytes(o.memory));
  }
  if (!o.grad_reduce_dtype.empty()) {
    c.grad_reduce_dtype = dtype_from_name(o.grad_reduce_dtype);
    if (!c.grad_reduce_dtype)
      return invalid_argument("--grad-reduce-dtype: unknown dtype '" + o.grad_reduce_dtype + "'");
  }
  for (const std::string& pin : o.pins) {
    const size_t equals = pin.rfind('=');
    if (equals == std::string::npos)
      return invalid_argument("--pin '" + pin + "': want NAME=LAYOUT");
    c.pins.emplace_back(pin.substr(0, equals), pin.substr(equals + 1));
  }
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, import::read_file(o.graph));
  Monitor monitor;
  ProgressLine line(monitor);
  SHW_ASSIGN_OR_RETURN(const Compiled compiled, compile(graph, c, monitor));
  line.end();
  SHW_RETURN_IF_ERROR(import::write_file(o.output, compiled.bytes));
  if (o.json) {
    print_json(compiled);
    return {};
  }
  std::printf("%s", plan_text(compiled.plan).c_str());
  print_phases(compiled.phases);
  std::printf("written  %s, %s\n", o.output.c_str(),
              human_bytes(static_cast<int64_t>(compiled.bytes.size())).c_str());
  return {};
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "plan", "Place every tensor of a graph on a mesh, optimally, and write the plan");
  verb->add_option("GRAPH", o->graph, "Graph file (.swgraph; made by `shardwise import`)")
      ->required();
  verb->add_option("--mesh", o->mesh, "Mesh dims, outermost first: dp=8,tp=8")->required();
  verb->add_option("--hardware", o->hardware, kHardwareHelp)->capture_default_str();
  verb->add_option("--rules", o->rules,
                   "full: every strategy that is right; compat: those of the reference planner")
      ->capture_default_str();
  verb->add_option("--input-layout", o->compile.input_layout,
                   "Layout of every plain input, such as S(0)R; default: free");
  verb->add_option("--output-layout", o->compile.output_layout,
                   "Layout of every plain output; default: free");
  verb->add_option("--pin", o->pins,
                   "NAME=LAYOUT: layout of the nodes, inputs or outputs with that name (* matches "
                   "anything), such as "
                   "'param.*.wq.weight=RS(0)'; may be repeated")
      ->allow_extra_args(false);
  verb->add_option("--param-budget", o->budget,
                   "default: every parameter at its smallest share; none; or the mean share that a "
                   "rank may hold")
      ->capture_default_str();
  verb->add_option(
      "--grad-reduce-dtype", o->grad_reduce_dtype,
      "Reduce gradients in this dtype (f32), after the cast up from the parameters' dtype");
  verb->add_flag("--strided", o->compile.strided,
                 "Offer strided shards, which views bring about (with --no-einsum they keep the "
                 "sequence sharded through linear layers)");
  verb->add_flag("--no-einsum", o->no_einsum, "Leave view-mm-view as it is");
  verb->add_flag("--strip-graph", o->strip_graph,
                 "Do not store the graph in the plan (run --verify needs it)");
  verb->add_option("--time-limit", o->compile.solver.time_limit_s,
                   "Seconds after which the solver settles for the best so far; default: none")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--memory", o->memory,
                   "What a rank may hold at any point of a step, such as 80GB or 74.5GiB");
  verb->add_option("--optimizer-factor", o->compile.optimizer_factor,
                   "Bytes of optimizer state per byte of parameter; Adam on f32 parameters: 2")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("-o,--output", o->output, "Plan file to write")->required();
  verb->add_flag("--json", o->json, "Print JSON for machines");
  verb->callback([o, &exit_code] {
    if (const Status status = run(*o); !status.ok()) exit_code = print_error(status);
  });
}

}  // namespace shw::tools
