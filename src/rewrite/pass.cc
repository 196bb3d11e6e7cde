#include "rewrite/pass.h"

#include <chrono>
#include <string>
#include <utility>

#include "rewrite/verify.h"

namespace shw {
namespace {

Result<Graph> run_pass(const GraphPass& pass, Graph graph, std::vector<PassStats>* stats,
                       std::vector<std::string_view>& changed) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  SHW_ASSIGN_OR_RETURN(Rewritten next, pass.run(graph));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (stats != nullptr)
    stats->push_back({pass.name, next.changes, graph.num_nodes(), next.graph.num_nodes(), seconds});
  if (next.changes == 0) return graph;
  changed.push_back(pass.name);
  return std::move(next.graph);
}

Status verify_rewritten(const Graph& graph, std::span<const std::string_view> changed) {
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) SHW_CHECK(graph.origin(NodeId{i}).valid());
  Status status = verify_graph(graph);
  if (status.ok()) return status;
  std::string names;
  for (const std::string_view name : changed)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return internal_error("passes " + names +
                        " made a graph that does not verify: " + status.message())
      .at_node(status.node_index(), status.node_name());
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
  std::vector<std::string_view> changed;
  for (const auto& [pass, enabled] : passes) {
    if (!enabled) continue;
    if (monitor != nullptr) SHW_RETURN_IF_ERROR(monitor->poll());
    SHW_ASSIGN_OR_RETURN(graph, run_pass(*pass, std::move(graph), stats, changed));
  }
  if (!changed.empty()) SHW_RETURN_IF_ERROR(verify_rewritten(graph, changed));
  return graph;
}

}  // namespace shw
