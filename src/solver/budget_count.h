// Branches on how many of a class of equal variables take labels of a given set.
//
// A deep model has many equal layers. It hardly matters which of them use more of a budget, but how
// many do. That number is an integer, while prices can only balance a fraction. Splitting the
// labels of one variable does not raise the bound, since another layer takes its place. So this
// rule splits the number: in one half at most k of the variables may take a label of the set, in
// the other at least k + 1 must. Each half adds a row.
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
// edges. The result is by variable; kUncounted: its class is too small.
inline constexpr uint32_t kUncounted = UINT32_MAX;
std::vector<uint32_t> equal_variables(const PlacementProblem& problem);

// Maps the variables and labels of a part to those of the root problem.
struct RootLabels {
  std::vector<uint32_t> variable;
  std::vector<uint32_t> label;  // concatenated by variable
};
RootLabels root_labels(const PlacementProblem& part, const Postsolve& undo);
// The same for a part of a part.
RootLabels root_labels(const RootLabels& parent, const PlacementProblem& parent_problem,
                       const RestrictedProblem& source, const PlacementProblem& part,
                       const Postsolve& undo);

// What earlier branchings require of one class in a part: the number of its variables that take
// labels in a set.
struct Count {
  uint32_t class_number;
  std::vector<uint8_t> in_set;  // by label of the root
  uint32_t members;             // variables of the class in the part
  uint32_t least, most;
};
// The counts of `parent` as they hold in `part`. Variables that have one label left in the part are
// removed from the count. A class that lost variables in another way is no longer counted.
std::vector<Count> counts_within(std::span<const Count> counts, std::span<const uint32_t> classes,
                                 const RootLabels& parent, const PlacementProblem& parent_problem,
                                 const RestrictedProblem& source, const RootLabels& part,
                                 const Postsolve& undo);

// The class whose count is the most balanced by prices, with a threshold for the split: one half
// has at most `at_most` variables with labels in the set, the other at least one more. nullopt: no
// class is balanced. `classes` and `incumbent` are of the root.
struct CountSplit {
  Count count;
  uint32_t at_most;
};
std::optional<CountSplit> split_count(const PlacementProblem& problem, const RootLabels& root,
                                      std::span<const uint32_t> classes,
                                      const Relaxation& relaxation, std::span<const Count> counts,
                                      std::span<const uint32_t> incumbent);

// Adds a row for one half of a split. `origin`: the index of its price.
BudgetRows with_count(const BudgetRows& rows, const PlacementProblem& problem,
                      const RootLabels& root, std::span<const uint32_t> classes,
                      const CountSplit& split, bool lower_half, uint32_t origin);

}  // namespace shw::solver
