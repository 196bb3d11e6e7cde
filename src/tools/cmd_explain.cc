// shardwise explain: explains a plan, or the layout of one node and the cost of alternatives.
#include <cstdio>
#include <memory>
#include <string>

#include "answers/explain.h"
#include "answers/explain_plan.h"
#include "import/file.h"
#include "tools/commands.h"
#include "tools/plan_options.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct ExplainOptions {
  PlanOptions plan;
  answers::ExplainRequest request;
  bool json = false;
};

template <class T>
void print(const T& explanation, bool json) {
  std::printf("%s", json ? (to_json(explanation) + "\n").c_str() : to_text(explanation).c_str());
}

Status run_explain(const ExplainOptions& o) {
  SHW_ASSIGN_OR_RETURN(const CompileOptions options, o.plan.options());
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, import::read_file(o.plan.graph));
  Monitor monitor;
  ProgressLine line(monitor);
  SHW_ASSIGN_OR_RETURN(const std::unique_ptr<const PreparedModel> model,
                       PreparedModel::create(graph, options, monitor));
  SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                       ConstrainedModel::create(*model, options, monitor));
  if (o.request.node.empty()) {
    SHW_ASSIGN_OR_RETURN(const answers::PlanExplanation explanation,
                         answers::explain_plan(question, options.solver, monitor));
    line.end();
    print(explanation, o.json);
    return {};
  }
  SHW_ASSIGN_OR_RETURN(const answers::Explanation explanation,
                       answers::explain(question, o.request, options.solver, monitor));
  line.end();
  print(explanation, o.json);
  return {};
}

}  // namespace

void add_explain(CommandLine& command_line) {
  auto o = std::make_shared<ExplainOptions>();
  Verb verb = command_line.verb("explain",
                                "Explain a plan, or the layout of one node: where it "
                                "communicates, and what other layouts cost");
  o->plan.add_to(verb);
  verb.option(
      "NODE", o->request.node,
      "Name of a node after the rewrites, or of an input or output (param.NAME, output). "
      "Without it: the whole plan, and how far prices may change before another plan is better");
  verb.option("--layout", o->request.layout,
              "A layout of the node's result to price exactly, such as S(0)R");
  verb.option("--forced", o->request.forced_layouts,
              "Number of other layouts to price exactly, those with the lowest lower bounds "
              "(floors) first")
      .shows_default();
  verb.flag("--json", o->json, "Print JSON");
  verb.runs([o] { return run_explain(*o); });
}

}  // namespace shw::tools
