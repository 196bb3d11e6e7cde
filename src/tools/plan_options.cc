#include "tools/plan_options.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "compiler/option_text.h"
#include "import/file.h"
#include "tools/hardware_option.h"

namespace shw::tools {
namespace {

// ---- By type: what stands on the command line ----

using Texts = std::vector<std::string>;

Option declare(Verb& verb, const std::string& flag, std::string& typed, int64_t&,
               const std::string& help) {  // of bytes
  return verb.option(flag, typed, help);
}
Option declare(Verb& verb, const std::string& flag, std::string&, double& value,
               const std::string& help) {
  return verb.option(flag, value, help).not_negative();
}
Option declare(Verb& verb, const std::string& flag, std::string&, uint32_t& value,
               const std::string& help) {
  return verb.option(flag, value, help);
}
Option declare(Verb& verb, const std::string& flag, bool& typed, bool&, const std::string& help) {
  return verb.flag(flag, typed, help);
}
template <class T>
Option declare(Verb& verb, const std::string& flag, Texts& typed, std::vector<T>&,
               const std::string& help) {
  return verb.option(flag, typed, help).repeatable();
}
template <class T>
Option declare(Verb& verb, const std::string& flag, std::string& typed, T& value,
               const std::string& help) {
  typed = option_text(value);
  Option option = verb.option(flag, typed, help);
  return typed.empty() ? option : option.shows_default();
}
// What is not said stays kDefault.
Option declare(Verb& verb, const std::string& flag, std::string& typed, OverlapOptions&,
               const std::string& help) {
  return verb.option(flag, typed, help);
}

// ---- By type: what it says. An empty text says nothing ----

Status parse(std::string_view, bool given, bool& out) {
  if (given) out = !out;
  return {};
}
Status parse(std::string_view, const std::string&, double&) { return {}; }  // bound itself
Status parse(std::string_view, const std::string&, uint32_t&) { return {}; }
Status parse(std::string_view, const std::string& text, std::string& out) {
  out = text;
  return {};
}
Status parse(std::string_view, const std::string& text, Rules& out) {
  SHW_ASSIGN_OR_RETURN(out, rules_from_name(text));
  return {};
}
Status parse(std::string_view, const std::string& text, OverlapOptions& out) {
  if (text.empty()) return {};
  SHW_ASSIGN_OR_RETURN(out.kind, overlap_from_name(text));
  return {};
}
Status parse(std::string_view, const std::string& text, RecomputePolicy& out) {
  SHW_ASSIGN_OR_RETURN(out, recompute_policy(text));
  return {};
}
Status parse(std::string_view, const std::string& text, int64_t& out) {
  if (text.empty()) return {};
  SHW_ASSIGN_OR_RETURN(out, parse_bytes(text));
  return {};
}
Status parse(std::string_view flag, const std::string& text, std::optional<Dtype>& out) {
  if (text.empty()) return {};
  out = dtype_from_name(text);
  if (out) return {};
  return invalid_argument(std::string(flag) + ": unknown dtype '" + text +
                          "': expected f32, bf16, f16 or f64");
}
Status parse(std::string_view flag, const std::string& text, ParameterBudget& out) {
  out = {};
  if (text == "default") return {};
  if (text == "none") {
    out.kind = ParameterBudget::Kind::kNone;
    return {};
  }
  char* end = nullptr;
  const double factor = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(factor > 0))
    return invalid_argument(std::string(flag) + " '" + text +
                            "': expected default, none, or a factor greater than 0");
  out = {ParameterBudget::Kind::kFactor, factor};
  return {};
}
Status parse(std::string_view, const Texts& texts, Names& out) {
  out = texts;
  return {};
}
// NAME=LAYOUT, or LAYOUT with no name.
Status parse(std::string_view flag, const Texts& texts, NamedLayouts& out) {
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    if (equals == 0 || equals + 1 == text.size())
      return invalid_argument(std::string(flag) + " '" + text + "': expected NAME=LAYOUT");
    if (equals == std::string::npos)
      out.emplace_back("", text);
    else
      out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return {};
}
Status parse(std::string_view flag, const Texts& texts, Buckets& out) {
  for (const std::string& text : texts) {
    auto sizes = parse_bucket_sizes(text);
    if (!sizes.ok()) return invalid_argument(std::string(flag) + " " + sizes.status().message());
    out.push_back(*std::move(sizes));
  }
  return {};
}

// ---- By type: another value ----

void change(OptionPart, std::string& was, const std::string& is) {
  if (!is.empty()) was = is;
}
void change(OptionPart part, Texts& was, const Texts& is) {
  if (part == OptionPart::kModel && !is.empty()) was.clear();
  was.insert(was.end(), is.begin(), is.end());
}
void change(OptionPart, bool&, bool) {}

Names split_at_commas(const Names& texts) {
  Names names;
  for (const std::string& text : texts)
    for (size_t at = 0, end = 0; end != text.npos; at = end + 1) {
      end = text.find(',', at);
      names.push_back(text.substr(at, end - at));
    }
  return names;
}

// The last layout without a name is that of all.
void take_general(NamedLayouts& layouts, std::string& of_all) {
  for (const auto& [name, layout] : layouts)
    if (name.empty()) of_all = layout;
  std::erase_if(layouts, [](const auto& l) { return l.first.empty(); });
}

}  // namespace

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
  c.start();
#define SHW_OPTION(type, name, initial, fields, flag, ...) \
  SHW_RETURN_IF_ERROR(parse(flag, typed.name, c.name));
#include "compiler/options.inc"
#undef SHW_OPTION
  take_general(c.inputs, c.input_layout);
  take_general(c.outputs, c.output_layout);
  for (const auto& [pattern, layout] : c.pins)
    if (pattern.empty()) return invalid_argument("--pin '" + layout + "': expected NAME=LAYOUT");
  c.entries = split_at_commas(c.entries);
  // These name files, which the library does not read.
  SHW_ASSIGN_OR_RETURN(c.hardware, hardware_text(c.hardware));
  if (!c.placements.empty()) {
    SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(c.placements));
    c.placements.assign(bytes.begin(), bytes.end());
  }
  return c;
}

void PlanOptions::add_to(Verb& verb, bool with_mesh) {
  verb.option("GRAPH", graph, "Graph file, as written by `shardwise import`: .swgraph, or .swt")
      .required();
  const auto add = [&](const std::string& flag, auto& text, auto& value, const char* help) {
    if (flag.empty() || (flag == "--mesh" && !with_mesh)) return;
    Option option = declare(verb, flag, text, value, help);
    if (flag == "--mesh") option.required();
  };
#define SHW_OPTION(type, name, initial, fields, flag, part, identity, help) \
  add(flag, typed.name, compile.name, help);
#include "compiler/options.inc"
#undef SHW_OPTION
  verb.option(
      "--overlap-scale", compile.overlap.scale,
      "With --overlap prefetch: factor of the hidden communication, from 0 (free) to 1 (counts in "
      "full); with bounded: share of compute that can hide communication (0: all)");
  if (!with_mesh) return;
  compile.solver.threads = 0;
  verb.option("--threads", compile.solver.threads,
              "Maximum number of threads; 0: one per core. Does not affect the plan");
}

void OptionChanges::add_to(Verb& verb, const std::string& heading) {
  const auto add = [&](const std::string& flag, auto& text, const char* help) {
    if (flag.empty()) return;
    if constexpr (std::is_same_v<decltype(text), Texts&>)
      verb.option("--new-" + flag.substr(2), text, help).repeatable().group(heading);
    else if constexpr (std::is_same_v<decltype(text), std::string&>)
      verb.option("--new-" + flag.substr(2), text, help).group(heading);
  };
#define SHW_OPTION(type, name, initial, fields, flag, part, identity, help)   \
  if constexpr (!std::is_arithmetic_v<type> || std::is_same_v<type, int64_t>) \
    add(flag, typed.name, help);
#include "compiler/options.inc"
#undef SHW_OPTION
}

PlanOptions OptionChanges::applied_to(PlanOptions options) const {
#define SHW_OPTION(type, name, initial, fields, flag, part, ...) \
  change(OptionPart::part, options.typed.name, typed.name);
#include "compiler/options.inc"
#undef SHW_OPTION
  return options;
}

}  // namespace shw::tools
