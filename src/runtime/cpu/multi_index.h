// Elements that several integer tensors together select, read (index) or written (index_put) row by
// row (runtime/index_shape.h). With attributes `size` and `cuts` the table is this rank's piece of
// a larger one.
#pragma once
#include "runtime/cpu/indices.h"
#include "runtime/cpu/odometer.h"

namespace shw::runtime::cpu {

class MultiIndex {
 public:
  // See index_shape().
  static Result<MultiIndex> create(const KernelArgs& args, const TensorType& table,
                                   size_t first_input, const TensorType& other, bool exact);

  // A row: elements that the same indices select. Its number of elements, and the bytes between
  // them in the table and in the other operand.
  struct Row {
    int64_t size = 1, table_step = 0, other_step = 0;
  };
  const Row& row() const { return row_; }

  // For each row calls f(offset of its first element in the table in bytes, or −1 if it is on
  // another rank; offset in the other operand).
  template <class F>
  Status for_each_row(void* const* buffers, F&& f) const {
    Status status;
    for_each_offset(shape_, strides_, [&](const auto& at) {
      if (!status.ok()) return;
      int64_t place = at[1];
      bool here = true;
      for (size_t k = 0; k < count_; ++k) {
        Int index;
        const auto* from = static_cast<const std::byte*>(buffers[first_input_ + k]);
        indexed_[k].load(from + at[k + 2], 0, 1, &index);
        const TablePart& part = indexed_[k].part;
        const int64_t i = index.v < 0 ? index.v + part.whole : index.v;
        if (!part.exists(i)) {
          status = index_out_of_range(index.v, part.whole);
          return;
        }
        here = here && part.has(i);
        place += part.position(i) * indexed_[k].stride_bytes;
      }
      f(here ? place : -1, at[0]);
    });
    return status;
  }

 private:
  struct Indexed {
    TablePart part;            // of the indexed dim of the table
    int64_t stride_bytes = 0;  // stride of that dim
    LoadRow<Int> load = nullptr;
  };
  static constexpr size_t kMaxIndices = kMaxRank;

  void split_off_row();

  Dims shape_;  // the iteration space, by rows
  Row row_;
  std::array<Dims, kMaxIndices + 2> strides_;  // of the other operand, the table, the index tensors
  std::array<Indexed, kMaxIndices> indexed_;
  size_t count_ = 0, first_input_ = 0;
};

}  // namespace shw::runtime::cpu
