#include "runtime/cpu/split_gemm.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define SHW_HAVE_MATRIX_UNIT 1
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 and 13 warn of its own headers (bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <algorithm>
#include <cstring>

namespace shw::runtime::cpu {

#ifdef SHW_HAVE_MATRIX_UNIT

#define SHW_MATRIX_UNIT \
  [[gnu::target("amx-tile,amx-bf16,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]]

namespace {

// A tile register: 16 rows of 64 bytes. As an operand it has 16 lanes (rows of A, columns of B) and
// 32 numbers of bf16 of each, in pairs; as a result, 16 × 16 numbers of f32.
constexpr int64_t kTileLanes = 16, kStepDepth = 32, kTileWords = 256;
// Four results stay in registers, of two tiles of A and two of B: a panel is two tiles wide.
constexpr int64_t kPanelTiles = 2, kPanelLanes = kPanelTiles * kTileLanes;
constexpr int64_t kParts = 3;
constexpr int64_t kStepWords = kParts * kPanelTiles * kTileWords;  // of a panel
// A block of A takes 768 KiB, half of the second-level cache of any machine with the unit, and is
// read again for each panel of B, 96 KiB. A deeper block reads C more rarely.
constexpr int64_t kBlockDepth = 512, kBlockRows = 256, kBlockColumns = 2048;
// Copies pay where each number enters so many products: measured, as fast as vectors at 50 of the
// rows and columns of C, by half of their harmonic mean.
constexpr int64_t kLeastReuse = 64, kLeastDepth = 32;

int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

// Of equal blocks that are no deeper than kBlockDepth.
int64_t block_depth(int64_t k) {
  const int64_t blocks = std::max<int64_t>(parts_of(k, kBlockDepth), 1);
  return parts_of(parts_of(k, blocks), kStepDepth) * kStepDepth;
}
int64_t panel_words(int64_t depth) { return parts_of(depth, kStepDepth) * kStepWords; }

// What the numbers of a block turned out to be.
struct Contents {
  bool finite = true;  // and none rounds to an infinity
  int parts = 1;       // that are not all zero
};

// Collects that over vectors.
struct Seen {
  __m512i most, middle, low;

  SHW_MATRIX_UNIT Seen()
      : most(_mm512_setzero_si512()), middle(_mm512_setzero_si512()), low(_mm512_setzero_si512()) {}
  SHW_MATRIX_UNIT Contents contents() const {
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

// What a row is, of a tile or of 16 vectors in memory: a lane with its pairs (tiles of A), or a
// pair of all lanes (tiles of B).
enum class Row { kLane, kPair };

// An operand as lanes of numbers along the depth.
struct Lanes {
  const float* data;
  int64_t lane_stride, depth_stride;  // one of them is 1
};

// 16 numbers that lie one after another, of which `count` are there; the others are 0.
SHW_MATRIX_UNIT inline __m512 load(const float* from, int64_t count) {
  if (count >= kTileLanes) return _mm512_loadu_ps(from);
  return count <= 0 ? _mm512_setzero_ps()
                    : _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), from);
}

// One row of a tile for each part, as it lies in memory. kPair: the numbers of a pair lie apart.
template <Row kInMemory>
SHW_MATRIX_UNIT inline Split make_row(const Lanes& x, int64_t i, int64_t lanes, int64_t depth,
                                      Seen& seen) {
  if constexpr (kInMemory == Row::kLane) {
    const float* const from = x.data + i * x.lane_stride;
    const int64_t there = i < lanes ? depth : 0;
    return split(load(from, there), load(from + kTileLanes, there - kTileLanes), seen);
  } else {
    const float* const from = x.data + 2 * i * x.depth_stride;
    Split s = split(load(from, 2 * i < depth ? lanes : 0),
                    load(from + x.depth_stride, 2 * i + 1 < depth ? lanes : 0), seen);
    alignas(64) constexpr uint16_t kBeside[] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i beside = _mm512_load_si512(kBeside);
#pragma GCC unroll 3
    for (__m512i& part : s.part) part = _mm512_permutexvar_epi16(beside, part);
    return s;
  }
}

// The tiles of 16 lanes for one step of the depth, one for each part, kPanelTiles tiles apart.
template <Row kInMemory, Row kInTile>
SHW_MATRIX_UNIT void pack_tiles(uint32_t* to, const Lanes& x, int64_t lanes, int64_t depth,
                                Seen& seen) {
  constexpr int64_t kPartWords = kPanelTiles * kTileWords;
  alignas(64) uint32_t across[kParts * kTileWords];
  const auto row = [&](int64_t p, int64_t i) {
    return kInMemory == kInTile ? to + p * kPartWords + i * kTileLanes
                                : across + p * kTileWords + i * kTileLanes;
  };
  for (int64_t i = 0; i < kTileLanes; ++i) {
    const Split s = make_row<kInMemory>(x, i, lanes, depth, seen);
#pragma GCC unroll 3
    for (int64_t p = 0; p < kParts; ++p) _mm512_store_si512(row(p, i), s.part[p]);
  }
  for (int64_t p = 0; kInMemory != kInTile && p < kParts; ++p)
    transpose_tile(to + p * kPartWords, across + p * kTileWords);
}

// Panels of all `lanes`, of `depth` numbers each. Memory is read line after line: where lanes lie
// one after another, all of them for one step of the depth.
template <Row kInMemory, Row kInTile>
SHW_MATRIX_UNIT Contents pack_panels(uint32_t* to, const Lanes& x, int64_t lanes, int64_t depth) {
  const int64_t tiles = parts_of(lanes, kPanelLanes) * kPanelTiles;
  const int64_t steps = parts_of(depth, kStepDepth);
  Seen seen;
  const auto pack_one = [&](int64_t tile, int64_t step) {
    const int64_t lane = tile * kTileLanes, p = step * kStepDepth;
    pack_tiles<kInMemory, kInTile>(
        to + (tile / kPanelTiles * steps + step) * kStepWords + tile % kPanelTiles * kTileWords,
        {x.data + lane * x.lane_stride + p * x.depth_stride, x.lane_stride, x.depth_stride},
        std::min(kTileLanes, lanes - lane), std::min(kStepDepth, depth - p), seen);
  };
  if constexpr (kInMemory == Row::kLane)
    for (int64_t tile = 0; tile < tiles; ++tile)
      for (int64_t step = 0; step < steps; ++step) pack_one(tile, step);
  else
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t tile = 0; tile < tiles; ++tile) pack_one(tile, step);
  return seen.contents();
}
template <Row kInTile>
Contents pack(uint32_t* to, const Lanes& x, int64_t lanes, int64_t depth) {
  return x.depth_stride == 1 ? pack_panels<Row::kLane, kInTile>(to, x, lanes, depth)
                             : pack_panels<Row::kPair, kInTile>(to, x, lanes, depth);
}

// 32 × 32 results, of panels whose numbers have kA and kB parts. Products of parts i and j are
// needed where i + j < 3. Each part is loaded once or twice, where the other operand's are at hand.
struct Panels {
  const uint32_t *a, *b;
  int64_t steps;
  float* c;
  int64_t c_pitch;  // bytes
  bool accumulate;
};

// GCC does not know that loads and stores of tiles touch memory.
inline void settle_memory() { asm volatile("" ::: "memory"); }

// Tile registers: results 0 to 3, A 4 and 5, B 6 and 7. Each function loads a part of one operand,
// or of both, and adds its products by what is there of the other.
constexpr int64_t kTileRowBytes = 64;

SHW_MATRIX_UNIT inline void multiply_both(const uint32_t* a, const uint32_t* b) {
  _tile_loadd(4, a, kTileRowBytes);
  _tile_loadd(6, b, kTileRowBytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_loadd(7, b + kTileWords, kTileRowBytes);
  _tile_dpbf16ps(1, 4, 7);
  _tile_loadd(5, a + kTileWords, kTileRowBytes);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}
SHW_MATRIX_UNIT inline void multiply_by_b(const uint32_t* b) {
  _tile_loadd(6, b, kTileRowBytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(2, 5, 6);
  _tile_loadd(7, b + kTileWords, kTileRowBytes);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(3, 5, 7);
}
SHW_MATRIX_UNIT inline void multiply_by_a(const uint32_t* a) {
  _tile_loadd(4, a, kTileRowBytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_loadd(5, a + kTileWords, kTileRowBytes);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

template <int kA, int kB>
SHW_MATRIX_UNIT void multiply_panels(const Panels& p) {
  constexpr int64_t kPartWords = kPanelTiles * kTileWords;
  char* const c = reinterpret_cast<char*>(p.c);
  char* const below = c + kTileLanes * p.c_pitch;
  settle_memory();
  if (p.accumulate) {
    _tile_loadd(0, c, p.c_pitch);
    _tile_loadd(1, c + kTileRowBytes, p.c_pitch);
    _tile_loadd(2, below, p.c_pitch);
    _tile_loadd(3, below + kTileRowBytes, p.c_pitch);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const uint32_t *a = p.a, *b = p.b;
  for (int64_t s = 0; s < p.steps; ++s, a += kStepWords, b += kStepWords) {
    const uint32_t *a1 = a + kPartWords, *a2 = a1 + kPartWords, *b1 = b + kPartWords,
                   *b2 = b1 + kPartWords;
    if constexpr (kA > 2) multiply_both(a2, b);
    if constexpr (kA > 2)
      multiply_by_a(a1);
    else if constexpr (kA > 1)
      multiply_both(a1, b);
    if constexpr (kA > 1 && kB > 1) multiply_by_b(b1);
    if constexpr (kA > 1)
      multiply_by_a(a);
    else
      multiply_both(a, kB > 1 ? b1 : b);
    if constexpr (kB > 2) multiply_by_b(b2);
    if constexpr (kB > 1) multiply_by_b(b);
  }
  _tile_stored(0, c, p.c_pitch);
  _tile_stored(1, c + kTileRowBytes, p.c_pitch);
  _tile_stored(2, below, p.c_pitch);
  _tile_stored(3, below + kTileRowBytes, p.c_pitch);
  settle_memory();
}

using MultiplyPanels = void (*)(const Panels&);
MultiplyPanels multiply_for(const Contents& a, const Contents& b) {
  constexpr MultiplyPanels kAll[kParts][kParts] = {
      {multiply_panels<1, 1>, multiply_panels<1, 2>, multiply_panels<1, 3>},
      {multiply_panels<2, 1>, multiply_panels<2, 2>, multiply_panels<2, 3>},
      {multiply_panels<3, 1>, multiply_panels<3, 2>, multiply_panels<3, 3>}};
  return kAll[a.parts - 1][b.parts - 1];
}

// Results at the edge of C, through memory that has room for whole panels.
void multiply_at_edge(MultiplyPanels multiply, Panels p, int64_t rows, int64_t columns) {
  float whole[kPanelLanes * kPanelLanes];
  float* const c = p.c;
  const auto row = [&](int64_t i) {
    return reinterpret_cast<float*>(reinterpret_cast<char*>(c) + i * p.c_pitch);
  };
  const size_t bytes = static_cast<size_t>(columns) * sizeof(float);
  if (p.accumulate) {
    std::memset(whole, 0, sizeof(whole));
    for (int64_t i = 0; i < rows; ++i) std::memcpy(whole + i * kPanelLanes, row(i), bytes);
  }
  Panels in_whole = p;
  in_whole.c = whole;
  in_whole.c_pitch = kPanelLanes * static_cast<int64_t>(sizeof(float));
  multiply(in_whole);
  for (int64_t i = 0; i < rows; ++i) std::memcpy(row(i), whole + i * kPanelLanes, bytes);
}

// `block` has the sizes, C, and whether to accumulate; a and b are packed.
void multiply_block(const Gemm<float>& block, const uint32_t* a, const uint32_t* b,
                    MultiplyPanels multiply) {
  const int64_t words = panel_words(block.k);
  for (int64_t j = 0; j < block.n; j += kPanelLanes, b += words) {
    const uint32_t* panel_a = a;
    for (int64_t i = 0; i < block.m; i += kPanelLanes, panel_a += words) {
      const Panels panels{panel_a,
                          b,
                          words / kStepWords,
                          &block.c.at(i, j),
                          block.c.row_stride * static_cast<int64_t>(sizeof(float)),
                          block.accumulate};
      const int64_t rows = std::min(kPanelLanes, block.m - i);
      const int64_t columns = std::min(kPanelLanes, block.n - j);
      if (rows == kPanelLanes && columns == kPanelLanes)
        multiply(panels);
      else
        multiply_at_edge(multiply, panels, rows, columns);
    }
  }
}

// All eight tile registers as whole ones, on this thread, while it lives.
class TileRegisters {
 public:
  SHW_MATRIX_UNIT TileRegisters() { _tile_loadconfig(&kLayout); }
  SHW_MATRIX_UNIT ~TileRegisters() { _tile_release(); }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;

 private:
  struct Layout {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  };
  static constexpr Layout kLayout{
      1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
};

// Whether the processor has the unit and the system lets this process use it: Linux wants to be
// asked, as it then saves the registers.
bool ask_for_matrix_unit() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBf16Tiles = 1U << 22, kTiles = 1U << 24, kVectorsOfBf16 = 1U << 5;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kBf16Tiles) == 0 || (d & kTiles) == 0)
    return false;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0 || (a & kVectorsOfBf16) == 0) return false;
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl"))
    return false;
  constexpr long kRequestState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
}
bool has_matrix_unit() {
  static const bool kHas = ask_for_matrix_unit();
  return kHas;
}

struct SplitSizes {
  int64_t depth, a_words, b_words;
};
SplitSizes split_sizes(const Gemm<float>& g) {
  // Of a whole block: a product with fewer terms takes no more.
  const int64_t panel = panel_words(std::min(g.k, kBlockDepth));
  const auto words = [&](int64_t lanes, int64_t most) {
    return parts_of(std::min(lanes, most), kPanelLanes) * panel;
  };
  return {block_depth(g.k), words(g.m, kBlockRows), words(g.n, kBlockColumns)};
}

constexpr int64_t kAlignment = 16;  // words: a line of the caches

}  // namespace

int64_t split_gemm_scratch(const Gemm<float>& g) {
  const auto gapless = [](const Matrix<const float>& x) {
    return x.row_stride == 1 || x.column_stride == 1;
  };
  if (!gapless(g.a) || !gapless(g.b) || g.m * g.n < kLeastReuse * (g.m + g.n) ||
      g.k < kLeastDepth || !has_matrix_unit())
    return 0;
  const SplitSizes sizes = split_sizes(g);
  return sizes.a_words + sizes.b_words + kAlignment;
}

void split_gemm(const Gemm<float>& g, void (*plain)(const Gemm<float>&)) {
  const SplitSizes sizes = split_sizes(g);
  const auto line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(g.scratch) / sizeof(float));
  auto* const packed_b = reinterpret_cast<uint32_t*>(g.scratch) + (-line & (kAlignment - 1));
  uint32_t* const packed_a = packed_b + sizes.b_words;
  const TileRegisters registers;
  for (int64_t j = 0; j < g.n; j += kBlockColumns)
    for (int64_t p = 0; p < g.k; p += sizes.depth) {
      Gemm<float> block = g;
      block.scratch = nullptr;
      block.n = std::min(kBlockColumns, g.n - j);
      block.k = std::min(sizes.depth, g.k - p);
      block.accumulate = g.accumulate || p > 0;
      block.b.data = &g.b.at(p, j);
      const Contents of_b = pack<Row::kPair>(
          packed_b, {block.b.data, g.b.column_stride, g.b.row_stride}, block.n, block.k);
      for (int64_t i = 0; i < g.m; i += kBlockRows) {
        block.m = std::min(kBlockRows, g.m - i);
        block.a.data = &g.a.at(i, p);
        block.c.data = &g.c.at(i, j);
        const Contents of_a = pack<Row::kLane>(
            packed_a, {block.a.data, g.a.row_stride, g.a.column_stride}, block.m, block.k);
        if (of_a.finite && of_b.finite)
          multiply_block(block, packed_a, packed_b, multiply_for(of_a, of_b));
        else
          plain(block);
      }
    }
}

#else

int64_t split_gemm_scratch(const Gemm<float>&) { return 0; }
void split_gemm(const Gemm<float>&, void (*)(const Gemm<float>&)) {}

#endif

}  // namespace shw::runtime::cpu
