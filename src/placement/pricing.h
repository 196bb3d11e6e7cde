// The costs of strategies and layout changes in µs. Each distinct cost is computed once.
//
// A node costs the roofline of one rank's work, given the local types of its operands. An edge
// costs the redistribution from the producer's layout to the consumer's, minus what compute hides
// (overlap.h), plus 1 if the two differ.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cost/collective.h"
#include "cost/redistribute.h"
#include "cost/roofline.h"
#include "graph/graph.h"
#include "ops/op_def.h"
#include "placement/overlap.h"
#include "placement/route_tables.h"
#include "redistribution/lowered_memory.h"
#include "solver/problem.h"
#include "strategy/shared_versions.h"
#include "strategy/strategies.h"
#include "support/parallel.h"

namespace shw {

// The value that is redistributed on an edge: the bytes of the whole value, and whether its strides
// are row-major. The result of an einsum counts as row-major whatever the graph records, as in the
// reference planner.
cost::ValueMeta edge_value(const Graph& graph, NodeId consumer, size_t operand);

class Pricer {
 public:
  // With `routes`, layout changes cost what lowering generates for them. Without, they have the
  // reference planner's prices, which treat mesh dims one by one and ignore shard orders. At most
  // `threads` threads fill large matrices.
  Pricer(const Graph& graph, const Strategies& strategies, const cost::CollectiveModel& collectives,
         cost::PriceRules rules, Redistributor* routes = nullptr, Threads threads = {})
      : graph_(graph),
        strategies_(strategies),
        collectives_(collectives),
        roofline_(collectives.hardware().device, collectives.mesh().num_ranks()),
        rules_(rules),
        threads_(threads) {
    if (routes != nullptr) routes_.emplace(graph, strategies, *routes);
  }

  // How often each node runs (ops/entries.h): scales its cost and the cost of its incoming edges.
  // Call it before anything is priced; by default everything runs once.
  void set_weights(std::vector<double> weights) { weights_ = std::move(weights); }
  // Call it before anything is priced; `memory` must outlive this. It has an effect only with
  // routes: the reference planner uses the strides of the graph.
  void set_memory(const LoweredMemory& memory) {
    if (!routes_) return;
    routes_->set_memory(memory.orders);
    copies_ = memory.copies;
  }
  // The part of node_costs() for filling the padding of operands before the op reads them. The
  // program fills an operand of several ops once, but here each use pays for it.
  double fills_us(NodeId n, uint32_t strategy) const;
  double weight(NodeId n) const { return weights_.empty() ? 1 : weights_[n.v]; }

  // Compute cost of every strategy of `n`.
  Result<std::span<const double>> node_costs(NodeId n);
  // The matrix of an operand's edge in `problem`: a row per strategy of the producer, a column per
  // strategy of `consumer`. With `no_comm`, entries that communicate are forbidden.
  uint32_t edge_matrix(NodeId consumer, size_t operand, bool no_comm,
                       solver::PlacementProblem& problem);
  double redistribution_us(NodeId consumer, size_t operand, const Layout& from, const Layout& to);

  // A change of layout that is not an edge of the graph. Its cost counts as often as `reader` runs.
  struct Change {
    NodeId reader;
    GraphEdge like;  // whose value has the same order in memory
  };
  // Only with routes and without discounts. Makes a new matrix each time, because the problem
  // shares the tables of another one.
  uint32_t change_matrix(const Change& change, LayoutListId from, LayoutListId to, bool no_comm,
                         solver::PlacementProblem& problem);
  double change_us(const Change& change, const Layout& from, const Layout& to);
  // The fixed cost of any layout change.
  double transition_us(NodeId consumer, const Layout& from, const Layout& to) const {
    return weight(consumer) * cost::transition_us(from, to);
  }
  // From now on, edges are discounted by these; call it before any edge is priced.
  void set_discounts(EdgeDiscounts discounts) { discounts_ = std::move(discounts); }

  cost::PriceRules rules() const { return rules_; }
  // Edges of equal hash share tables, so pricing them one after another is faster.
  uint64_t table_hash(NodeId consumer, size_t operand) const;

 private:
  struct EdgeKey {
    uint32_t from, to;
    double bytes;
    uint64_t shape;  // 0 if irrelevant
    bool contiguous, no_comm;
    EdgeDiscount discount;
    double weight;
    bool operator==(const EdgeKey&) const = default;
  };
  struct EdgeKeyHash {
    size_t operator()(const EdgeKey& k) const;
  };
  TensorType piece(const TensorType& whole, const Layout& layout) const;
  Result<std::vector<OptionalType>> result_pieces(NodeId n, uint32_t strategy,
                                                  const OpArgs& pieces) const;
  Result<double> strategy_cost(NodeId n, uint32_t strategy) const;
  Result<double> opaque_cost(NodeId n, uint32_t strategy) const;
  using RowPrices = std::function<void(size_t i, std::span<double> row)>;
  RowPrices row_prices(NodeId consumer, size_t operand, const cost::ValueMeta& value,
                       std::span<const Layout> from, std::span<const Layout> to);
  double copy_us(NodeId consumer, size_t operand, const Layout& from) const;
  double output_copy_us(const TensorType& type, const Layout& layout,
                        const NodeCopies& copies) const;
  double piece_copy_us(const TensorType& type, const Layout& layout) const;

  const Graph& graph_;
  const Strategies& strategies_;
  const cost::CollectiveModel& collectives_;
  cost::Roofline roofline_;
  cost::PriceRules rules_;
  Threads threads_;
  std::optional<RouteTables> routes_;
  EdgeDiscounts discounts_;
  std::vector<double> weights_;     // by node
  std::vector<NodeCopies> copies_;  // by node; empty: none
  // By StrategySetId, weight, copies.
  std::map<std::tuple<uint32_t, double, NodeCopies>, std::vector<double>> node_costs_;
  std::unordered_map<EdgeKey, uint32_t, EdgeKeyHash> matrices_;
  std::vector<double>
      pair_us_;  // scratch when there are no routes: megabytes, reused a hundred times
};

}  // namespace shw
