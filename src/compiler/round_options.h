// How much the solver may spend on one round of a search within a memory limit.
#pragma once
#include <cstdint>

#include "solver/problem.h"

namespace shw {

// Of each round until something fits: the gap, and nodes of the branch and bound.
inline constexpr double kGapOfRounds = 2e-3;
inline constexpr uint64_t kBranchNodesOfRounds = 20;

struct Round {
  uint64_t graph_nodes = 0;
  bool is_rough = false;      // nothing fits yet, or the limit is not the real one
  bool is_of_series = false;  // one of several placements of a small graph
  // Without copies, of a problem of SolveOptions::huge_cells; only tells where the limit is
  // exceeded.
  bool is_first_of_huge = false;
  bool counts_copies = false;
};

// Never more than `options` permit.
solver::SolveOptions options_of(const Round& round, solver::SolveOptions options);

}  // namespace shw
