// Where a cut goes: if some inputs are cut along one of their dims, the dim along which each other
// value is cut, or whether it is replicated or partial.
//
// The question is answered operation by operation, in graph order, on a mesh of one dim. Each node
// takes the strategy that moves the fewest bytes, given how its operands arrive, as a framework
// that runs operations one by one does. With the batch cut, this marks the batch dim of every
// activation, through views, attention and the backward pass; nothing is told about single
// operations here.
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

  // Inputs that `starts` does not name are replicated, except that a tangent arrives as its output
  // is made. Other nodes in `starts` have result 0 as stated.
  void run(const Starts& starts);

  // By result of a node; of a tuple's element by get_item.
  const Placement& result(NodeId n, size_t r = 0) const { return placed_[first_[n.v] + r]; }
  // As an operand arrives.
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

// The place of an operand among the results of its producer: 0 unless `n` takes a tuple's element.
size_t element_of_operand(const Graph& graph, NodeId n);

}  // namespace shw::recipes
