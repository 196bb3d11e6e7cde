#include "runtime/transpose.h"

#include <algorithm>
#include <cstring>

namespace shw::runtime {
namespace {

// Columns that are completed before the next rows begin: 16 elements of 4 bytes are a cache line.
constexpr int64_t kLine = 16;

#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)  // GCC 12, clang

using Four [[gnu::vector_size(16)]] = uint32_t;

Four four_at(const uint32_t* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// A 4 × 4 block: pairs of rows are interleaved, then pairs of pairs.
void transpose_block(uint32_t* to, int64_t to_pitch, const uint32_t* from, int64_t from_pitch) {
  const Four a = four_at(from), b = four_at(from + from_pitch), c = four_at(from + 2 * from_pitch),
             d = four_at(from + 3 * from_pitch);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
             ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7),
             cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four out[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5),
                       __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                       __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                       __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int64_t i = 0; i < 4; ++i) std::memcpy(to + i * to_pitch, &out[i], sizeof out[i]);
}

#else

void transpose_block(uint32_t* to, int64_t to_pitch, const uint32_t* from, int64_t from_pitch) {
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t c = 0; c < 4; ++c) to[c * to_pitch + r] = from[r * from_pitch + c];
}

#endif

}  // namespace

void transpose(uint32_t* to, int64_t to_pitch, const uint32_t* from, int64_t from_pitch,
               int64_t rows, int64_t columns) {
  const int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (int64_t line = 0; line < whole_columns; line += kLine)
    for (int64_t r = 0; r < whole_rows; r += 4)
      for (int64_t c = line; c < std::min(line + kLine, whole_columns); c += 4)
        transpose_block(to + c * to_pitch + r, to_pitch, from + r * from_pitch + c, from_pitch);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      to[c * to_pitch + r] = from[r * from_pitch + c];
}

}  // namespace shw::runtime
