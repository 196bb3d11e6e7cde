// Groups of ranks, as text: by the names of the mesh dims along which their members differ.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "sharding/layout.h"

namespace shw {

// "ep; dp,ep": groups separated by ';', the mesh dims of each by ',', outermost first. Members are
// numbered in this order. INVALID_ARGUMENT: the mesh has no dim of that name, or a group names one
// twice.
Result<std::vector<std::vector<uint8_t>>> parse_groups(std::string_view text, const Mesh& mesh);

}  // namespace shw
