// Reads groups of ranks from text. A group is written as the names of the mesh dims along which its
// members differ.
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
