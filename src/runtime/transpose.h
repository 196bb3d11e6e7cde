// Transposed copies of 4-byte elements, in registers: four rows of four at a time.
#pragma once
#include <cstdint>

namespace shw::runtime {

// to[c][r] = from[r][c]. Pitches: elements from one row to the next, of each.
void transpose(uint32_t* to, int64_t to_pitch, const uint32_t* from, int64_t from_pitch,
               int64_t rows, int64_t columns);

}  // namespace shw::runtime
