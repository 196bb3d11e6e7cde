#include "recipes/recipe.h"

#include <array>

namespace shw::recipes {
namespace {

constexpr std::array kRecipes = {
    Recipe{"ddp", "data parallel", Duty::kReplicas, Duty::kReplicas},
    Recipe{"fsdp", "fully sharded data parallel, ZeRO-3", Duty::kShards, Duty::kShards},
    Recipe{"hsdp", "sharded within the innermost mesh dim, replicated over the others",
           Duty::kReplicas, Duty::kShards, 2},
    Recipe{"tp", "Megatron tensor parallel, data parallel over the other mesh dims",
           Duty::kReplicas, Duty::kTensor},
    Recipe{"tp-sp", "the same with sequence parallel", Duty::kReplicas, Duty::kTensorAndSequence},
    Recipe{"fsdp-tp", "FSDP over the outer mesh dims, tensor and sequence parallel within",
           Duty::kShards, Duty::kTensorAndSequence, 2},
    Recipe{"cp", "context parallel, FSDP over all mesh dims", Duty::kShards, Duty::kContext},
};

int innermost(const Mesh& mesh) {
  int inner = 0;
  for (int m = 0; m < mesh.rank(); ++m)
    if (mesh.size(m) > 1) inner = m;
  return inner;
}

std::string why_not_divided(std::string_view what, int64_t size, int64_t ranks) {
  if (size % ranks == 0) return {};
  return "the " + std::string(what) + " of " + std::to_string(size) + " is no multiple of " +
         std::to_string(ranks) + " ranks";
}

std::string why_no_batch(const ModelParts& parts, int64_t ranks) {
  if (ranks == 1) return {};
  if (parts.batch_inputs.empty()) return "no input has a batch";
  return why_not_divided("batch", parts.batch, ranks);
}

std::string why_no_sequence(const ModelParts& parts, int64_t ranks) {
  if (parts.sequence == 0) return "there is no residual stream [batch, sequence, width]";
  return why_not_divided("sequence", parts.sequence, ranks);
}

std::string why_not_inner(Duty inner, const ModelParts& parts, int64_t ranks) {
  if (cuts_weights(inner) && parts.num_block_weights == 0)
    return "no matrix products with weights lie between residual additions";
  std::string why;
  if (inner == Duty::kTensorAndSequence || inner == Duty::kContext)
    why = why_no_sequence(parts, ranks);
  if (why.empty() && inner == Duty::kContext && parts.sequence_inputs.empty())
    why = "no input has the sequence as its second dim";
  return why;
}

}  // namespace

std::span<const Recipe> all() { return kRecipes; }

Duty duty(const Recipe& recipe, const Mesh& mesh, int mesh_dim) {
  return mesh_dim == innermost(mesh) ? recipe.inner : recipe.outer;
}

std::string why_not(const Recipe& recipe, const ModelParts& parts, const Mesh& mesh) {
  int64_t over_batch = 1;
  int dims = 0;
  for (int m = 0; m < mesh.rank(); ++m) {
    dims += mesh.size(m) > 1;
    if (cuts_batch(duty(recipe, mesh, m))) over_batch *= mesh.size(m);
  }
  if (dims < recipe.min_dims)
    return "it needs " + std::to_string(recipe.min_dims) +
           " mesh dims of more than one rank; there " + (dims == 1 ? "is 1" : "are 0");
  if (std::string why = why_not_inner(recipe.inner, parts, mesh.size(innermost(mesh)));
      !why.empty())
    return why;
  return why_no_batch(parts, over_batch);
}

}  // namespace shw::recipes
