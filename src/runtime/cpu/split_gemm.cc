#include "runtime/cpu/split_gemm.h"

#include "runtime/cpu/split_pack.h"

#ifdef SHW_HAVE_MATRIX_UNIT
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstring>

namespace shw::runtime::cpu {

#ifdef SHW_HAVE_MATRIX_UNIT

namespace {

// A block of A has 768 KiB, half of the second-level cache of any machine with the unit. It is read
// again for each panel of B, which has 96 KiB. A deeper block would read C less often.
constexpr int64_t kBlockDepth = 512, kBlockRows = 256, kBlockColumns = 2048;
// Packing pays off if each number is used in at least this many products. Measured: as fast as
// vector units at 50. The reuse is half of the harmonic mean of the rows and columns of C.
constexpr int64_t kLeastReuse = 64, kLeastDepth = 32;

// Divides the depth into equal blocks of at most kBlockDepth.
int64_t block_depth(int64_t k) {
  const int64_t blocks = std::max<int64_t>(num_blocks(k, kBlockDepth), 1);
  return num_blocks(num_blocks(k, blocks), kStepDepth) * kStepDepth;
}

// The panels of 32 × 32 results.
struct Panels {
  const uint32_t *a, *b;
  int64_t steps;
  float* c;
  int64_t c_pitch;  // bytes
  bool accumulate;
};

// A compiler barrier: GCC does not know that loads and stores of tiles access memory.
inline void settle_memory() { asm volatile("" ::: "memory"); }

// Tile registers: 0 to 3 hold results, 4 and 5 A, 6 and 7 B. Each function loads a part of one
// operand, or of both, and adds its products with the loaded part of the other.
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

// For numbers with kA and kB parts. Products of parts i and j are needed if i + j < 3. The order
// changes one operand's part at a time, so that few parts are loaded twice. The largest product
// comes last. So a product with 1 is exact to the last bit, and a single term is rounded once.
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
MultiplyPanels multiply_for(const SplitContents& a, const SplitContents& b) {
  constexpr MultiplyPanels kAll[kParts][kParts] = {
      {multiply_panels<1, 1>, multiply_panels<1, 2>, multiply_panels<1, 3>},
      {multiply_panels<2, 1>, multiply_panels<2, 2>, multiply_panels<2, 3>},
      {multiply_panels<3, 1>, multiply_panels<3, 2>, multiply_panels<3, 3>}};
  return kAll[a.parts - 1][b.parts - 1];
}

// Computes results at the edge of C via memory that has room for whole panels.
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

// `block` gives the sizes, C, and whether to accumulate; a and b are packed.
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

// Configures all eight tile registers with full size on this thread, during its lifetime.
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

// Whether the processor has the unit, and the system lets this process use it. Linux requires a
// request by the process, because it then saves the registers.
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

// Words of scratch memory.
struct SplitSizes {
  int64_t of_a, of_b;
};
SplitSizes split_sizes(int64_t m, int64_t n, int64_t k) {
  // Sized for a whole block, so that a product with fewer terms needs no more.
  const int64_t panel = panel_words(std::min(k, kBlockDepth));
  const auto words = [&](int64_t lanes, int64_t most) {
    return num_blocks(std::min(lanes, most), kPanelLanes) * panel;
  };
  return {words(m, kBlockRows), words(n, kBlockColumns)};
}

constexpr int64_t kLineWords = 16;  // words per cache line

template <class G>
int64_t scratch_of(const G& g) {
  const auto gapless = [](const auto& x) { return x.row_stride == 1 || x.column_stride == 1; };
  if (!gapless(g.a) || !gapless(g.b) || g.m * g.n < kLeastReuse * (g.m + g.n) ||
      g.k < kLeastDepth || !has_matrix_unit())
    return 0;
  const SplitSizes sizes = split_sizes(g.m, g.n, g.k);
  return sizes.of_a + sizes.of_b + kLineWords;
}

// `whole` gives the sizes, C, and whether to accumulate. It also has A and B if `plain` is given,
// which multiplies blocks of them.
template <class T>
void multiply_all(const Gemm<float>& whole, const Matrix<const T>& a, const Matrix<const T>& b,
                  void (*plain)(const Gemm<float>&)) {
  const auto line =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(whole.scratch) / sizeof(float));
  auto* const packed_b = reinterpret_cast<uint32_t*>(whole.scratch) + (-line & (kLineWords - 1));
  uint32_t* const packed_a = packed_b + split_sizes(whole.m, whole.n, whole.k).of_b;
  const int64_t depth = block_depth(whole.k);
  const TileRegisters registers;
  Gemm<float> block = whole;
  block.scratch = nullptr;
  for (int64_t j = 0; j < whole.n; j += kBlockColumns)
    for (int64_t p = 0; p < whole.k; p += depth) {
      block.n = std::min(kBlockColumns, whole.n - j);
      block.k = std::min(depth, whole.k - p);
      block.accumulate = whole.accumulate || p > 0;
      const SplitContents of_b = pack_panels<T>(
          packed_b, {&b.at(p, j), b.column_stride, b.row_stride}, block.n, block.k, TileRow::kPair);
      for (int64_t i = 0; i < whole.m; i += kBlockRows) {
        block.m = std::min(kBlockRows, whole.m - i);
        block.c.data = &whole.c.at(i, j);
        const SplitContents of_a =
            pack_panels<T>(packed_a, {&a.at(i, p), a.row_stride, a.column_stride}, block.m, block.k,
                           TileRow::kLane);
        if (of_a.finite && of_b.finite) {
          multiply_block(block, packed_a, packed_b, multiply_for(of_a, of_b));
          continue;
        }
        block.a.data = &whole.a.at(i, p);
        block.b.data = &whole.b.at(p, j);
        plain(block);
      }
    }
}

}  // namespace

int64_t split_gemm_scratch(const Gemm<float>& g) { return scratch_of(g); }
void split_gemm(const Gemm<float>& g, void (*plain)(const Gemm<float>&)) {
  multiply_all(g, g.a, g.b, plain);
}

int64_t bf16_gemm_scratch(const Bf16Gemm& g) { return scratch_of(g); }
void bf16_gemm(const Bf16Gemm& g) {
  multiply_all<uint16_t>({g.m, g.n, g.k, {}, {}, g.c, false, g.scratch}, g.a, g.b, nullptr);
}

#else

int64_t split_gemm_scratch(const Gemm<float>&) { return 0; }
void split_gemm(const Gemm<float>&, void (*)(const Gemm<float>&)) {}
int64_t bf16_gemm_scratch(const Bf16Gemm&) { return 0; }
void bf16_gemm(const Bf16Gemm&) {}

#endif

}  // namespace shw::runtime::cpu
