// What the ops that state their own layouts share.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// The parts of a list separated by ';', without spaces around them; none of an empty list.
std::vector<std::string_view> parts_of(std::string_view list);
// A layout in its text form, of a tensor of that type. INVALID_ARGUMENT: not one of this mesh, or
// it does not cut the tensor.
Result<Layout> stated_layout(std::string_view text, const TensorType& type, const Mesh& mesh);

}  // namespace shw::ops
