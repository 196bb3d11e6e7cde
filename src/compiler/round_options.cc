#include "compiler/round_options.h"

#include <algorithm>

namespace shw {
namespace {

// Of a huge problem without copies. Chosen on LLaMA-3 405B within 45 GB,
// checked on 42, 48 and 52 GB. Of smaller problems it saves nothing, and 8B within 23.5 GB then
// takes 28 CPU s in place of 2.
constexpr double kFirstGap = 1e-2;
constexpr uint64_t kBranchNodesWithCopies = 100;
// Of a placement that is one of several to be tried, a rough answer is enough: on three small dims
// all labels make 15 million cells, which a branch and bound sweeps thousands of times.
constexpr uint64_t kLikelyCells = 1 << 20;
// Without copies, as many nodes as make this many when multiplied by those of the graph.
constexpr uint64_t kBranchWork = 1'000'000;
// For each node of the graph, or for so many, the work of a round, and from when on its answer is
// improved beside the bound. A small graph is planned soon, even if three dims make its tables
// large: branching hardly raises bounds there. Deep models on two dims take a fraction of it.
// Chosen on GPT-2 of the examples on 2×2×2.
constexpr uint64_t kRoughCells = 2'500'000, kFineCells = 10'000'000;
constexpr uint64_t kImproveFrom = 2'000'000, kLeastNodes = 400;
// A graph of more than kSeriesNodes counts as kNodesOfSeries for each placement of the series. On
// GPT-2, 2×4, one takes 0.1 s in place of 1.3 to 4, and the fastest of the series is 3 % faster.
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
