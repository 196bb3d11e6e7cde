// Look-ups along one dim, attrs.dim: elements of a table that an integer tensor names, read
// (gather, index_select) or written (scatter). With attributes `size` and `cuts` the table is this
// rank's piece of a larger one: what lies elsewhere reads as zero, and is left out when writing.
#pragma once
#include "runtime/cpu/indices.h"
#include "runtime/cpu/odometer.h"

namespace shw::runtime::cpu {

struct Lookup {
  Dims shape;                   // of what is walked
  std::array<Dims, 3> strides;  // of the table (0 along the dim), the indices, the other operand
  TablePart part;               // of the dim of the table
  int64_t table_step = 0;       // bytes from one of its elements to the next along the dim
  LoadRow<Int> load = nullptr;  // of an index

  // Calls f(place in the table in bytes, or −1 where it is not here; place in the other operand).
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

// Of indices of the table's rank, of which each stands beside an element of `other`.
Result<Lookup> lookup_elements(const KernelArgs& args, const TensorType& table,
                               const TensorType& indices, const TensorType& other);
// Of a row of indices, each for a whole slice of `other`. What is walked are the dims up to the one
// of the look-up; a slice has the dims behind it.
Result<Lookup> lookup_slices(const KernelArgs& args, const TensorType& table,
                             const TensorType& indices, const TensorType& other);

// out ← table, as the look-up of elements says, or that of slices.
Prepared prepare_read(const KernelArgs& args, const Lookup& lookup);
Prepared prepare_read_slices(const KernelArgs& args, const Lookup& lookup);

}  // namespace shw::runtime::cpu
