// The compiler's first half, kept: a graph made ready for the solver, to be solved under one set of
// constraints after another.
//
// Loading, rewriting, enumerating and pricing do not depend on what is pinned, forbidden or scarce,
// so questions – what would it cost if, what is second best, how does time trade for memory – share
// them and pay for a solve each. Not thread-safe: prices are remembered as they are asked for.
#pragma once
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compiler/pipeline.h"
#include "cost/collective.h"
#include "graph/graph.h"
#include "lowering/prices.h"
#include "lowering/redistribute.h"
#include "placement/constraints.h"
#include "placement/memory.h"
#include "placement/place.h"
#include "placement/pricing.h"
#include "solver/problem.h"
#include "strategy/strategies.h"

namespace shw {

// Lower and upper bound of the lowest peak that any placement has; equal where it is known exactly.
struct LowestPeak {
  double least_bytes = 0;                 // no placement has a lower peak
  double reached_bytes = 0;               // the peak of `choice`
  std::vector<uint32_t> choice;           // a placement
  NodeId at;                              // where its peak is
  double bound_us = -solver::kForbidden;  // no placement is cheaper
};

class Planner {
 public:
  // The options' constraints are checked too: finish() plans under them, if nothing else is said.
  static Result<std::unique_ptr<Planner>> create(std::span<const uint8_t> graph_bytes,
                                                 const CompileOptions& options, Monitor& monitor);
  Planner(const Planner&) = delete;  // parts refer to each other
  Planner& operator=(const Planner&) = delete;

  const CompileOptions& options() const { return options_; }
  // Whether these options ask for the same problem under other constraints or another time limit.
  bool serves(const CompileOptions& options) const;
  // Their constraints, for a planner that serves them.
  Result<PlacementConstraints> constraints_of(const CompileOptions& options) const;
  const Mesh& mesh() const { return collectives_.mesh(); }
  const Graph& graph() const { return graph_; }  // after the rewrites: its nodes are the decisions
  const Strategies& strategies() const { return strategies_; }
  const cost::CollectiveModel& collectives() const { return collectives_; }
  Pricer& pricer() { return pricer_; }
  const PlacementConstraints& constraints() const { return constraints_; }  // of the options
  const MemoryModel& memory() const { return memory_; }

  // The problem under these constraints, which take the place of the options'. Tables are shared.
  // Of a memory limit it has what single strategies take, and, as variables behind those of the
  // nodes, the copies that may take so many bytes: MemoryModel::add_budget().
  Result<solver::PlacementProblem> problem(const PlacementConstraints& constraints,
                                           Monitor& monitor, const CountedCopies& copies = {});
  Result<Placed> solve(const solver::PlacementProblem& problem, const solver::SolveOptions& options,
                       Monitor& monitor);
  // Both, with shard orders and what the answer holds: planned and lowered it is within the limit.
  // FAILED_PRECONDITION: nothing is allowed, or fits; if it is the memory limit, the message says
  // which would do. DEADLINE_EXCEEDED: nothing that fits was found before the options' deadline.
  // RESOURCE_EXHAUSTED: nothing was found in the work that the search may take.
  Result<Placed> place(const PlacementConstraints& constraints, const solver::SolveOptions& options,
                       Monitor& monitor);
  // The same, without looking for what to say when there is none.
  Result<Placed> place_if_any(const PlacementConstraints& constraints,
                              const solver::SolveOptions& options, Monitor& monitor);
  // Which of these constraints cannot hold together, as FAILED_PRECONDITION: no fewer of them are
  // in conflict. OK: all of them can, as far as was found out in time (the memory limit aside).
  Status conflict(const PlacementConstraints& constraints, const Deadline& deadline,
                  Monitor& monitor);
  // The lowest peak under these constraints, whose own limit does not count.
  Result<LowestPeak> lowest_peak(const PlacementConstraints& constraints,
                                 const solver::SolveOptions& options, Monitor& monitor);
  // A choice lowered and scheduled; under a memory limit, with copies held no longer than planned
  // wherever there is no room.
  Result<Program> program_of(const Placed& placed, Monitor& monitor,
                             double* seconds_of_passes = nullptr) const;
  int64_t bytes_of(const Program& program) const;  // of a rank, optimizer state among them
  // From a choice, made under the constraints of `options`, to the plan: lowered, scheduled,
  // written.
  Result<Compiled> finish(const CompileOptions& options, const Placed& placed,
                          Monitor& monitor) const;
  Result<Compiled> finish(const Placed& placed, Monitor& monitor) const {
    return finish(options_, placed, monitor);
  }
  // All three. INVALID_ARGUMENT if it does not serve the options.
  Result<Compiled> compile(const CompileOptions& options, Monitor& monitor);

 private:
  Planner(const CompileOptions& options, cost::CollectiveModel collectives);
  class WithinLimit;
  Result<Placed> place(const PlacementConstraints& constraints, const solver::SolveOptions& options,
                       bool says_why, Monitor& monitor);
  Result<Placed> within(const LowestPeak& lowest, double limit_bytes, double bound_us,
                        const Status& otherwise, Monitor& monitor);
  // `bound_us`, if it is not null, is raised to what is known of all placements within the limit.
  Result<Placed> place_within(double limit_bytes, const PlacementConstraints& constraints,
                              const solver::SolveOptions& options, Monitor& monitor,
                              double* bound_us = nullptr);
  Pricer make_pricer();
  Status prepare(std::span<const uint8_t> graph_bytes, Monitor& monitor);
  Status price_overlap(const std::vector<bool>& no_comm);
  // Costs, and that these nodes' operands may not communicate; priced when first asked for.
  Result<solver::PlacementProblem> priced(const std::vector<bool>& no_comm, Monitor& monitor);
  bool plans_orders() const;
  RoutePrices route_prices();
  // Decides shard orders, once; what it holds, planned and, under a limit, lowered.
  Status complete(Placed& placed, double limit_bytes, Monitor& monitor) const;
  Status decide_orders(Placed& placed, Monitor& monitor) const;

  const CompileOptions options_;
  const cost::CollectiveModel collectives_;
  const MovePrices moves_;
  Redistributor redistributor_;
  std::vector<uint8_t> source_;  // what was loaded, if the plan is to keep it
  uint64_t source_fingerprint_ = 0;
  Graph graph_;
  Strategies strategies_;
  PlacementConstraints constraints_;
  Pricer pricer_;
  MemoryModel memory_;
  solver::PlacementProblem priced_;  // costs, and
  std::vector<bool> no_comm_;        // whose operands may not communicate there
  solver::PlacementProblem other_;   // the same for one other such set
  std::optional<std::vector<bool>> other_no_comm_;
  std::vector<PhaseTime> phases_;  // of create()
};

}  // namespace shw
