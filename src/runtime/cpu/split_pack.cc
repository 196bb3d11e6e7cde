#include "runtime/cpu/split_pack.h"

#ifdef SHW_HAVE_MATRIX_UNIT
#include <immintrin.h>

#include <algorithm>

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 and 13 warn of its own headers (bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace shw::runtime::cpu {
namespace {

// Accumulates SplitContents over vectors.
struct Seen {
  __m512i most, middle, low;

  SHW_MATRIX_UNIT Seen()
      : most(_mm512_setzero_si512()), middle(_mm512_setzero_si512()), low(_mm512_setzero_si512()) {}
  SHW_MATRIX_UNIT SplitContents contents() const {
    constexpr uint32_t kRoundsToInfinity = 0x7f7f8000;
    return {_mm512_reduce_max_epu32(most) < kRoundsToInfinity,
            _mm512_test_epi32_mask(low, low) != 0         ? 3
            : _mm512_test_epi32_mask(middle, middle) != 0 ? 2
                                                          : 1};
  }
};

// The parts of 32 numbers.
struct Split {
  __m512i part[kParts];
};

SHW_MATRIX_UNIT inline __m512 widen_low(__m512i bf16) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(bf16)), 16));
}
SHW_MATRIX_UNIT inline __m512 widen_high(__m512i bf16) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(bf16, 1)), 16));
}

SHW_MATRIX_UNIT inline __m512i magnitude(__m512 x) {
  return _mm512_and_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
}

SHW_MATRIX_UNIT inline Split split(__m512 first, __m512 second, Seen& seen) {
  seen.most = _mm512_max_epu32(seen.most, _mm512_max_epu32(magnitude(first), magnitude(second)));
  Split s;
#pragma GCC unroll 3
  for (int64_t p = 0; p < kParts; ++p) {
    s.part[p] = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first));
    if (p + 1 == kParts) break;
    first = _mm512_sub_ps(first, widen_low(s.part[p]));
    second = _mm512_sub_ps(second, widen_high(s.part[p]));
  }
  seen.middle = _mm512_or_si512(seen.middle, s.part[1]);
  seen.low = _mm512_or_si512(seen.low, s.part[2]);
  return s;
}

// The transpose of 16 rows of 16 words.
SHW_MATRIX_UNIT void transpose_tile(uint32_t* to, const uint32_t* from) {
  __m512i a[kTileLanes], b[kTileLanes];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    const __m512i even = _mm512_load_si512(from + i * kTileLanes),
                  odd = _mm512_load_si512(from + (i + 1) * kTileLanes);
    a[i] = _mm512_unpacklo_epi32(even, odd);
    a[i + 1] = _mm512_unpackhi_epi32(even, odd);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      b[i + 2 * j] = _mm512_unpacklo_epi64(a[i + j], a[i + j + 2]);
      b[i + 2 * j + 1] = _mm512_unpackhi_epi64(a[i + j], a[i + j + 2]);
    }
    // Each 128 bits of b[4q + c] are four rows of column c, c + 4, c + 8, c + 12.
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512i even0 = _mm512_shuffle_i32x4(b[c], b[c + 4], 0x88),
                  odd0 = _mm512_shuffle_i32x4(b[c], b[c + 4], 0xdd),
                  even1 = _mm512_shuffle_i32x4(b[c + 8], b[c + 12], 0x88),
                  odd1 = _mm512_shuffle_i32x4(b[c + 8], b[c + 12], 0xdd);
    uint32_t* const column = to + c * kTileLanes;
    _mm512_store_si512(column, _mm512_shuffle_i32x4(even0, even1, 0x88));
    _mm512_store_si512(column + 4 * kTileLanes, _mm512_shuffle_i32x4(odd0, odd1, 0x88));
    _mm512_store_si512(column + 8 * kTileLanes, _mm512_shuffle_i32x4(even0, even1, 0xdd));
    _mm512_store_si512(column + 12 * kTileLanes, _mm512_shuffle_i32x4(odd0, odd1, 0xdd));
  }
}

// 16 contiguous numbers, of which the first `count` exist; the others become 0.
SHW_MATRIX_UNIT inline __m512 load(const float* from, int64_t count) {
  if (count >= kTileLanes) return _mm512_loadu_ps(from);
  return count <= 0 ? _mm512_setzero_ps()
                    : _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), from);
}

// 16 numbers, paired with the 16 numbers of the next row of the depth.
SHW_MATRIX_UNIT inline __m512i in_pairs(__m512i both) {
  alignas(64) static constexpr uint16_t kBeside[] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                     21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                     11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return _mm512_permutexvar_epi16(_mm512_load_si512(kBeside), both);
}

// One row of a tile for each part, with the numbers in the order of memory. kPair: the numbers of a
// pair are not adjacent.
template <TileRow kInMemory>
SHW_MATRIX_UNIT inline Split make_row(const SplitOperand<float>& x, int64_t i, int64_t lanes,
                                      int64_t depth, Seen& seen) {
  if constexpr (kInMemory == TileRow::kLane) {
    const float* const from = x.data + i * x.lane_stride;
    const int64_t there = i < lanes ? depth : 0;
    return split(load(from, there), load(from + kTileLanes, there - kTileLanes), seen);
  } else {
    const float* const from = x.data + 2 * i * x.depth_stride;
    Split s = split(load(from, 2 * i < depth ? lanes : 0),
                    load(from + x.depth_stride, 2 * i + 1 < depth ? lanes : 0), seen);
#pragma GCC unroll 3
    for (__m512i& part : s.part) part = in_pairs(part);
    return s;
  }
}

// A mask of the lowest `count` of 32 bits.
inline uint32_t lowest_bits(int64_t count) {
  return count >= 32 ? ~0U : count <= 0 ? 0 : (1U << count) - 1;
}

// The same for bf16 numbers, which have only the first part. Infinities and NaNs need no special
// treatment, because there are no further parts to multiply with.
template <TileRow kInMemory>
SHW_MATRIX_UNIT inline Split make_row(const SplitOperand<uint16_t>& x, int64_t i, int64_t lanes,
                                      int64_t depth, Seen&) {
  if constexpr (kInMemory == TileRow::kLane) {
    const uint32_t there = i < lanes ? lowest_bits(depth) : 0;
    return {{_mm512_maskz_loadu_epi16(there, x.data + i * x.lane_stride)}};
  } else {
    const uint16_t* const from = x.data + 2 * i * x.depth_stride;
    const auto there = static_cast<__mmask16>(lowest_bits(std::min(lanes, kTileLanes)));
    const __m256i first = _mm256_maskz_loadu_epi16(2 * i < depth ? there : 0, from),
                  second = _mm256_maskz_loadu_epi16(2 * i + 1 < depth ? there : 0,
                                                    from + x.depth_stride);
    return {{in_pairs(_mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1))}};
  }
}

// The tiles of 16 lanes for one step of the depth: one tile for each part, kPanelTiles tiles apart.
template <TileRow kInMemory, TileRow kInTile, class T>
SHW_MATRIX_UNIT void pack_tiles(uint32_t* to, const SplitOperand<T>& x, int64_t lanes,
                                int64_t depth, Seen& seen) {
  constexpr int64_t kPartWords = kPanelTiles * kTileWords;
  constexpr int64_t kPartsOfT = sizeof(T) == sizeof(float) ? kParts : 1;
  alignas(64) uint32_t across[kPartsOfT * kTileWords];
  const auto row = [&](int64_t p, int64_t i) {
    return kInMemory == kInTile ? to + p * kPartWords + i * kTileLanes
                                : across + p * kTileWords + i * kTileLanes;
  };
  for (int64_t i = 0; i < kTileLanes; ++i) {
    const Split s = make_row<kInMemory>(x, i, lanes, depth, seen);
#pragma GCC unroll 3
    for (int64_t p = 0; p < kPartsOfT; ++p) _mm512_store_si512(row(p, i), s.part[p]);
  }
  for (int64_t p = 0; kInMemory != kInTile && p < kPartsOfT; ++p)
    transpose_tile(to + p * kPartWords, across + p * kTileWords);
}

// Memory is read line by line: if lanes are contiguous, all lanes are packed for one step of the
// depth before the next step.
template <TileRow kInMemory, TileRow kInTile, class T>
SHW_MATRIX_UNIT SplitContents pack_all(uint32_t* to, const SplitOperand<T>& x, int64_t lanes,
                                       int64_t depth) {
  const int64_t tiles = num_blocks(lanes, kPanelLanes) * kPanelTiles;
  const int64_t steps = num_blocks(depth, kStepDepth);
  Seen seen;
  const auto pack_one = [&](int64_t tile, int64_t step) {
    const int64_t lane = tile * kTileLanes, p = step * kStepDepth;
    pack_tiles<kInMemory, kInTile, T>(
        to + (tile / kPanelTiles * steps + step) * kStepWords + tile % kPanelTiles * kTileWords,
        {x.data + lane * x.lane_stride + p * x.depth_stride, x.lane_stride, x.depth_stride},
        std::min(kTileLanes, lanes - lane), std::min(kStepDepth, depth - p), seen);
  };
  if constexpr (kInMemory == TileRow::kLane)
    for (int64_t tile = 0; tile < tiles; ++tile)
      for (int64_t step = 0; step < steps; ++step) pack_one(tile, step);
  else
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t tile = 0; tile < tiles; ++tile) pack_one(tile, step);
  return seen.contents();
}

template <TileRow kInTile, class T>
SplitContents pack_for(uint32_t* to, const SplitOperand<T>& x, int64_t lanes, int64_t depth) {
  return x.depth_stride == 1 ? pack_all<TileRow::kLane, kInTile>(to, x, lanes, depth)
                             : pack_all<TileRow::kPair, kInTile>(to, x, lanes, depth);
}

}  // namespace

template <class T>
SplitContents pack_panels(uint32_t* to, const SplitOperand<T>& x, int64_t lanes, int64_t depth,
                          TileRow in_tile) {
  return in_tile == TileRow::kLane ? pack_for<TileRow::kLane>(to, x, lanes, depth)
                                   : pack_for<TileRow::kPair>(to, x, lanes, depth);
}

template SplitContents pack_panels(uint32_t*, const SplitOperand<float>&, int64_t, int64_t,
                                   TileRow);
template SplitContents pack_panels(uint32_t*, const SplitOperand<uint16_t>&, int64_t, int64_t,
                                   TileRow);

}  // namespace shw::runtime::cpu

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
