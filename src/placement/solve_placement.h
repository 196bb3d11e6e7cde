// Finds the cheapest legal choice of one strategy per node, with its proof.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "graph/graph.h"
#include "placement/constraints.h"
#include "placement/pricing.h"
#include "plan/program.h"
#include "solver/problem.h"
#include "strategy/assignment.h"
#include "strategy/shared_versions.h"
#include "strategy/strategies.h"
#include "support/monitor.h"

namespace shw {

struct NodeCost {
  double compute_us = 0, comm_us = 0, transition_us = 0;  // of the node and the edges into it
  double fills_us = 0;  // part of compute_us: separate steps that fill the padding of operands
  double us() const { return compute_us + comm_us + transition_us; }
  double own_us() const { return compute_us - fills_us; }  // only the step that computes
};

// The memory of a choice at its peak, and the price of the limit; zero if not requested.
struct MemoryUse {
  double limit_bytes = 0;    // 0: none
  double peak_bytes = 0;     // by MemoryModel
  double program_bytes = 0;  // of the lowered program; under a limit only
  uint32_t rounds = 0;       // problems solved until both were within the limit
  NodeId at;                 // the first node with the peak
  double price_per_gib = 0;  // µs by which the optimum would fall if the limit were one GiB higher
  uint32_t binding = 0;      // number of points at which the limit has a price

  // A lower bound: within the limit, no program of any placement has a shorter step, whatever it
  // computes again. Negative: not known.
  double step_bound_us = -1;
  // The limit applies to the program only, since the program needs less memory than was planned:
  // the plan also counts values that are computed again, or that only groups of fused steps see.
  bool is_program = false;

  double held_bytes() const {  // compared with the limit
    return is_program ? program_bytes : std::max(peak_bytes, program_bytes);
  }
};

struct Placed {
  std::vector<uint32_t> choice;  // strategy by node
  // The layouts of the choice, with final shard orders; null until the planner has chosen the
  // orders.
  std::shared_ptr<const Assignment> assignment;
  // The program, if the planner has already built it to check a memory limit; null: not built yet.
  std::shared_ptr<const Program> program;
  // The same before any pass, with copies that all their users share; null: not lowered yet.
  std::shared_ptr<const Program> lowered;
  double objective_us = 0, bound_us = 0;
  bool proven = false;
  // The versions that several uses share, in the layouts of the placement. Their variables follow
  // those of the nodes.
  std::shared_ptr<const SharedVersions> shared;
  std::vector<NodeCost> costs;  // by node
  NodeCost total;
  double seconds = 0;  // wall clock of the search for it, if measured
  solver::SolveStats stats;
  std::vector<solver::BudgetPrice> prices;  // of the problem's budgets
  MemoryUse memory;
  std::shared_ptr<const solver::WarmStart> warm;  // for the next solve, if requested
};

// The placement problem of a graph: one variable per node, one edge per operand. It has all costs
// but no constraints, except that nodes in `no_comm` may not communicate.
Result<solver::PlacementProblem> priced_problem(const Graph& graph,
                                                const std::vector<bool>& no_comm, Pricer& pricer,
                                                Monitor& monitor);
void add_labels(std::span<const AllowedLabels> labels, solver::PlacementProblem& problem);
// Adds allowed labels, allowed pairs and budgets.
void add_conditions(const SideConditions& conditions, solver::PlacementProblem& problem,
                    std::span<const uint8_t> active = {});

// Whether the problem has the prices of the graph or others. With others, the objective and bound
// are in the problem's prices, while Placed::costs and total are in the graph's.
enum class Prices : uint8_t { kOfGraph, kOther };
// `shared`: the versions that add_shared_versions() added to the problem; null: none.
Result<Placed> solve_placement(const Graph& graph, const Strategies& strategies,
                               const solver::PlacementProblem& problem, Pricer& pricer,
                               const solver::SolveOptions& options, Monitor& monitor,
                               Prices prices = Prices::kOfGraph,
                               const SharedVersions* shared = nullptr);

// The cost of a given choice: for explanations, and to check the solver's result.
Result<Placed> price_choice(const Graph& graph, const Strategies& strategies, Pricer& pricer,
                            std::vector<uint32_t> choice,
                            std::shared_ptr<const SharedVersions> shared = nullptr);

struct EdgeCost {
  Layout from, to;
  double comm_us = 0, transition_us = 0;
};

// The costs of changes of layout under a choice of strategies. `shared`: null, or the shared
// versions in the layouts of the choice.
struct Choice {
  const Graph& graph;
  const Strategies& strategies;
  Pricer& pricer;
  std::span<const uint32_t> labels;  // by node
  const SharedVersions* shared = nullptr;

  EdgeCost edge(NodeId consumer, uint32_t operand) const;
  EdgeCost version(const SharedVersions::Version& version) const;
  EdgeCost change(const SharedVersions::Source& source, const Pricer::Change& change,
                  const Layout& to) const;
  const Layout& layout_of(LayoutListId list, NodeId n) const;
};

Assignment assignment_of(const Graph& graph, const Strategies& strategies,
                         std::span<const uint32_t> choice);

}  // namespace shw
