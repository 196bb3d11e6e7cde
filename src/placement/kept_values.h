// Adds costs to the placement problem for what a training step holds between its passes: the memory
// of a value at a price per byte, or the time to compute the value again.
//
// A value of the forward pass that the backward pass reads is either kept or computed again. Let a
// byte cost λ µs. Then keeping a value costs λ times its bytes, and computing it again costs at
// least the time of its own node. The value is charged the smaller of the two. In any layout, a
// rank holds at least its share of the value's bytes. So with these costs added, the optimum minus
// λ times the memory limit is a lower bound on the cost of every placement with every choice of
// what is computed again (Lagrangian relaxation). Inputs, optimizer state and results are always
// held.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "placement/memory.h"
#include "strategy/strategies.h"

namespace shw {

class KeptValues {
 public:
  // The compute time of a node, by strategy.
  using ComputeUs = std::function<std::span<const double>(NodeId)>;

  // A graph with several entries, or without a backward pass, has no kept values. All arguments
  // must outlive the object.
  KeptValues(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
             const MemoryModel& memory, ComputeUs compute_us);

  bool empty() const { return values_.empty(); }
  // Prices to try, in µs per byte, ascending. From each price to the next, the placement keeps
  // about 1/32 less.
  std::vector<double> prices(std::span<const uint32_t> choice) const;

  // Receives the costs to add to a node, by strategy.
  using AddCosts = std::function<void(NodeId, std::span<const double>)>;
  // Adds the costs of the bound.
  void add_least_costs(double us_per_byte, const AddCosts& add) const;
  // Adds the costs of a choice. `again`, by node: whether its results are computed again. Other
  // results are kept in the layout in which their node makes them.
  void add_kept_costs(double us_per_byte, std::span<const uint8_t> again,
                      const AddCosts& add) const;

 private:
  struct Value {  // all results of one node, since they are computed together
    NodeId node;
    double least_bytes = 0;
    std::vector<double> own_bytes;  // by strategy
  };
  void find_values(const Graph& graph, const Mesh& mesh);
  void add_held_costs(double us_per_byte, const AddCosts& add) const;

  const Strategies& strategies_;
  const MemoryModel& memory_;
  const ComputeUs compute_us_;
  std::vector<Value> values_;
};

}  // namespace shw
