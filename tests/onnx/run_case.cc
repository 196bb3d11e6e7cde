#include "run_case.h"

#include <cmath>
#include <cstring>

#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "rewrite/verify.h"
#include "tools/execute.h"
#include "verify/numbers.h"

namespace shw::testing {
namespace {

using import::StoredTensor;
using import::TensorFile;

constexpr double kRelative = 1e-3, kAbsolute = 1e-7;  // the tolerances of ONNX's own runner

// The name of the input that must be a constant at import; empty if the refusal has another reason.
std::string wanted_constant(const Status& status) {
  constexpr std::string_view kMark = "' is an input of the model: give it as a constant";
  const size_t end = status.message().find(kMark);
  if (end == std::string::npos) return {};
  const size_t begin = status.message().rfind('\'', end - 1);
  return status.message().substr(begin + 1, end - begin - 1);
}

// Imports the model for this data. Inputs that are shapes or axes become constants.
Result<import::onnx::ImportedModel> import_for(const NodeCase& c, const NodeCase::Data& data) {
  import::onnx::Options options;
  for (size_t tries = 0; tries <= c.inputs.size(); ++tries) {
    auto imported = import::onnx::import_model(c.model, options);
    const std::string name = imported.ok() ? "" : wanted_constant(imported.status());
    const auto value = data.inputs.find(name);
    if (imported.ok() || value == data.inputs.end()) return imported;
    options.constants.insert(*value);
  }
  return internal_error("constants do not help");
}

bool is_exact(Dtype dtype) { return !is_floating(dtype) && !is_complex(dtype); }

// Describes the first difference; empty if there is none.
std::string difference(const StoredTensor& got, const StoredTensor& want) {
  if (got.type != want.type)
    return "it is " + to_string(got.type) + ", not " + to_string(want.type);
  if (is_exact(want.type.dtype)) return got.bytes == want.bytes ? "" : "integers differ";
  const auto a = numbers_of({got.type, got.bytes.data()});
  const auto b = numbers_of({want.type, want.bytes.data()});
  // Results may differ by one rounding to the type, which in bf16 is more than 1e-3.
  const double relative = std::max(kRelative, 2 * unit_roundoff(want.type.dtype));
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::abs(a[i] - b[i]) <= kAbsolute + relative * std::abs(b[i])) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(a[i]) + ", not " +
           std::to_string(b[i]);
  }
  return {};
}

// Plans, runs and compares. A refusal is a status; a wrong result is a text.
Result<std::string> run_on(const Graph& graph, const TensorFile& inputs, const TensorFile& want,
                           const CompileOptions& options) {
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(Compiled compiled, compile(write_graph(graph), options, monitor));
  const auto plan = std::make_shared<const Plan>(std::move(compiled.plan));
  SHW_ASSIGN_OR_RETURN(const TensorFile got, tools::execute(plan, "step", inputs));
  for (const OutputInfo& out : graph.outputs()) {
    const auto expected = want.find(out.name);
    const auto it = got.find(graph.full_name(out));
    if (expected == want.end() || it == got.end()) return "output '" + out.name + "' is missing";
    const std::string wrong = difference(it->second, expected->second);
    if (!wrong.empty()) return "output '" + out.name + "': " + wrong;
  }
  return std::string();
}

TensorFile named_inputs(const NodeCase::Data& data, const TensorFile& parameters) {
  TensorFile all = parameters;
  for (const auto& [name, tensor] : data.inputs) all.emplace("input." + name, tensor);
  return all;
}

std::string text_of(const Status& status) {
  return status.message() + (status.node_name().empty() ? "" : " (" + status.node_name() + ")");
}

// Runs on two ranks. The inputs are cut if the planner can do that; otherwise it chooses the
// layouts.
Result<std::string> run_on_two(const Graph& graph, const TensorFile& inputs, const TensorFile& want,
                               bool& sharded) {
  CompileOptions options;
  options.mesh = "x=2";
  for (const InputInfo& in : graph.inputs())
    if (in.role == InputRole::kInput && graph.type(in.node).rank() > 0 &&
        graph.type(in.node).shape[0] >= 2)
      options.inputs.emplace_back(graph.full_name(in), "S(0)");
  sharded = !options.inputs.empty();
  auto wrong = run_on(graph, inputs, want, options);
  // Planning refuses inputs that cannot be cut in this way.
  const Code code = wrong.ok() ? Code::kOk : wrong.status().code();
  if (!sharded || (code != Code::kInvalidArgument && code != Code::kFailedPrecondition &&
                   code != Code::kUnimplemented))
    return wrong;
  sharded = false;
  options.inputs.clear();
  return run_on(graph, inputs, want, options);
}

Outcome run_data(const NodeCase& c, const NodeCase::Data& data) {
  const auto refused = [](const char* when, const Status& status) {
    // A model must never break an invariant, so these codes are bugs.
    const bool is_bug = status.code() == Code::kInternal || status.code() == Code::kUnknown;
    return Outcome{is_bug ? Verdict::kWrong : Verdict::kRefused,
                   when + (is_bug ? text_of(status) : status.message())};
  };
  const auto imported = import_for(c, data);
  if (!imported.ok()) return refused("", imported.status());
  const Status sound = verify_graph(imported->graph);
  if (!sound.ok()) return {Verdict::kWrong, "the graph is not sound: " + text_of(sound)};
  const TensorFile inputs = named_inputs(data, imported->parameters);
  CompileOptions options;
  options.mesh = "x=1";
  const auto one = run_on(imported->graph, inputs, data.outputs, options);
  if (!one.ok()) return refused("", one.status());
  if (!one->empty()) return {Verdict::kWrong, *one, 1};
  Outcome outcome{Verdict::kPassed, "", 2};
  const auto two = run_on_two(imported->graph, inputs, data.outputs, outcome.sharded);
  if (!two.ok()) return refused("on two ranks: ", two.status());
  if (!two->empty()) return {Verdict::kWrong, "on two ranks: " + *two, 2};
  return outcome;
}

}  // namespace

Outcome run_case(const NodeCase& c) {
  Outcome all;
  for (const NodeCase::Data& data : c.data) {
    all = run_data(c, data);
    if (all.verdict != Verdict::kPassed) break;
  }
  return all;
}

}  // namespace shw::testing
