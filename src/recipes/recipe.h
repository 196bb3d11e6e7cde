// The recipes: what each does along the mesh dims. A recipe is a row of a table (recipe.cc); how a
// duty becomes layouts is in recipe_layouts.h.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "recipes/model_parts.h"
#include "sharding/layout.h"

namespace shw::recipes {

// What is done along one mesh dim.
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
  Duty outer;              // of all mesh dims but the innermost
  Duty inner;              // of the innermost, whose links are the fastest
  int min_dims = 1;        // mesh dims of more than one rank that it needs
};
std::span<const Recipe> all();

// Its duty along a mesh dim; mesh dims of one rank have none that matters.
Duty duty(const Recipe& recipe, const Mesh& mesh, int mesh_dim);

// Why the recipe is none for this model on this mesh; empty: it is.
std::string why_not(const Recipe& recipe, const ModelParts& parts, const Mesh& mesh);

}  // namespace shw::recipes
