#include "placement/share_versions.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace shw {
namespace {

class Sharing {
 public:
  Sharing(const Graph& graph, const Strategies& strategies, const SharedVersions& shared,
          const std::vector<bool>& no_comm, Pricer& pricer, solver::PlacementProblem& problem)
      : graph_(graph),
        strategies_(strategies),
        shared_(shared),
        no_comm_(no_comm),
        pricer_(pricer),
        problem_(problem),
        first_variable_(problem.num_variables()) {}

  void add() {
    if (shared_.empty()) return;
    for (const SharedVersions::Version& v : shared_.versions) {
      const LayoutListId layouts = strategies_.produced(graph_, v.reader.node, v.reader.operand);
      lists_.push_back(layouts);
      const size_t labels = strategies_.pool().list(layouts).size();
      const uint32_t variable = problem_.add_variable(std::vector<double>(labels, 0.0));
      problem_.add_edge(variable_of(v.from), variable,
                        matrix(v.from, layouts, {v.reader.node, v.like}));
    }
    auto read = shared_.reads.begin();
    uint32_t edge = 0;
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      const auto operands = graph_.operands(NodeId{i});
      for (uint32_t k = 0; k < operands.size(); ++k) {
        if (!operands[k].valid()) continue;
        if (read != shared_.reads.end() && read->edge == GraphEdge{NodeId{i}, k}) {
          const LayoutListId wanted = strategies_.of(NodeId{i}).operands[k];
          problem_.set_edge(edge, variable_of(read->from), i,
                            matrix(read->from, wanted, {NodeId{i}, read->like}));
          ++read;
        }
        if (shared_.is_unread(NodeId{i})) problem_.set_edge(edge, operands[k].v, i, free(edge));
        ++edge;
      }
    }
  }

 private:
  uint32_t variable_of(const SharedVersions::Source& from) const {
    return from.version == SharedVersions::kAsItLies ? from.value.v
                                                     : first_variable_ + from.version;
  }
  // The change to the layout of an unread choice point costs nothing, since the program does not
  // make it.
  uint32_t free(uint32_t edge) {
    const auto [rows, columns, costs] = problem_.matrices()[problem_.edges()[edge].matrix];
    return problem_.add_matrix(rows, columns, std::vector<double>(size_t{rows} * columns, 0.0));
  }
  uint32_t matrix(const SharedVersions::Source& from, LayoutListId to,
                  const Pricer::Change& change) {
    const LayoutListId list = from.version == SharedVersions::kAsItLies
                                  ? strategies_.of(from.value).results[0]
                                  : lists_[from.version];
    const bool no_comm = no_comm_[change.reader.v];
    const auto [at, is_new] =
        matrices_.try_emplace({pricer_.table_hash(change.like.node, change.like.operand), list.v,
                               to.v, no_comm, pricer_.weight(change.reader)});
    if (is_new) at->second = pricer_.change_matrix(change, list, to, no_comm, problem_);
    return at->second;
  }

  const Graph& graph_;
  const Strategies& strategies_;
  const SharedVersions& shared_;
  const std::vector<bool>& no_comm_;
  Pricer& pricer_;
  solver::PlacementProblem& problem_;
  const uint32_t first_variable_;
  std::vector<LayoutListId> lists_;  // by version
  // Key: type of the value, lists of layouts, whether communication is forbidden, how often it
  // runs.
  std::map<std::tuple<uint64_t, uint32_t, uint32_t, bool, double>, uint32_t> matrices_;
};

}  // namespace

void add_shared_versions(const Graph& graph, const Strategies& strategies,
                         const SharedVersions& shared, const std::vector<bool>& no_comm,
                         Pricer& pricer, solver::PlacementProblem& problem) {
  Sharing(graph, strategies, shared, no_comm, pricer, problem).add();
}

std::optional<std::vector<uint32_t>> labels_of(const Graph& graph, const Strategies& strategies,
                                               const SharedVersions& shared) {
  const LayoutPool& pool = strategies.pool();
  std::vector<uint32_t> labels;
  for (const SharedVersions::Version& v : shared.versions) {
    const auto layouts = pool.list(strategies.produced(graph, v.reader.node, v.reader.operand));
    const auto at = std::ranges::find(
        layouts, v.layout, [&](LayoutId id) -> const Layout& { return pool.layout(id); });
    if (at == layouts.end()) return std::nullopt;
    labels.push_back(static_cast<uint32_t>(at - layouts.begin()));
  }
  return labels;
}

SharedVersions with_labels(const Graph& graph, const Strategies& strategies, SharedVersions shared,
                           std::span<const uint32_t> labels) {
  const LayoutPool& pool = strategies.pool();
  for (size_t i = 0; i < shared.versions.size(); ++i) {
    SharedVersions::Version& v = shared.versions[i];
    const auto layouts = pool.list(strategies.produced(graph, v.reader.node, v.reader.operand));
    v.layout = pool.layout(layouts[labels[i]]);
  }
  return shared;
}

}  // namespace shw
