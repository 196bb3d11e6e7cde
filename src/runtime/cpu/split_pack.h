// Packs operands of `split_gemm` in the order in which its tiles read them, with each number split
// into three bf16 parts.
#pragma once
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define SHW_HAVE_MATRIX_UNIT 1
#define SHW_MATRIX_UNIT \
  [[gnu::target("amx-tile,amx-bf16,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]]

#include <cstdint>

namespace shw::runtime::cpu {

// A tile register has 16 rows of 64 bytes. As an operand it holds 16 lanes (rows of A, columns of
// B) with 32 bf16 numbers each, in pairs. As a result it holds 16 × 16 f32 numbers.
inline constexpr int64_t kTileLanes = 16, kStepDepth = 32, kTileWords = 256;
// Four result tiles stay in registers, from two tiles of A and two of B. So a panel is two tiles
// wide.
inline constexpr int64_t kPanelTiles = 2, kPanelLanes = kPanelTiles * kTileLanes;
inline constexpr int64_t kParts = 3;
// Words per panel and step of kStepDepth.
inline constexpr int64_t kStepWords = kParts * kPanelTiles * kTileWords;
inline int64_t num_blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }
inline int64_t panel_words(int64_t depth) { return num_blocks(depth, kStepDepth) * kStepWords; }

// Properties of the numbers in a block.
struct SplitContents {
  bool finite = true;  // all finite, and none rounds to infinity
  int parts = 1;       // number of parts that are not all zero
};

// The meaning of a row of a tile, or of a row of 16 vectors in memory: all pairs of one lane (tiles
// of A), or one pair of all lanes (tiles of B).
enum class TileRow { kLane, kPair };

// An operand as lanes of numbers along the depth; f32, or the bits of bf16.
template <class T>
struct SplitOperand {
  const T* data;
  int64_t lane_stride, depth_stride;  // one of them is 1
};

// Packs all `lanes`, of `depth` numbers each, into panels of panel_words(depth) words. `to` is
// aligned to 64 bytes. Missing lanes and numbers are filled with zeros. Parts that are zero for all
// numbers are omitted. Requires a processor with the unit.
template <class T>
SplitContents pack_panels(uint32_t* to, const SplitOperand<T>& x, int64_t lanes, int64_t depth,
                          TileRow in_tile);
extern template SplitContents pack_panels(uint32_t*, const SplitOperand<float>&, int64_t, int64_t,
                                          TileRow);
extern template SplitContents pack_panels(uint32_t*, const SplitOperand<uint16_t>&, int64_t,
                                          int64_t, TileRow);

}  // namespace shw::runtime::cpu
#endif
