// Loops over the elements of rows that compute a formula, as machine code.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/cpu/codegen/formula.h"

namespace shw::runtime::cpu {

inline constexpr int64_t kVectorBytes = 64;
inline constexpr size_t kMostRowPointers = 10;  // of a loop: general registers

// Where a row begins: so many bytes behind what a pointer points to.
struct RowPlace {
  int32_t pointer = -1;
  int32_t offset_bytes = 0;
  bool bf16 = false;  // its elements; else f32
};

// What a loop does. A row that is summed is walked once for the sum, and again for what depends on
// it.
struct RowLoop {
  // By pointer that a row begins at: whether it points to one number for the whole row, or to as
  // many as the row has.
  std::vector<bool> one_number;
  // By pointer: from one row to the next; and how far ahead a row is fetched meanwhile, 0: not at
  // all.
  std::vector<int32_t> stride_bytes, ahead_bytes;
  Formula formula;
  std::vector<RowPlace> inputs;  // of the formula
  // The nodes of each walk follow those of the one before: the ends of all but the last. A walk
  // reads sums of those before it, and of their other nodes what is one number for the row.
  std::vector<int32_t> walk_ends;
  struct Store {
    int32_t node;  // of bf16: it is rounded already
    RowPlace place;
    int32_t after;  // the node: those up to it have been computed for the element before
    bool may_stream = false;
  };
  std::vector<Store> stores;
  // Whether stores that say so go to memory past the caches. The rows that they write begin at
  // multiples of kVectorBytes then, and finish() comes before anybody else reads them.
  bool streams = false;
};

// Owns the code, in pages that can be executed and not written.
class CompiledRow {
 public:
  // Null: the system gives no such memory.
  static std::unique_ptr<const CompiledRow> of(std::span<const uint8_t> code);
  CompiledRow(const CompiledRow&) = delete;
  CompiledRow& operator=(const CompiledRow&) = delete;
  ~CompiledRow();

  // At least one row, of n elements each.
  void run(std::byte* const* pointers, int64_t n, int64_t rows) const {
    reinterpret_cast<void (*)(std::byte* const*, int64_t, int64_t)>(code_)(pointers, n, rows);
  }
  // After all rows of a loop that streams.
  static void finish();

 private:
  CompiledRow(void* code, size_t bytes) : code_(code), bytes_(bytes) {}
  void* code_;
  size_t bytes_;
};

// Whether this machine and this build compile loops at all.
bool compiles_loops();
// Null: they do not, or the loop needs more registers than there are. A loop is compiled within
// 0.1 ms.
std::unique_ptr<const CompiledRow> compile(const RowLoop& loop);

}  // namespace shw::runtime::cpu
