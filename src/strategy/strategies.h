// The strategies of every node. A strategy is a combination of operand and result layouts under
// which the node can run.
//
// An op's rules for one mesh dim (ops/) are composed over the mesh: every combination of one rule
// per mesh dim, mesh dim 0 varying slowest, "all replicated" first. Impossible combinations are
// dropped: shards that run out of elements, and different kinds of partials in one layout.
//
// Rule sets: `compat` equals the reference planner, strategy by strategy. `full` corrects it: it
// drops what gives wrong results (averages over uneven shards) and adds what is missing (table in
// sharding/README.md).
//
// Sets are enumerated once per class of equal nodes: same op, attributes, types and, for ops that
// follow an operand, the same producer layouts.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "strategy/layout_pool.h"
#include "support/monitor.h"

namespace shw {

enum class Rules : uint8_t { kFull = 0, kCompat = 1 };
std::string_view rules_name(Rules rules);
Result<Rules> rules_from_name(std::string_view name);

struct StrategyOptions {
  Rules rules = Rules::kFull;
  // Drop strategies that require an operand in a partial placement that its producer never makes.
  // Nothing else can create a partial value, so the price of such a strategy is infinite. (At
  // `compat` prices, any partial placement of the producer is enough.)
  bool reachable_only = false;
  // Offer all orders in which mesh dims can cut one tensor dim (shard_orders.h). `full` only.
  bool shard_orders = false;
  // With `shard_orders`: nodes that are always offered in all orders.
  std::vector<NodeId> ordered{};
  // Offer strided shards where views create them (strided_rules.h). `full` only.
  bool strided = false;
  Status check() const;
};

using StrategySetId = Id<struct StrategySetTag>;

struct StrategySet {
  uint32_t count = 0;
  // One list of `count` layouts per result and per operand; invalid if the tensor is absent.
  std::vector<LayoutListId> results, operands;
};

class Strategies {
 public:
  // Mesh and graph are only used during the call.
  static Result<Strategies> enumerate(const Graph& graph, const Mesh& mesh,
                                      const StrategyOptions& options, Monitor& monitor);

  const StrategySet& of(NodeId n) const { return sets_[set_of_[n]]; }
  StrategySetId set_of(NodeId n) const { return set_of_[n]; }
  size_t num_sets() const { return sets_.size(); }
  uint64_t total() const;  // sum over the nodes
  // Removes the node's strategies for which `kept` is false. At least one must be kept.
  void keep(NodeId n, const std::vector<bool>& kept);
  const LayoutPool& pool() const { return pool_; }
  const Layout& result_layout(NodeId n, size_t result, uint32_t strategy) const {
    return pool_.layout(pool_.list(of(n).results[result])[strategy]);
  }
  const Layout& operand_layout(NodeId n, size_t operand, uint32_t strategy) const {
    return pool_.layout(pool_.list(of(n).operands[operand])[strategy]);
  }
  // The layouts in which the producer makes `n`'s operand: those of its result, or for get_item
  // those of the element.
  LayoutListId produced(const Graph& graph, NodeId n, size_t operand) const;

 private:
  LayoutPool pool_;
  IndexVec<StrategySetId, StrategySet> sets_;
  IndexVec<NodeId, StrategySetId> set_of_;
};

// The types of a node's operands as its OpDef sees them; for get_item the element of the tuple.
std::vector<std::optional<TensorType>> operand_types(const Graph& graph, NodeId n);

// "(S(0)R, RS(1)) -> S(0)S(1)"
std::string strategy_text(const Strategies& strategies, NodeId n, uint32_t strategy, int mesh_rank);

}  // namespace shw
