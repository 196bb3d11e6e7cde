// The first half of the compiler as an object: a graph prepared for the solver, to be solved under
// different constraints.
//
// Loading, rewriting, enumerating and pricing do not depend on pins, limits or budgets. Questions
// such as "what would this cost instead", "what is second best" or "how does time trade for memory"
// share that work and pay only for their solves. Not thread-safe: prices are cached on demand.
#pragma once
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compiler/pipeline.h"
#include "cost/collective.h"
#include "graph/graph.h"
#include "placement/constraints.h"
#include "placement/memory.h"
#include "placement/pricing.h"
#include "placement/solve_placement.h"
#include "redistribution/move_prices.h"
#include "redistribution/redistributor.h"
#include "solver/problem.h"
#include "strategy/strategies.h"

namespace shw {

// Lower and upper bound on the minimum peak over all placements; equal if it is known exactly.
struct LowestPeak {
  double least_bytes = 0;                 // no placement has a lower peak
  double reached_bytes = 0;               // the peak of `choice`
  std::vector<uint32_t> choice;           // a placement
  NodeId at;                              // where its peak is
  double bound_us = -solver::kForbidden;  // no placement is cheaper
};

class Planner {
 public:
  // kOnce: only the options' own constraints are asked for; see solve_once().
  enum class Use : uint8_t { kAnyNumber, kOnce };
  // Also checks the options' constraints, which finish() uses by default.
  static Result<std::unique_ptr<Planner>> create(std::span<const uint8_t> graph_bytes,
                                                 const CompileOptions& options, Monitor& monitor,
                                                 Use use = Use::kAnyNumber);
  Planner(const Planner&) = delete;  // parts refer to each other
  Planner& operator=(const Planner&) = delete;

  const CompileOptions& options() const { return options_; }
  // Whether these options differ from the planner's only in constraints and time limit.
  bool serves(const CompileOptions& options) const;
  // The constraints of options that this planner serves.
  Result<PlacementConstraints> constraints_of(const CompileOptions& options) const;
  const Mesh& mesh() const { return collectives_.mesh(); }
  const Graph& graph() const { return graph_; }  // after the rewrites: its nodes are the decisions
  const Strategies& strategies() const { return strategies_; }
  // Whether strategies that the constraints exclude were left out.
  bool is_pruned() const { return pruned_; }
  const cost::CollectiveModel& collectives() const { return collectives_; }
  Pricer& pricer() { return pricer_; }
  const PlacementConstraints& constraints() const { return constraints_; }  // of its options
  const MemoryModel& memory() const { return memory_; }

  // The problem under these constraints instead of the options'; shares tables. A memory limit
  // becomes a budget for the bytes of single strategies, and for copies of at least
  // `copies.from_bytes`, as variables after those of the nodes: MemoryModel::add_budget().
  Result<solver::PlacementProblem> problem(const PlacementConstraints& constraints,
                                           Monitor& monitor, const CountedCopies& copies = {});
  Result<Placed> solve(const solver::PlacementProblem& problem, const solver::SolveOptions& options,
                       Monitor& monitor);
  // Builds and solves the problem, and chooses shard orders; under a memory limit, both the planned
  // peak and the lowered program fit. FAILED_PRECONDITION: no placement is legal or fits; if the
  // memory limit is the cause, the message states a sufficient one. DEADLINE_EXCEEDED: found
  // nothing that fits before the options' deadline. RESOURCE_EXHAUSTED: found nothing within the
  // work limit.
  Result<Placed> place(const PlacementConstraints& constraints, const solver::SolveOptions& options,
                       Monitor& monitor);
  // The same, but does not search for the cause of a failure.
  Result<Placed> try_place(const PlacementConstraints& constraints,
                           const solver::SolveOptions& options, Monitor& monitor);
  // Finds a minimal set of constraints that cannot hold together and returns it as
  // FAILED_PRECONDITION. OK: no conflict was found in the available time (ignoring the memory
  // limit).
  Status conflict(const PlacementConstraints& constraints, const Deadline& deadline,
                  Monitor& monitor);
  // The lowest peak under these constraints, ignoring their memory limit.
  Result<LowestPeak> lowest_peak(const PlacementConstraints& constraints,
                                 const solver::SolveOptions& options, Monitor& monitor);
  // Lowers and schedules a choice. Under a memory limit, copies live no longer than planned unless
  // memory permits.
  Result<Program> program_of(const Placed& placed, Monitor& monitor,
                             double* seconds_of_passes = nullptr) const;
  int64_t bytes_of(const Program& program) const;  // per rank, including optimizer state
  // Turns a choice, made under the constraints of `options`, into a plan: lowers, schedules and
  // writes it.
  Result<Compiled> finish(const CompileOptions& options, const Placed& placed,
                          Monitor& monitor) const;
  Result<Compiled> finish(const Placed& placed, Monitor& monitor) const {
    return finish(options_, placed, monitor);
  }
  // All steps in one call. INVALID_ARGUMENT: this planner does not serve the options.
  Result<Compiled> compile(const CompileOptions& options, Monitor& monitor);

 private:
  Planner(const CompileOptions& options, cost::CollectiveModel collectives);
  class MemoryLimitedSearch;
  Result<Placed> place_or_explain(const PlacementConstraints& constraints,
                                  const solver::SolveOptions& options, bool explain_failure,
                                  Monitor& monitor);
  Result<Placed> place_at_lowest_peak(const LowestPeak& lowest, double limit_bytes, double bound_us,
                                      const PlacementConstraints& constraints,
                                      const Status& otherwise, Monitor& monitor);
  // Raises `*bound_us`, unless null, to a lower bound on all placements within the limit.
  Result<Placed> solve_within_limit(double limit_bytes, const PlacementConstraints& constraints,
                                    const solver::SolveOptions& options, Monitor& monitor,
                                    double* bound_us = nullptr);
  Pricer make_pricer();
  void prepare(Pricer& pricer) const;
  Status prepare(std::span<const uint8_t> graph_bytes, Use use, Monitor& monitor);
  Status prune(Monitor& monitor);
  Status price_overlap(const std::vector<bool>& no_comm);
  // The costs, with communication forbidden for the operands of these nodes; computed on first use.
  Result<solver::PlacementProblem> priced(const std::vector<bool>& no_comm, Monitor& monitor);
  bool plans_orders() const;
  bool prices_routes() const;
  bool merges_equal_nodes() const;
  // Chooses the final shard orders and measures memory: planned, and under a limit also lowered.
  Status complete(Placed& placed, double limit_bytes, const PlacementConstraints& constraints,
                  Monitor& monitor) const;
  Status run_all_passes(Program& program, int64_t limit_bytes, Monitor& monitor,
                        double* seconds) const;
  // Whether what is computed again depends on the limit: then a program takes what it takes, and
  // not what was planned.
  bool recomputes_within(double limit_bytes) const {
    return limit_bytes > 0 && options_.recompute.kind == RecomputePolicy::Kind::kAuto;
  }
  Status decide_orders(Placed& placed, const PlacementConstraints& constraints,
                       Monitor& monitor) const;
  // What constraints_of() knows before there are strategies: all but saved placements.
  Result<PlacementConstraints> layout_constraints_of(const CompileOptions& options) const;

  const CompileOptions options_;
  const cost::CollectiveModel collectives_;
  const MovePrices moves_;
  mutable Redistributor redistributor_;  // of prices and of programs: it remembers routes
  std::vector<uint8_t> source_;          // the graph as loaded, if the plan stores it
  uint64_t source_fingerprint_ = 0;
  Graph graph_;
  Strategies strategies_;
  PlacementConstraints constraints_;
  Pricer pricer_;
  MemoryModel memory_;
  solver::PlacementProblem priced_;  // costs only,
  std::vector<bool> no_comm_;        // and the nodes whose operands may not communicate in it
  solver::PlacementProblem other_;   // the same for one other set of such nodes
  std::optional<std::vector<bool>> other_no_comm_;
  std::vector<PhaseTime> phases_;  // of create()
  bool pruned_ = false;
};

// A planner for one placement, and that placement. Constraints prune strategies before anything is
// priced where all pairs of layouts would take much memory.
struct Solved {
  std::unique_ptr<Planner> planner;
  Placed placed;
};
Result<Solved> solve_once(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                          Monitor& monitor);

}  // namespace shw
