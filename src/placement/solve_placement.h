// Placement: the cheapest legal choice of one strategy per node, with its proof.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "graph/graph.h"
#include "placement/constraints.h"
#include "placement/pricing.h"
#include "solver/problem.h"
#include "strategy/assignment.h"
#include "strategy/strategies.h"
#include "support/monitor.h"

namespace shw {

struct NodeCost {
  double compute_us = 0, comm_us = 0, transition_us = 0;  // of the node and the edges into it
};

// What the choice holds at its highest point, and what the limit costs; zeros where it was not
// asked.
struct MemoryUse {
  double limit_bytes = 0;    // 0: none
  double peak_bytes = 0;     // by MemoryModel
  double program_bytes = 0;  // of the choice lowered; under a limit only
  uint32_t rounds = 0;       // problems that were solved until both were within the limit
  NodeId at;                 // the first point of the peak
  double price_per_gib = 0;  // µs that the optimum would be cheaper, were the limit one GiB higher
  uint32_t binding = 0;      // points of which the limit has a price

  double held_bytes() const { return std::max(peak_bytes, program_bytes); }  // to be in the limit
};

struct Placed {
  std::vector<uint32_t> choice;  // strategy by node
  // Its layouts, with the shard orders that are lowered; null until the planner has decided those.
  std::shared_ptr<const Assignment> assignment;
  double objective_us = 0, bound_us = 0;
  bool proven = false;
  std::vector<NodeCost> costs;  // by node
  NodeCost total;
  double seconds = 0;  // wall clock of the solve, where it was measured
  solver::SolveStats stats;
  std::vector<solver::BudgetPrice> prices;  // of the problem's budgets
  MemoryUse memory;
  std::shared_ptr<const solver::WarmStart> warm;  // for the next solve, if it was asked for
};

// The problem of a graph: one variable a node, one edge an operand; what it costs, and nothing that
// is forbidden but the communication of the nodes in `no_comm`.
Result<solver::PlacementProblem> priced_problem(const Graph& graph,
                                                const std::vector<bool>& no_comm, Pricer& pricer,
                                                Monitor& monitor);
// Adds labels and pairs that are not allowed, and budgets.
void add_conditions(const SideConditions& conditions, solver::PlacementProblem& problem,
                    std::span<const uint8_t> active = {});

Result<Placed> place(const Graph& graph, const Strategies& strategies,
                     const solver::PlacementProblem& problem, Pricer& pricer,
                     const solver::SolveOptions& options, Monitor& monitor);

// What a given choice costs: for explanations, and to hold the solver's figure against.
Result<Placed> price_choice(const Graph& graph, const Strategies& strategies, Pricer& pricer,
                            std::vector<uint32_t> choice);

Assignment assignment_of(const Graph& graph, const Strategies& strategies,
                         std::span<const uint32_t> choice);

}  // namespace shw
