// Transposed copies of 4-byte elements, in registers, in blocks of 4 × 4.
#pragma once
#include <cstdint>

namespace shw::runtime {

// Sets to[c][r] = from[r][c]. A pitch is the distance between rows, in elements.
void transpose(uint32_t* to, int64_t to_pitch, const uint32_t* from, int64_t from_pitch,
               int64_t rows, int64_t columns);

}  // namespace shw::runtime
