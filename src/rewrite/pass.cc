#include "rewrite/pass.h"

#include <chrono>
#include <string>
#include <utility>

#include "rewrite/verify.h"

namespace shw {
namespace {

Result<Graph> run_pass(const GraphPass& pass, Graph graph, std::vector<PassStats>* stats) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  SHW_ASSIGN_OR_RETURN(Rewritten next, pass.run(graph));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (stats != nullptr)
    stats->push_back({pass.name, next.changes, graph.num_nodes(), next.graph.num_nodes(), seconds});
  if (next.changes == 0) return graph;  // it was verified before
  for (uint32_t i = 0; i < next.graph.num_nodes(); ++i)
    SHW_CHECK(next.graph.origin(NodeId{i}).valid());
  if (const Status status = verify_graph(next.graph); !status.ok())
    return internal_error("pass " + std::string(pass.name) +
                          " made a graph that does not verify: " + status.message())
        .at_node(status.node_index(), status.node_name());
  return std::move(next.graph);
}

}  // namespace

Result<Graph> run_rewrites(Graph graph, const RewriteOptions& options,
                           std::vector<PassStats>* stats, const Monitor* monitor) {
  if (graph.symbols().has_exprs())
    return internal_error("a graph with symbols is expanded before it is rewritten");
  const std::pair<const GraphPass*, bool> passes[] = {
      {&kCleanUp, true},
      {&kRunTimeSeed, true},
      {&kViewMmToEinsum, options.einsum},
      {&kBiasedLinearToEinsum, options.einsum && options.biased_einsum},
      {&kEqualNodes, options.merge_equal},
      {&kChoicePoints, true}};
  for (const auto& [pass, enabled] : passes) {
    if (!enabled) continue;
    if (monitor != nullptr) SHW_RETURN_IF_ERROR(monitor->poll());
    SHW_ASSIGN_OR_RETURN(graph, run_pass(*pass, std::move(graph), stats));
  }
  return graph;
}

}  // namespace shw
