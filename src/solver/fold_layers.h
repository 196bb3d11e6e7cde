// Folds a deep problem: of many equal layers in a row, a few stay.
//
// Far from both ends all layers of a deep problem look alike, to a message as well. So sweeps over
// the folded problem, which take a fraction of the time, find messages that nearly fit the whole
// one, and its best labelling, with that of a middle layer repeated, is often optimal. Messages and
// labellings are where the solver goes on: bounds rest on sweeps over the whole problem.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "solver/problem.h"

namespace shw::solver {

struct FoldedLayers {
  PlacementProblem problem;
  // By variable and edge of the whole problem: those of `problem` that they equal. The ends of
  // edges keep their order.
  std::vector<uint32_t> variable, edge;
};

// Keeps `margin` ≥ 1 layers beside each end. Equal layers have equal costs, and edges with the same
// matrices. No two edges may join the same variables. nullopt: no layers repeat, or folding would
// not halve the cells.
std::optional<FoldedLayers> fold_layers(const PlacementProblem& problem, uint32_t margin);

}  // namespace shw::solver
