// The recipes: the kind of parallelism ("duty") that each uses along the mesh dims. A recipe is a
// row of a table (recipe.cc); recipe_layouts.h turns duties into layouts.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "recipes/model_parts.h"
#include "sharding/layout.h"

namespace shw::recipes {

// The kind of parallelism along one mesh dim.
enum class Duty : uint8_t {
  kReplicas,  // the batch is cut; parameters are whole
  kShards,    // the batch is cut, parameters as well: they are gathered where they are used
  kTensor,    // weights are cut, and each product works on its part; the residual stream is
              // whole
  kTensorAndSequence,  // the same, but the residual stream is cut along the sequence
  kContext,            // the sequence is cut everywhere; parameters as under kShards
};
constexpr bool cuts_batch(Duty d) { return d == Duty::kReplicas || d == Duty::kShards; }
constexpr bool cuts_weights(Duty d) { return d == Duty::kTensor || d == Duty::kTensorAndSequence; }
constexpr bool gathers_parameters(Duty d) { return d == Duty::kShards || d == Duty::kContext; }

struct Recipe {
  std::string_view name;   // "fsdp-tp"
  std::string_view title;  // "FSDP × tensor parallel"
  Duty outer;              // along all mesh dims except the innermost
  Duty inner;              // along the innermost, whose links are the fastest
  int min_dims = 1;        // minimum number of mesh dims with more than one rank
};
std::span<const Recipe> all();

// The recipe's duty along a mesh dim. For mesh dims of one rank the result has no meaning.
Duty duty(const Recipe& recipe, const Mesh& mesh, int mesh_dim);

// The reason why the recipe does not apply to this model on this mesh; empty: it applies.
std::string why_not(const Recipe& recipe, const ModelParts& parts, const Mesh& mesh);

}  // namespace shw::recipes
