#include "runtime/cpu/multi_index.h"

#include <algorithm>

#include "runtime/index_shape.h"

namespace shw::runtime::cpu {

Result<MultiIndex> MultiIndex::create(const KernelArgs& args, const TensorType& table,
                                      size_t first_input, const TensorType& other, bool exact) {
  SHW_ASSIGN_OR_RETURN(const IndexShape shape, index_shape(args, table, first_input, other, exact));
  MultiIndex m;
  m.count_ = shape.indexed.size();
  m.first_input_ = first_input;
  m.shape_ = shape.shape;
  m.strides_.fill(Dims(m.shape_.size(), 0));
  m.strides_[0] = shape.other;
  m.strides_[1] = shape.table;
  for (size_t k = 0; k < m.count_; ++k) {
    const IndexedDim& dim = shape.indexed[k];
    m.strides_[k + 2] = shape.indices[k];
    m.indexed_[k] = {dim.part, dim.stride_bytes, load_row<Int>(dim.dtype)};
  }
  m.split_off_row();
  return m;
}

// Splits off the trailing dims that no index tensor has, if both operands have even strides in
// them.
void MultiIndex::split_off_row() {
  const auto is_indexed = [&](size_t d) {
    return std::any_of(strides_.begin() + 2, strides_.end(),
                       [d](const Dims& s) { return s[d] != 0; });
  };
  while (!shape_.empty()) {
    const size_t d = shape_.size() - 1;
    const int64_t other = strides_[0][d], table = strides_[1][d];
    const bool continues = row_.size == 1 || (table == row_.table_step * row_.size &&
                                              other == row_.other_step * row_.size);
    if (shape_[d] != 1) {
      if (is_indexed(d) || !continues) return;
      if (row_.size == 1) row_.table_step = table, row_.other_step = other;
      row_.size *= shape_[d];
    }
    shape_.erase(d);
    for (Dims& s : strides_) s.erase(d);
  }
}

}  // namespace shw::runtime::cpu
