// What the ops that state their own layouts share.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// The parts of a list separated by ';', without spaces around them; none of an empty list.
std::vector<std::string_view> parts_of(std::string_view list);

// A layout in its text form, before a mesh is known: `mesh_rank` is the number of its placements.
// What a stated layout may be: replicate, plain shards in mesh order, and partial.
struct StatedLayout {
  Layout layout;
  int mesh_rank;
};
Result<StatedLayout> parse_stated(std::string_view text, const TensorType& type);

// INVALID_ARGUMENT: the mesh has not as many dims, or the layout does not cut the tensor there.
// `even`: into equal pieces.
Status check_on_mesh(const StatedLayout& stated, const TensorType& type, const Mesh& mesh,
                     bool even);

}  // namespace shw::ops
