// Propagates a cut: if some inputs are cut along one of their dims, finds the dim along which each
// other value is cut, or whether it is replicated or partial.
//
// Propagation goes node by node, in graph order, on a mesh of one dim. Each node takes the strategy
// that moves the fewest bytes, given the placements of its operands, as a framework that runs
// operations one by one does. With the batch cut, this marks the batch dim of every activation,
// through views, attention and the backward pass. No rules for single operations are needed here.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "strategy/strategies.h"

namespace shw::recipes {

class ShardFlow {
 public:
  using Starts = std::map<NodeId, Placement>;

  // The graph must outlive it.
  static Result<ShardFlow> create(const Graph& graph, int64_t num_ranks, Monitor& monitor);

  // Inputs that are not in `starts` are replicated, except that a tangent has the placement of its
  // output. For other nodes, `starts` gives the placement of result 0.
  void run(const Starts& starts);

  // The placement of a node's result r. An element of a tuple is the result of its get_item.
  const Placement& result(NodeId n, size_t r = 0) const { return placed_[first_[n.v] + r]; }
  // The placement of operand k before any change of layout.
  const Placement& operand(NodeId n, size_t k) const;

 private:
  ShardFlow(const Graph& graph, std::shared_ptr<const Strategies> strategies);
  void pass(const Starts& starts);
  void choose(NodeId n);
  bool arrives_replicated(NodeId n) const;
  double moved_bytes(NodeId n, uint32_t strategy) const;
  std::optional<Placement> start_of(NodeId n, const Starts& starts) const;

  const Graph* graph_;
  std::shared_ptr<const Strategies> strategies_;  // shared by copies
  std::vector<uint32_t> first_;                   // by node, into placed_
  std::vector<Placement> placed_;
};

// The index of `n`'s operand among the results of its producer: 0 unless `n` takes an element of a
// tuple.
size_t element_of_operand(const Graph& graph, NodeId n);

}  // namespace shw::recipes
