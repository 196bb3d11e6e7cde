// Solves a problem with budgets among few of its labels, by a rough branch and bound: the best
// combination of labellings that were found, and of labels that a relaxation finds likely.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solver/budget_rows.h"
#include "solver/problem.h"
#include "solver/watch.h"

namespace shw::solver {

struct Recombined {
  std::vector<uint32_t> choice;
  bool closed = false;  // nothing among these labels is cheaper
};

// `allowed`: a flag per label. `choice`: a labelling within the budgets; its labels are allowed
// too. May be cut short by a Watch::WorkLimit.
Result<Recombined> recombine(const PlacementProblem& problem, const BudgetRows& rows,
                             std::span<const uint8_t> allowed, std::span<const uint32_t> choice,
                             Watch& watch);

}  // namespace shw::solver
