// A copy between two windows of the same shape that converts the dtype. Used by clone, by the
// casts, and to pack matrix operands.
#pragma once
#include <type_traits>

#include "runtime/cpu/rows.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {

// The type of a dense row-major copy of `t` with elements of type T.
template <class T>
TensorType dense_type(const TensorType& t) {
  return row_major(std::is_same_v<T, double> ? Dtype::kF64 : Dtype::kF32, t.shape);
}

class StridedCast {
 public:
  StridedCast() = default;
  StridedCast(const TensorType& to, const TensorType& from);  // equal shapes
  void run(void* to, const void* from) const { run_(*this, to, from); }

 private:
  template <class T>
  static void run_as(const StridedCast& self, void* to, const void* from);

  StridedCopy copy_;  // equal dtypes
  StridedLoop loop_;
  Dtype to_ = Dtype::kF32, from_ = Dtype::kF32;
  void (*run_)(const StridedCast&, void*, const void*) = nullptr;
};

}  // namespace shw::runtime::cpu
