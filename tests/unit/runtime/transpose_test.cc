// Transposed copies: whole blocks and the remainders beside them, with gaps between rows.
#include "runtime/transpose.h"

#include <gtest/gtest.h>

#include <vector>

namespace shw::runtime {
namespace {

TEST(Transpose, MovesEveryElementAndNothingElse) {
  constexpr uint32_t kUntouched = 0xFFFFFFFF;
  for (int64_t rows : {1, 3, 4, 5, 16, 23})
    for (int64_t columns : {1, 2, 4, 7, 16, 17, 37})
      for (int64_t gap : {0, 3}) {
        const int64_t from_pitch = columns + gap, to_pitch = rows + 2 * gap;
        std::vector<uint32_t> from(static_cast<size_t>(rows * from_pitch));
        for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint32_t>(i);
        std::vector<uint32_t> to(static_cast<size_t>(columns * to_pitch), kUntouched), want = to;
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < columns; ++c)
            want[static_cast<size_t>(c * to_pitch + r)] =
                from[static_cast<size_t>(r * from_pitch + c)];
        transpose(to.data(), to_pitch, from.data(), from_pitch, rows, columns);
        EXPECT_EQ(to, want) << rows << " x " << columns << ", gap " << gap;
      }
}

}  // namespace
}  // namespace shw::runtime
