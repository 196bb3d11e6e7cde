// The strategies of every node: which combinations of operand and result layouts it can run under.
//
// An op's rules for one mesh dim (ops/) are composed over the mesh: every combination of one rule
// per mesh dim, mesh dim 0 slowest, "all replicated" first (planner.md 2.2). What does not exist is
// left out: shards that run out of elements, and partial entries of different kinds in one layout
// (2.1).
//
// Rule sets: `compat` is the reference's, strategy by strategy. `full` is what is right: it leaves
// out what gives wrong results (averages over uneven shards), and adds what the reference lacks
// (sharding/README.md has the table).
//
// Sets are enumerated once per class of equal nodes: same op, attributes, types and, for ops that
// follow, the same producer.
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
  // Leave out strategies that want an operand partial in a way in which its producer never leaves
  // it: nothing else can make a partial value, so their price is infinite. (At the prices of
  // `compat` any partial will do.)
  bool reachable_only = false;
  // Offer all orders in which mesh dims can cut one tensor dim (shard_orders.h). Of `full` only.
  bool shard_orders = false;
  // Offer strided shards where views bring them about (strided_rules.h). Of `full` only.
  bool strided = false;
  Status check() const;
};

using StrategySetId = Id<struct StrategySetTag>;

struct StrategySet {
  uint32_t count = 0;
  // One list (of `count` layouts) per result and per operand of the node; invalid where the tensor
  // is absent.
  std::vector<LayoutListId> results, operands;
};

class Strategies {
 public:
  // The mesh and graph are only read during the call.
  static Result<Strategies> enumerate(const Graph& graph, const Mesh& mesh,
                                      const StrategyOptions& options, Monitor& monitor);

  const StrategySet& of(NodeId n) const { return sets_[set_of_[n]]; }
  StrategySetId set_of(NodeId n) const { return set_of_[n]; }
  size_t num_sets() const { return sets_.size(); }
  uint64_t total() const;  // summed over the nodes
  const LayoutPool& pool() const { return pool_; }
  const Layout& result_layout(NodeId n, size_t result, uint32_t strategy) const {
    return pool_.layout(pool_.list(of(n).results[result])[strategy]);
  }
  const Layout& operand_layout(NodeId n, size_t operand, uint32_t strategy) const {
    return pool_.layout(pool_.list(of(n).operands[operand])[strategy]);
  }
  // The list of layouts in which `n`'s operand leaves its producer: the producer's result, or for
  // get_item the element.
  LayoutListId produced(const Graph& graph, NodeId n, size_t operand) const;

 private:
  LayoutPool pool_;
  IndexVec<StrategySetId, StrategySet> sets_;
  IndexVec<NodeId, StrategySetId> set_of_;
};

// Types of a node's operands as its OpDef's functions see them: for get_item the element of the
// tuple.
std::vector<std::optional<TensorType>> operand_types(const Graph& graph, NodeId n);

// "(S(0)R, RS(1)) -> S(0)S(1)"
std::string strategy_text(const Strategies& strategies, NodeId n, uint32_t strategy, int mesh_rank);

}  // namespace shw
