// Thins out a wide problem before anything is copied.
//
// On a mesh of four dims a node has hundreds of labels and an edge some hundred thousand pairs:
// presolve and the sweeps of trws.h, which rearrange tables to be fast, would copy gigabytes. Here
// the same message passing (trws.h says what it is) runs on the problem's own tables, slower a
// cell but with nothing beside them but messages. That gives a bound, often the optimum itself, and
// a price for every label; the few labels that cost next to nothing make a small problem, whose
// optimum is then a labelling that lets nearly all other labels go.
#pragma once
#include <span>
#include <vector>

#include "solver/problem.h"
#include "solver/trws.h"
#include "solver/watch.h"

namespace shw::solver {

struct Survey {
  // How much dearer than `bound` a labelling with this label is, at least; at
  // problem.first_label(v) + label.
  std::vector<double> marginals;
  double bound = -kForbidden;    // no labelling is cheaper; kForbidden: there is none
  std::vector<uint32_t> choice;  // the best labelling found; empty: none
  uint32_t sweeps = 0;
};

// Cells of all different tables.
uint64_t table_cells(const PlacementProblem& problem);

// Sweeps until the bound stalls.
Result<Survey> survey(const PlacementProblem& problem, Watch& watch);

// The labels whose marginal is at most some limit, the largest that leaves no more than `max_cells`
// cells; always those of zero. Costs are the problem's own.
RestrictedProblem likely_part(const PlacementProblem& problem, std::span<const double> marginals,
                              uint64_t max_cells);

}  // namespace shw::solver
