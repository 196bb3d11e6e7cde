// Limits the work of the solver in one round of a search within a memory limit.
#pragma once
#include <cstdint>

#include "solver/problem.h"

namespace shw {

// For each round until something fits: the relative gap, and the nodes of the branch and bound.
inline constexpr double kGapOfRounds = 2e-3;
inline constexpr uint64_t kBranchNodesOfRounds = 20;

struct Round {
  uint64_t graph_nodes = 0;
  bool is_rough = false;      // nothing fits yet, or the limit is not the real one
  bool is_of_series = false;  // one of several placements of a small graph
  // The first round of a problem with at least SolveOptions::huge_cells cells. It does not count
  // copies, and only finds out where the limit is exceeded.
  bool is_first_of_huge = false;
  bool counts_copies = false;
};

// The options for this round. They never permit more work than `options`.
solver::SolveOptions options_of(const Round& round, solver::SolveOptions options);

}  // namespace shw
