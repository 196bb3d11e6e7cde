// Folds a deep problem: of many consecutive equal layers, keeps a few.
//
// Far from both ends, all layers of a deep problem have nearly equal messages. Sweeps over the
// folded problem take a fraction of the time, and find messages that nearly converge for the whole
// problem. Its best labelling, with the labels of a middle layer repeated, is often optimal. The
// solver only starts from these messages and labellings; bounds come from sweeps over the whole
// problem.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/problem.h"

namespace shw::solver {

struct FoldedLayers {
  PlacementProblem problem;
  // By variable and by edge of the whole problem: the equal variable and edge of `problem`. The
  // ends of edges keep their order.
  std::vector<uint32_t> variable, edge;
};

// Keeps `margin` ≥ 1 layers at each end. Equal layers have equal costs, and edges with the same
// matrices. No two edges may join the same variables. nullopt: no layers repeat, or folding would
// not halve the cells.
std::optional<FoldedLayers> fold_layers(const PlacementProblem& problem, uint32_t margin);

}  // namespace shw::solver
