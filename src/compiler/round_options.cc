#include "compiler/round_options.h"

#include <algorithm>

namespace shw {
namespace {

// The gap of the first round of a huge problem, without copies. Chosen on LLaMA-3 405B within 45
// GB, checked on 42, 48 and 52 GB. For smaller problems this gap saves nothing: 8B within 23.5 GB
// would take 28 CPU s instead of 2.
constexpr double kFirstGap = 1e-2;
constexpr uint64_t kBranchNodesWithCopies = 100;
// For a placement that is one of a series, a rough answer is enough. On three small mesh dims, all
// labels make 15 million cells, and a branch and bound sweeps them thousands of times.
constexpr uint64_t kLikelyCells = 1 << 20;
// Without copies, the branch nodes times the nodes of the graph are at most this many.
constexpr uint64_t kBranchWork = 1'000'000;
// Limits per node of the graph; graphs with fewer than kLeastNodes nodes count as that many. The
// cells of a rough and a fine round; and the cells after which the answer is improved beside the
// bound. They keep planning short for a small graph whose tables are large because the mesh has
// three dims: branching hardly raises bounds there. Deep models on two dims need a fraction of the
// limits. Chosen on GPT-2 of the examples on 2×2×2.
constexpr uint64_t kRoughCells = 2'500'000, kFineCells = 10'000'000;
constexpr uint64_t kImproveFrom = 2'000'000, kLeastNodes = 400;
// A graph of more than kSeriesNodes counts as kNodesOfSeries for each placement of the series. On
// GPT-2, 2×4, a placement then takes 0.1 s instead of 1.3 to 4, and the fastest of the series is 3
// % faster.
constexpr uint64_t kNodesOfSeries = 200, kSeriesNodes = 1000;

uint64_t branch_nodes(const Round& round) {
  if (round.is_rough) return kBranchNodesOfRounds;
  if (round.counts_copies) return kBranchNodesWithCopies;
  return std::max(kBranchNodesWithCopies, kBranchWork / round.graph_nodes);
}

}  // namespace

solver::SolveOptions options_of(const Round& round, solver::SolveOptions options) {
  if (round.is_rough)
    options.relative_gap =
        std::max(options.relative_gap, round.is_first_of_huge ? kFirstGap : kGapOfRounds);
  if (round.is_of_series) options.likely_cells = kLikelyCells;
  const uint64_t nodes = round.is_of_series && round.graph_nodes > kSeriesNodes
                             ? kNodesOfSeries
                             : std::max(round.graph_nodes, kLeastNodes);
  options.max_cells =
      std::min(options.max_cells, nodes * (round.is_rough ? kRoughCells : kFineCells));
  options.improve_from = std::min(options.improve_from, nodes * kImproveFrom);
  options.max_branch_nodes = std::min(options.max_branch_nodes, branch_nodes(round));
  return options;
}

}  // namespace shw
