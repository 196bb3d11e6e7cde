// A recipe as constraints on placements. It states what the recipe is about; what it leaves open
// (where a gradient is reduced, which weight of a pair is cut along its columns) the planner
// chooses at the lowest price, so that each recipe is represented by its best plan.
//
// Along a mesh dim that cuts the batch, every operand and every result that has the batch is cut
// along it, and parameters and gradients have the recipe's layout. Along one that cuts the
// sequence, the same holds of the sequence; attention may gather what it cannot do in parts. Along
// one that cuts weights, no matrix product is cut along batch or sequence, weights are used in
// parts, and the residual stream and the norms beside it are whole, or cut along the sequence.
//
// Where an operation has no strategy of that kind (a sort of all tokens), the planner chooses
// freely, and the node is counted.
#pragma once
#include <vector>

#include "placement/constraints.h"
#include "recipes/recipe.h"
#include "recipes/shard_flow.h"
#include "strategy/strategies.h"

namespace shw::recipes {

// Where the cuts of a model go. Found once for all recipes.
struct Cuts {
  ShardFlow batch;
  ShardFlow context;   // the sequence, from the inputs on
  ShardFlow residual;  // the sequence, from each residual stream on
  static Result<Cuts> of(const Graph& graph, const ModelParts& parts, Monitor& monitor);
};

struct RecipeLayouts {
  std::vector<AllowedLabels> choices;
  uint32_t num_free = 0;  // nodes that cannot do what the recipe says
};

// The recipe applies: why_not() is empty.
RecipeLayouts layouts_of(const Recipe& recipe, const Graph& graph, const Mesh& mesh,
                         const Strategies& strategies, const ModelParts& parts, const Cuts& cuts);

}  // namespace shw::recipes
