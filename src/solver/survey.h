// Eliminates labels of a wide problem before any table is copied.
//
// On a mesh of four dims a node has hundreds of labels and an edge some hundred thousand pairs.
// Presolve and the sweeps of trws.h rearrange tables for speed, which would copy gigabytes here. A
// survey runs the same message passing (see trws.h) on the original tables; it is slower per cell
// but stores nothing except messages. It yields a bound, often the optimum itself, and a
// min-marginal for every label. The few labels with small marginals form a small problem; its
// optimum is an incumbent that eliminates nearly all other labels.
//
// A few sweeps determine these labels. Sweeps over them alone take almost no time. Sweeps over all
// labels then continue from the resulting messages, and need fewer iterations. They skip labels
// that are in no labelling cheaper than the incumbent, and end when it leaves few. Sweeps that only
// bring messages near to their limit read tables rounded to 16 bits (rounded_table.h): memory
// limits their speed.
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
  bool leaves_few = false;  // few labels may be in a cheaper labelling than that of LikelyLabels
};

// The number of cells in all distinct tables.
uint64_t table_cells(const PlacementProblem& problem);

// How a survey solves the problem restricted to likely labels, once. `cells`: the size of that part
// (likely_part()). `cost_below`: solves the part and returns a cost; labellings of the whole
// problem must cost less.
struct LikelyLabels {
  uint64_t cells = 0;
  FunctionRef<Result<double>(const RestrictedProblem& part)> cost_below;
};

// Sweeps until the bound stalls.
Result<Survey> survey(const PlacementProblem& problem, Watch& watch,
                      const LikelyLabels* likely = nullptr);

// The marginals of a sweep, indexed as Survey::marginals. Labels that were dropped have plus
// infinity, labels of folded variables minus infinity.
std::vector<double> marginals_by_label(const PlacementProblem& problem, const Trws& trws);
// The largest limit such that the labels whose marginal is at most the limit have at most
// `max_cells` cells.
double likely_limit(const PlacementProblem& problem, std::span<const double> marginals,
                    uint64_t max_cells);
// The problem restricted to the labels whose marginal is at most likely_limit(); labels with
// marginal zero are always included. Costs are the original ones.
RestrictedProblem likely_part(const PlacementProblem& problem, std::span<const double> marginals,
                              uint64_t max_cells);

}  // namespace shw::solver
