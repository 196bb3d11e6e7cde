// Which mesh dim cuts first where several cut one tensor dim: strategies for every order.
//
// The order decides what can be gathered alone and what is one collective: a parameter that the
// inner mesh dim cuts first, S(0)S(0)|1,0, becomes RS(0) by one all-gather. The reference plans in
// the default order only and hard-codes that case in lowering (planner.md 5.3).
#pragma once
#include <array>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "strategy/compose.h"

namespace shw {

class ShardOrders {
 public:
  // What is lent must outlive it.
  ShardOrders(const Graph& graph, const Mesh& mesh);

  // Whether the node's strategies are to be offered in all orders. Inputs and outputs that are no
  // parameters keep the default one, which callers expect. On up to three mesh dims every other
  // node is free; on more, parameters and gradients are, with what is made of them alone: for
  // everything else there would be twice the strategies, of use to next to none.
  bool offered(NodeId n) const { return offered_[n.v]; }

  // Adds each strategy once for every order in which its mesh dims can cut. One order serves
  // operands and results alike. Even shards only: blocks of uneven blocks end with padding
  // elsewhere in another order.
  void add(std::span<const OptionalType> results, std::span<const OptionalType> operands,
           StrategyTable& table) const;

 private:
  using Order = std::array<uint8_t, kMaxMeshRank>;
  bool cut_twice(const StrategyTable& table,
                 size_t row) const;  // some tensor dim, by two mesh dims

  const Mesh& mesh_;
  std::vector<Order> orders_;  // of the mesh dims larger than one; the default one is first
  std::vector<bool> offered_;  // by node
};

}  // namespace shw
