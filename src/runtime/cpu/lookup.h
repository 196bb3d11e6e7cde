// Look-ups along one dim, attrs.dim: an integer tensor selects elements of a table, which are read
// (gather, index_select) or written (scatter). With attributes `size` and `cuts` the table is this
// rank's piece of a larger one. Elements on other ranks read as zero, and are skipped when writing.
#pragma once
#include "runtime/cpu/indices.h"
#include "runtime/cpu/odometer.h"

namespace shw::runtime::cpu {

struct Lookup {
  Dims shape;  // the iteration space
  // Strides of the table (0 along the dim), of the indices, and of the other operand.
  std::array<Dims, 3> strides;
  TablePart part;               // of the indexed dim of the table
  int64_t table_step = 0;       // bytes between elements of the table along the dim
  LoadRow<Int> load = nullptr;  // loads an index

  // Calls f(offset in the table in bytes, or −1 if the element is on another rank; offset in the
  // other operand).
  template <class F>
  Status for_each(const void* indices, F&& f) const {
    Status status;
    for_each_offset(shape, strides, [&](const std::array<int64_t, 3>& at) {
      if (!status.ok()) return;
      Int index;
      load(static_cast<const std::byte*>(indices) + at[1], 0, 1, &index);
      if (!part.exists(index.v))
        status = index_out_of_range(index.v, part.whole);
      else
        f(part.has(index.v) ? at[0] + part.position(index.v) * table_step : -1, at[2]);
    });
    return status;
  }
};

// For an index tensor of the table's rank, with one index for each element of `other`.
Result<Lookup> lookup_elements(const KernelArgs& args, const TensorType& table,
                               const TensorType& indices, const TensorType& other);
// For a 1-D index tensor; each index selects a whole slice of `other`. The iteration space has the
// dims up to the indexed one; a slice has the dims after it.
Result<Lookup> lookup_slices(const KernelArgs& args, const TensorType& table,
                             const TensorType& indices, const TensorType& other);

// Kernels that read the table into the output, by elements or by slices.
Prepared prepare_read(const KernelArgs& args, const Lookup& lookup);
Prepared prepare_read_slices(const KernelArgs& args, const Lookup& lookup);

}  // namespace shw::runtime::cpu
