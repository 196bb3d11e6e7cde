// Shared by the ops that state their own layouts.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// The parts of a list separated by ';', trimmed; empty for an empty list.
std::vector<std::string_view> parts_of(std::string_view list);

// A manual region may state alternatives, separated by '|', and the planner picks one. Returns, for
// each alternative, the attributes of a node that states only this one. An attribute without '|'
// applies to all alternatives. If no attribute has '|', there is one alternative. INVALID_ARGUMENT:
// two attributes disagree on the number.
Result<std::vector<Attrs>> alternatives_of(const Attrs& attrs);

// A layout in text form, before a mesh is known: `mesh_rank` is its number of placements. A stated
// layout may contain replicate, plain shards in mesh order, and partial.
struct StatedLayout {
  Layout layout;
  int mesh_rank;
};
Result<StatedLayout> parse_stated(std::string_view text, const TensorType& type);

// INVALID_ARGUMENT: the mesh has another number of dims, or the layout cannot shard the tensor
// there. `even`: requires equal pieces.
Status check_on_mesh(const StatedLayout& stated, const TensorType& type, const Mesh& mesh,
                     bool even);

}  // namespace shw::ops
