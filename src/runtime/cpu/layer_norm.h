// Code that layer norm and its backward step share: rows over the normalised dims, gathered from
// any window.
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/rows.h"
#include "runtime/norm_shape.h"

namespace shw::runtime::cpu {

// The elements of a tensor in the dims from `from` on, as a row of T.
template <class T>
class NormRow {
 public:
  NormRow() = default;
  NormRow(const TensorType& t, size_t from)
      : step_bytes_(t.strides.empty() ? 0 : t.strides.back() * dtype_size(t.dtype)),
        strides_{trailing_strides_bytes(t, from)},
        load_(load_row<T>(t.dtype)),
        store_(store_row<T>(t.dtype)) {
    for (size_t d = from; d < t.shape.size(); ++d) outer_.push_back(t.shape[d]);
    if (outer_.empty()) return;
    run_ = outer_.back();
    if (run_ > 0) outer_[outer_.size() - 1] = 1;
  }
  void load(const std::byte* from, T* to) const {
    for_each_offset(outer_, strides_, [&](const std::array<int64_t, 1>& at) {
      load_(from + at[0], step_bytes_, run_, to);
      to += run_;
    });
  }
  void store(const T* from, std::byte* to) const {
    for_each_offset(outer_, strides_, [&](const std::array<int64_t, 1>& at) {
      store_(from, run_, to + at[0], step_bytes_);
      from += run_;
    });
  }

 private:
  Dims outer_;
  int64_t run_ = 1, step_bytes_ = 0;
  std::array<Dims, 1> strides_;
  LoadRow<T> load_ = nullptr;
  StoreRow<T> store_ = nullptr;
};

// For `x`, normalised from dim `from` on: the shape of the leading dims, and the number of elements
// per row.
struct NormShape {
  Dims rows;
  int64_t count = 1;
  NormShape(const TensorType& x, size_t from) {
    for (size_t d = 0; d < x.shape.size(); ++d)
      if (d < from)
        rows.push_back(x.shape[d]);
      else
        count *= x.shape[d];
  }
};

}  // namespace shw::runtime::cpu
