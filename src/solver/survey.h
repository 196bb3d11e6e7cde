// Eliminates labels of a wide problem before any table is copied.
//
// On a mesh of four dims a node has hundreds of labels and an edge some hundred thousand pairs.
// Presolve and the sweeps of trws.h rearrange tables for speed, which would copy gigabytes here. A
// survey runs the same message passing (see trws.h) on the original tables; it is slower per cell
// but stores nothing except messages. It yields a bound, often the optimum itself, and a
// min-marginal for every label. The few labels with small marginals form a small problem; its
// optimum is an incumbent that eliminates nearly all other labels.
//
// A few sweeps tell which labels these are. Sweeps over them alone take next to no time, and where
// their messages come to, sweeps over all labels go on: they have less far to go. They end where
// the incumbent leaves few labels.
#pragma once
#include <span>
#include <vector>

#include "solver/problem.h"
#include "solver/trws.h"
#include "solver/watch.h"
#include "support/function_ref.h"

namespace shw::solver {

struct Survey {
  // A lower bound on the extra cost, above `bound`, of any labelling with this label; at
  // problem.first_label(v) + label.
  std::vector<double> marginals;
  double bound = -kForbidden;    // no labelling costs less; kForbidden: none exists
  std::vector<uint32_t> choice;  // the best labelling found; empty: none
  uint32_t sweeps = 0;
  bool leaves_few = false;  // labels that could cost less than the incumbent of LikelyLabels
};

// The number of cells in all distinct tables.
uint64_t table_cells(const PlacementProblem& problem);

// The part of a problem that likely_part() makes of so many cells, which a survey asks for once.
// `cost_below`: what a labelling of the whole must cost less than, once the part is solved.
struct LikelyLabels {
  uint64_t cells = 0;
  FunctionRef<Result<double>(const RestrictedProblem& part)> cost_below;
};

// Sweeps until the bound stalls.
Result<Survey> survey(const PlacementProblem& problem, Watch& watch,
                      const LikelyLabels* likely = nullptr);

// The marginals of a sweep, by label as a survey's; of labels that were dropped: infinite; of
// variables that are folded: minus infinity.
std::vector<double> marginals_by_label(const PlacementProblem& problem, const Trws& trws);
// The largest limit that leaves no more than `max_cells` cells to the labels whose marginal is at
// most that.
double likely_limit(const PlacementProblem& problem, std::span<const double> marginals,
                    uint64_t max_cells);
// The labels whose marginal is at most the largest limit that leaves no more than `max_cells`
// cells; those with marginal zero in any case. Costs are the original ones.
RestrictedProblem likely_part(const PlacementProblem& problem, std::span<const double> marginals,
                              uint64_t max_cells);

}  // namespace shw::solver
