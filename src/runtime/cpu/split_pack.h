// Operands of `split_gemm` as its tiles read them: each number in three parts of bf16.
#pragma once
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define SHW_HAVE_MATRIX_UNIT 1
#define SHW_MATRIX_UNIT \
  [[gnu::target("amx-tile,amx-bf16,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]]

#include <cstdint>

namespace shw::runtime::cpu {

// A tile register: 16 rows of 64 bytes. As an operand it has 16 lanes (rows of A, columns of B) and
// 32 numbers of bf16 of each, in pairs; as a result, 16 × 16 numbers of f32.
inline constexpr int64_t kTileLanes = 16, kStepDepth = 32, kTileWords = 256;
// Four results stay in registers, of two tiles of A and two of B: a panel is two tiles wide.
inline constexpr int64_t kPanelTiles = 2, kPanelLanes = kPanelTiles * kTileLanes;
inline constexpr int64_t kParts = 3;
inline constexpr int64_t kStepWords = kParts * kPanelTiles * kTileWords;  // of a panel
inline int64_t num_blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }
inline int64_t panel_words(int64_t depth) { return num_blocks(depth, kStepDepth) * kStepWords; }

// What the numbers of a block turned out to be.
struct SplitContents {
  bool finite = true;  // and none rounds to an infinity
  int parts = 1;       // that are not all zero
};

// What a row is, of a tile or of 16 vectors in memory: a lane with its pairs (tiles of A), or a
// pair of all lanes (tiles of B).
enum class TileRow { kLane, kPair };

// An operand as lanes of numbers along the depth: f32, or the bits of bf16.
template <class T>
struct SplitOperand {
  const T* data;
  int64_t lane_stride, depth_stride;  // one of them is 1
};

// Panels of all `lanes`, of `depth` numbers each: so many times panel_words(depth) words, at a
// multiple of 64 bytes. What is not there is zero; parts are left out that no number has. The
// machine has the unit.
template <class T>
SplitContents pack_panels(uint32_t* to, const SplitOperand<T>& x, int64_t lanes, int64_t depth,
                          TileRow in_tile);
extern template SplitContents pack_panels(uint32_t*, const SplitOperand<float>&, int64_t, int64_t,
                                          TileRow);
extern template SplitContents pack_panels(uint32_t*, const SplitOperand<uint16_t>&, int64_t,
                                          int64_t, TileRow);

}  // namespace shw::runtime::cpu
#endif
