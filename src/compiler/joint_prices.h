// Prices for placement and recomputation together, where a memory limit makes recomputation
// necessary (recompute auto). They give a lower bound on the step, and placements that suit a given
// choice of what is computed again.
//
// The bound is a Lagrangian relaxation of the memory limit. Each byte has a price, and each value
// that the backward pass reads is either kept, at that price, or computed again. The bound counts
// only what a rank computes, not what it sends. So it holds for every placement, every choice and
// every schedule. The price of memory is the one that maximises the bound.
//
// At this price, placement and choice are optimised in turn: recompute/ makes a choice for a
// placement, and placement() uses prices that reflect that choice. A strategy then pays once more
// for the time of what is computed again, and pays for the memory of what is kept.
#pragma once
#include "compiler/constrained_model.h"
#include "placement/kept_values.h"
#include "plan/program.h"

namespace shw {

class JointPrices {
 public:
  explicit JointPrices(const ConstrainedModel& question);

  // A lower bound: within the limit, no program of any placement has a shorter step, whatever it
  // computes again. It is not valid with measured kernels: a fused group of these takes less than
  // the prices of its steps. `choice`: a placement; the sizes of its values determine which prices
  // of memory are tried.
  struct Bound {
    double us = 0;
    double us_per_byte = 0;
  };
  Bound bound(double limit_bytes, std::span<const uint32_t> choice) const;

  // The cheapest placement at prices that reflect what `program` computes again. Its objective is
  // in the graph's own prices, and it has no bound.
  Result<Placed> placement(const Program& program, double us_per_byte,
                           const solver::SolveOptions& options, Monitor& monitor) const;

 private:
  double bound_at(double us_per_byte, double limit_bytes) const;

  const ConstrainedModel& question_;
  const PreparedModel& model_;
  const KeptValues kept_;
};

}  // namespace shw
