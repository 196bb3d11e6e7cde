// Branching on how often a set of labels occurs among equal variables.
//
// A deep model has many equal layers. Which of them use more of a budget hardly matters, but how
// many do is a whole number, while prices can only balance a fraction. Splitting one variable tells
// nothing there, since another layer takes its place. So equal variables are counted: at most k of
// them may take one of the labels in one half, at least k + 1 must in the other. Both are rows.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "solver/budget_rows.h"
#include "solver/presolve.h"
#include "solver/problem.h"
#include "solver/relaxation.h"
#include "solver/trws.h"

namespace shw::solver {

// Numbers the classes of equal variables: those with the same costs and the same tables on their
// edges. By variable; kUncounted: there are too few like it.
inline constexpr uint32_t kUncounted = UINT32_MAX;
std::vector<uint32_t> equal_variables(const PlacementProblem& problem);

// What the variables and labels of a part are in the root problem.
struct RootLabels {
  std::vector<uint32_t> variable;
  std::vector<uint32_t> label;  // concatenated by variable
};
RootLabels root_labels(const PlacementProblem& part, const Postsolve& undo);
// The same for a part of a part.
RootLabels root_labels(const RootLabels& parent, const PlacementProblem& parent_problem,
                       const RestrictedProblem& source, const PlacementProblem& part,
                       const Postsolve& undo);

// What earlier branchings say of one class in a part: how many of its variables have labels in a
// set.
struct Count {
  uint32_t class_number;
  std::vector<uint8_t> in_set;  // by label of the root
  uint32_t members;             // of the class in the part
  uint32_t least, most;
};
// The counts of a part of `parent`: without variables that have one label left there. A class of
// which other variables are gone is not counted any more.
std::vector<Count> counts_within(std::span<const Count> counts, std::span<const uint32_t> classes,
                                 const RootLabels& parent, const PlacementProblem& parent_problem,
                                 const RestrictedProblem& source, const RootLabels& part,
                                 const Postsolve& undo);

// The count that prices balance most, with a threshold: one half has at most that many, the other
// at least one more. None: no class is balanced. `classes`: of the root. `incumbent`: of the root.
struct CountSplit {
  Count count;
  uint32_t at_most;
};
std::optional<CountSplit> split_count(const PlacementProblem& problem, const RootLabels& root,
                                      std::span<const uint32_t> classes,
                                      const Relaxation& relaxation, std::span<const Count> counts,
                                      std::span<const uint32_t> incumbent);

// The rows and one more for half of a split. `origin`: its index among the prices.
BudgetRows with_count(const BudgetRows& rows, const PlacementProblem& problem,
                      const RootLabels& root, std::span<const uint32_t> classes,
                      const CountSplit& split, bool lower_half, uint32_t origin);

}  // namespace shw::solver
