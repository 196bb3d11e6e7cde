#include "placement/solve_placement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "placement/share_versions.h"
#include "support/hash.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

// An operand of a node, with the index of the table that prices it.
struct Use {
  NodeId node;
  size_t operand;
  uint32_t type;
};

std::vector<Use> uses_of(const Graph& graph, const Pricer& pricer) {
  std::vector<Use> uses;
  std::unordered_map<uint64_t, uint32_t> types;  // never iterated
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const auto operands = graph.operands(NodeId{i});
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].valid()) continue;
      const auto at =
          types.try_emplace(pricer.table_hash(NodeId{i}, k), static_cast<uint32_t>(types.size()))
              .first;
      uses.push_back({NodeId{i}, k, at->second});
    }
  }
  return uses;
}

}  // namespace

Result<solver::PlacementProblem> priced_problem(const Graph& graph,
                                                const std::vector<bool>& no_comm, Pricer& pricer,
                                                Monitor& monitor) {
  solver::PlacementProblem problem;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    SHW_ASSIGN_OR_RETURN(const std::span<const double> costs, pricer.node_costs(NodeId{i}));
    problem.add_variable(costs);
  }
  const std::vector<Use> edges = uses_of(graph, pricer);
  // Prices are computed type by type; edges are added in graph order.
  std::vector<uint32_t> by_type(edges.size());
  std::iota(by_type.begin(), by_type.end(), 0u);
  sort_stably(by_type, [&](uint32_t a, uint32_t b) { return edges[a].type < edges[b].type; });
  // Solving with larger tables would take too long anyway.
  constexpr uint64_t kMaxBytes = uint64_t{4} << 30;
  std::vector<uint32_t> matrices(edges.size());
  for (size_t n = 0; n < edges.size(); ++n) {
    if (problem.pool_bytes() > kMaxBytes)
      return Status(Code::kResourceExhausted,
                    "the prices of all pairs of layouts need more than 4 GiB: use fewer mesh dims" +
                        std::string(pricer.rules() == cost::PriceRules::kCompat
                                        ? ", or --rules full, which omit unreachable strategies"
                                        : ""));
    if (n % 64 == 0) SHW_RETURN_IF_ERROR(monitor.poll());
    const Use& use = edges[by_type[n]];
    matrices[by_type[n]] = pricer.edge_matrix(use.node, use.operand, no_comm[use.node.v], problem);
  }
  for (size_t n = 0; n < edges.size(); ++n)
    problem.add_edge(graph.operands(edges[n].node)[edges[n].operand].v, edges[n].node.v,
                     matrices[n]);
  return problem;
}

void add_labels(std::span<const AllowedLabels> labels, solver::PlacementProblem& problem) {
  for (const AllowedLabels& a : labels) {
    std::vector<double> costs;
    for (bool allowed : a.allowed) costs.push_back(allowed ? 0.0 : solver::kForbidden);
    problem.add_unary(a.node.v, costs);
  }
}

void add_conditions(const SideConditions& conditions, solver::PlacementProblem& problem,
                    std::span<const uint8_t> active) {
  const auto counts = [&](uint32_t source) { return active.empty() || active[source] != 0; };
  for (const AllowedLabels& a : conditions.labels)
    if (counts(a.source)) add_labels({&a, 1}, problem);
  for (const AllowedPairs& p : conditions.pairs) {
    if (!counts(p.source)) continue;
    const size_t rows = p.class_a.size(), columns = p.class_b.size();
    std::vector<double> costs(rows * columns, solver::kForbidden);
    for (size_t s = 0; s < rows; ++s)
      for (size_t t = 0; t < columns; ++t)
        if (p.class_a[s] == p.class_b[t] && p.class_a[s] != AllowedPairs::kNoClass)
          costs[s * columns + t] = 0;
    problem.add_edge(
        p.a.v, p.b.v,
        problem.add_matrix(static_cast<uint32_t>(rows), static_cast<uint32_t>(columns), costs));
  }
  for (const LinearBudget& b : conditions.budgets) {
    if (!counts(b.source)) continue;
    const uint32_t budget = problem.add_budget(b.limit);
    for (const auto& [node, usage] : b.terms) problem.add_usage(budget, node.v, 0, 1, usage);
  }
}

EdgeCost Choice::edge(NodeId n, uint32_t k) const {
  const Layout& to = strategies.operand_layout(n, k, labels[n.v]);
  if (shared != nullptr && shared->is_unread(n)) return {to, to};
  const SharedVersions::Read* read = shared != nullptr ? shared->read({n, k}) : nullptr;
  if (read != nullptr) return change(read->from, {n, read->like}, to);
  const Layout& from = layout_of(strategies.produced(graph, n, k), graph.operands(n)[k]);
  return {from, to, pricer.redistribution_us(n, k, from, to), pricer.transition_us(n, from, to)};
}

EdgeCost Choice::version(const SharedVersions::Version& v) const {
  return change(v.from, {v.reader.node, v.like}, v.layout);
}

EdgeCost Choice::change(const SharedVersions::Source& source, const Pricer::Change& change,
                        const Layout& to) const {
  const Layout& from = source.version == SharedVersions::kAsItLies
                           ? layout_of(strategies.of(source.value).results[0], source.value)
                           : shared->versions[source.version].layout;
  return {from, to, pricer.change_us(change, from, to),
          pricer.transition_us(change.reader, from, to)};
}

const Layout& Choice::layout_of(LayoutListId list, NodeId n) const {
  return strategies.pool().layout(strategies.pool().list(list)[labels[n.v]]);
}

Result<Placed> price_choice(const Graph& graph, const Strategies& strategies, Pricer& pricer,
                            std::vector<uint32_t> choice,
                            std::shared_ptr<const SharedVersions> shared) {
  Placed placed;
  placed.costs.resize(graph.num_nodes());
  const Choice priced{graph, strategies, pricer, choice, shared.get()};
  const auto add = [&](const EdgeCost& edge, NodeCost& cost) {
    cost.comm_us += edge.comm_us;
    cost.transition_us += edge.transition_us;
  };
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    NodeCost& c = placed.costs[i];
    SHW_ASSIGN_OR_RETURN(const std::span<const double> compute, pricer.node_costs(n));
    c.compute_us = compute[choice[i]];
    c.fills_us = pricer.weight(n) * pricer.fills_us(n, choice[i]);
    const auto operands = graph.operands(n);
    for (uint32_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid()) add(priced.edge(n, k), c);
  }
  if (shared != nullptr)
    for (const SharedVersions::Version& v : shared->versions)
      add(priced.version(v), placed.costs[v.reader.node.v]);
  for (const NodeCost& c : placed.costs) {
    placed.total.compute_us += c.compute_us;
    placed.total.comm_us += c.comm_us;
    placed.total.transition_us += c.transition_us;
  }
  placed.objective_us = placed.total.us();
  placed.choice = std::move(choice);
  placed.shared = std::move(shared);
  return placed;
}

Result<Placed> solve_placement(const Graph& graph, const Strategies& strategies,
                               const solver::PlacementProblem& problem, Pricer& pricer,
                               const solver::SolveOptions& options, Monitor& monitor, Prices prices,
                               const SharedVersions* shared) {
  SHW_ASSIGN_OR_RETURN(solver::Solution solution, solver::solve(problem, options, monitor));
  std::shared_ptr<const SharedVersions> placed_versions;
  if (shared != nullptr)
    placed_versions = std::make_shared<const SharedVersions>(with_labels(
        graph, strategies, *shared, std::span(solution.choice).subspan(graph.num_nodes())));
  solution.choice.resize(graph.num_nodes());  // drop the variables that are no nodes
  SHW_ASSIGN_OR_RETURN(Placed placed,
                       price_choice(graph, strategies, pricer, std::move(solution.choice),
                                    std::move(placed_versions)));
  // Both sums have the same terms in a different order, so a difference beyond rounding is a bug.
  SHW_CHECK(prices == Prices::kOther ||
            std::abs(placed.objective_us - solution.cost) <= 1e-9 * std::abs(solution.cost));
  placed.objective_us = solution.cost;  // bit-identical to what bounds are compared with
  placed.bound_us = solution.bound;
  placed.proven = solution.proven && solver::is_optimal(solution.cost, solution.bound);
  placed.stats = solution.stats;
  placed.prices = std::move(solution.prices);
  placed.warm = std::move(solution.warm);
  return placed;
}

Assignment assignment_of(const Graph& graph, const Strategies& strategies,
                         std::span<const uint32_t> choice) {
  Assignment assignment(graph);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    const StrategySet& set = strategies.of(n);
    for (size_t k = 0; k < set.results.size(); ++k)
      if (set.results[k].valid())
        assignment.results(n)[k] = strategies.result_layout(n, k, choice[i]);
    for (size_t k = 0; k < set.operands.size(); ++k)
      if (set.operands[k].valid())
        assignment.operands(n)[k] = strategies.operand_layout(n, k, choice[i]);
  }
  return assignment;
}

}  // namespace shw
