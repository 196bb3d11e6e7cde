// Loops that compute a formula for the elements of rows, as machine code.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/cpu/codegen/formula.h"

namespace shw::runtime::cpu {

inline constexpr int64_t kVectorBytes = 64;
inline constexpr size_t kMostRowPointers = 10;  // per loop; limited by the general registers

// The start of a row: an offset from a pointer.
struct RowPlace {
  int32_t pointer = -1;
  int32_t offset_bytes = 0;
  bool bf16 = false;  // elements are bf16; otherwise f32
};

// Describes a loop. A row that is summed is traversed once for the sum, and again for values that
// depend on the sum.
struct RowLoop {
  // By pointer: whether it points to one number for the whole row, instead of an element for each
  // column.
  std::vector<bool> one_number;
  // By pointer: the distance between rows, and how far ahead rows are prefetched (0: not at all).
  std::vector<int32_t> stride_bytes, ahead_bytes;
  Formula formula;
  std::vector<RowPlace> inputs;  // inputs of the formula
  // The nodes of each traversal follow those of the previous one; these are the ends of all but the
  // last. From earlier traversals, a traversal can use sums, and nodes with one value for the whole
  // row.
  std::vector<int32_t> walk_ends;
  struct Store {
    int32_t node;  // for bf16 it must already be rounded
    RowPlace place;
    // The last node that is computed for an element before this store.
    int32_t after;
    bool may_stream = false;
  };
  std::vector<Store> stores;
  // Whether stores with `may_stream` bypass the caches. The rows that they write must then begin at
  // multiples of kVectorBytes, and finish() must be called before another thread reads them.
  bool streams = false;
};

// Owns the code, in memory pages that are executable and not writable.
class CompiledRow {
 public:
  // Null: the system provides no executable memory.
  static std::unique_ptr<const CompiledRow> of(std::span<const uint8_t> code);
  CompiledRow(const CompiledRow&) = delete;
  CompiledRow& operator=(const CompiledRow&) = delete;
  ~CompiledRow();

  // Requires at least one row; each has n elements.
  void run(std::byte* const* pointers, int64_t n, int64_t rows) const {
    reinterpret_cast<void (*)(std::byte* const*, int64_t, int64_t)>(code_)(pointers, n, rows);
  }
  // Call after all rows of a loop with streaming stores.
  static void finish();

 private:
  CompiledRow(void* code, size_t bytes) : code_(code), bytes_(bytes) {}
  void* code_;
  size_t bytes_;
};

// Whether loops can be compiled on this machine and in this build.
bool compiles_loops();
// Null: loops cannot be compiled, or this one needs too many registers. Compiling takes less than
// 0.1 ms.
std::unique_ptr<const CompiledRow> compile(const RowLoop& loop);

}  // namespace shw::runtime::cpu
