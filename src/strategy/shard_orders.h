// Strategies for every shard order: the order in which several mesh dims cut one tensor dim.
//
// The order determines what can be gathered by a single collective: a parameter that the inner mesh
// dim cuts first, S(0)S(0)|1,0, becomes RS(0) by one all-gather. The reference planner plans with
// the default order only and hard-codes that case in lowering.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "strategy/compose.h"

namespace shw {

class ShardOrders {
 public:
  // The arguments must outlive it.
  ShardOrders(const Graph& graph, const Mesh& mesh, std::span<const NodeId> ordered);

  // Whether the node's strategies are offered in all orders. Inputs and outputs other than
  // parameters keep the default order, which callers expect. On up to three mesh dims all other
  // nodes are offered in all orders. On more, only parameters, gradients and values derived from
  // them alone are; elsewhere this would double the strategies to almost no benefit. `ordered`
  // nodes, for which the user states an order, are always offered in all orders.
  bool offered(NodeId n) const { return offered_[n.v]; }

  // Adds each strategy once for every order in which its mesh dims can cut, with the same order for
  // operands and results. Even shards only: with uneven ones, another order puts the padding
  // elsewhere.
  void add(std::span<const OptionalType> results, std::span<const OptionalType> operands,
           StrategyTable& table) const;

 private:
  using Order = std::array<uint8_t, kMaxMeshRank>;
  bool cut_twice(const StrategyTable& table,
                 size_t row) const;  // two mesh dims cut one tensor dim

  const Mesh& mesh_;
  std::vector<Order> orders_;  // of the mesh dims larger than one; the default order is first
  std::vector<bool> offered_;  // by node
};

}  // namespace shw
