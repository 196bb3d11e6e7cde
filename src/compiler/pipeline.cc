#include "compiler/pipeline.h"

#include "compiler/fastest.h"

namespace shw {

Result<Compiled> compile(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                         Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(const Solved solved, solve_once(graph_bytes, options, monitor));
  return finish(*solved.model, options, solved.placed, monitor);
}

Result<Solved> solve_once(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                          Monitor& monitor) {
  // If no placement is found with pruned strategies, a second model without pruning finds out which
  // constraints contradict each other.
  std::shared_ptr<const RewrittenGraph> graph;
  for (const auto use : {PreparedModel::Use::kOnce, PreparedModel::Use::kAnyNumber}) {
    SHW_ASSIGN_OR_RETURN(std::unique_ptr<const PreparedModel> model,
                         graph == nullptr
                             ? PreparedModel::create(graph_bytes, options, monitor, use)
                             : PreparedModel::create(graph, options, monitor, use));
    graph = model->rewritten();
    SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                         ConstrainedModel::create(*model, options, monitor));
    auto placed = model->is_pruned() ? try_answer(question, options.solver, monitor)
                                     : answer(question, options.solver, monitor);
    if (placed.ok()) return Solved{std::move(model), std::move(*placed)};
    if (!model->is_pruned() || placed.status().code() != Code::kFailedPrecondition)
      return placed.status();
  }
  return internal_error("a model for any number of uses was pruned");
}

Result<Compiled> compile(const PreparedModel& model, const CompileOptions& options,
                         Monitor& monitor) {
  if (!model.serves(options))
    return invalid_argument(
        "these options differ from the planner's in more than constraints and time limit");
  SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                       ConstrainedModel::create(model, options, monitor));
  SHW_ASSIGN_OR_RETURN(const Placed placed, answer(question, options.solver, monitor));
  return finish(model, options, placed, monitor);
}

}  // namespace shw
