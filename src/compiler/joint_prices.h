// Placement and repetition together, where a memory limit asks for repetition (recompute auto): a
// lower bound on the step, and the placements that the choice of what is repeated asks for.
//
// The bound is Lagrangian: a byte has a price, and what lies between the passes is kept, or
// computed again. It counts what a rank computes, and nothing of what is sent, so it holds for
// every placement, every choice and every schedule. The price of memory is that at which the bound
// is the highest. At this price, a placement and a choice depend on each other in turn: recompute/
// chooses for a placement, and the prices here see that choice. What it repeats costs its time once
// more, and what it keeps costs memory, by strategy.
#pragma once
#include "compiler/constrained_model.h"
#include "placement/kept_values.h"
#include "plan/program.h"

namespace shw {

class JointPrices {
 public:
  explicit JointPrices(const ConstrainedModel& question);

  // No program of any placement, whatever it computes again, has a shorter step within the limit.
  // Kernels that were measured in groups take less than their prices: then it is no bound.
  // `choice`: a placement, whose values say which prices of memory are tried.
  struct Bound {
    double us = 0;
    double us_per_byte = 0;
  };
  Bound bound(double limit_bytes, std::span<const uint32_t> choice) const;

  // The cheapest placement at the prices that see what `program` repeats. Its objective is that of
  // the graph's prices, and it has no bound.
  Result<Placed> placement(const Program& program, double us_per_byte,
                           const solver::SolveOptions& options, Monitor& monitor) const;

 private:
  double bound_at(double us_per_byte, double limit_bytes) const;

  const ConstrainedModel& question_;
  const PreparedModel& model_;
  const KeptValues kept_;
};

}  // namespace shw
