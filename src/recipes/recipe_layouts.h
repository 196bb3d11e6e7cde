// A recipe as constraints on placements. The constraints state only what defines the recipe. The
// planner chooses the rest at the lowest price, such as where a gradient is reduced, or which
// weight of a pair is cut along its columns. So each recipe is represented by its best plan.
//
// Along a mesh dim that cuts the batch, every operand and every result that has the batch is cut
// along it, and parameters and gradients have the recipe's layout. Along one that cuts the
// sequence, the same holds of the sequence; attention may gather operands that it cannot process in
// parts. Along one that cuts weights, no matrix product is cut along batch or sequence, weights are
// used in parts, and the residual stream and the adjacent norms are whole, or cut along the
// sequence.
//
// If an operation has no such strategy (a sort of all tokens), the planner chooses freely, and the
// node counts in num_free.
#pragma once
#include <vector>

#include "placement/constraints.h"
#include "recipes/recipe.h"
#include "recipes/shard_flow.h"
#include "strategy/strategies.h"

namespace shw::recipes {

// How cuts propagate through a model. Computed once for all recipes.
struct Cuts {
  ShardFlow batch;
  ShardFlow context;   // the sequence, from the inputs on
  ShardFlow residual;  // the sequence, from each residual stream on
  static Result<Cuts> of(const Graph& graph, const ModelParts& parts, Monitor& monitor);
};

struct RecipeLayouts {
  std::vector<AllowedLabels> choices;
  uint32_t num_free = 0;  // nodes without a strategy that follows the recipe
};

// The recipe must apply: why_not() is empty.
RecipeLayouts layouts_of(const Recipe& recipe, const Graph& graph, const Mesh& mesh,
                         const Strategies& strategies, const ModelParts& parts, const Cuts& cuts);

}  // namespace shw::recipes
