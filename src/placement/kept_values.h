// What a training step holds between its passes, as costs of the placement problem: memory at a
// price, or time.
//
// A value of the forward pass that the backward pass reads is kept, or computed again. Let a byte
// cost λ µs. Then a value costs λ times its bytes, or at least what its own node takes to run once
// more, whichever is less. Of its bytes a rank holds no fewer than its share of them, in whatever
// layout the value is kept. So with these costs added, the optimum minus λ times the memory limit
// is a lower bound on the cost of all placements together with all choices of what is computed
// again (Lagrangian relaxation). Inputs, optimizer state and results are held in any case.
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
  // Of a node, by strategy.
  using ComputeUs = std::function<std::span<const double>(NodeId)>;

  // Of a graph with several entries, or without a backward pass, there are none. All must outlive
  // it.
  KeptValues(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
             const MemoryModel& memory, ComputeUs compute_us);

  bool empty() const { return values_.empty(); }
  // Prices in µs for a byte, rising: at each of them the placement would keep about a 32nd less.
  std::vector<double> prices(std::span<const uint32_t> choice) const;

  // Takes what is to be added to the costs of a node, by strategy.
  using AddCosts = std::function<void(NodeId, std::span<const double>)>;
  // Adds the costs of the bound.
  void add_least_costs(double us_per_byte, const AddCosts& add) const;
  // Adds those of a choice: `again` says by node whether its results are computed again. What is
  // not is kept in the layout that its node makes.
  void add_kept_costs(double us_per_byte, std::span<const uint8_t> again,
                      const AddCosts& add) const;

 private:
  struct Value {  // the results of one node: repeated, they are computed together
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
