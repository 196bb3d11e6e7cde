#include "runtime/cpu/multi_index.h"

#include <algorithm>
#include <vector>

namespace shw::runtime::cpu {

Result<MultiIndex> MultiIndex::create(const KernelArgs& args, const TensorType& table,
                                      size_t first_input, const TensorType& other, bool exact) {
  const size_t count = args.inputs.size() - first_input;
  const std::vector<int64_t>& named = args.attrs.get_ints(AttrKey::kDims);
  const auto refuse = [&] {
    return bad_types(std::to_string(count) + " index tensors do not stand between " +
                     to_string(table) + " and " + to_string(other));
  };
  if (count == 0 || count > table.shape.size() || (!named.empty() && named.size() != count))
    return refuse();
  std::array<bool, kMaxRank> gone{};
  std::vector<size_t> dims;
  Dims block;  // the indices' broadcast shape
  for (size_t k = 0; k < count; ++k) {
    const int64_t dim = named.empty() ? static_cast<int64_t>(k) : named[k];
    const TensorType& t = *args.inputs[first_input + k];
    if (dim < 0 || dim >= table.rank() || gone[static_cast<size_t>(dim)] ||
        (k > 0 && static_cast<size_t>(dim) < dims.back()) || !is_index_dtype(t.dtype))
      return refuse();
    dims.push_back(static_cast<size_t>(dim));
    gone[dims.back()] = true;
    while (block.size() < t.shape.size()) block.insert(0, 1);
    const size_t lacks = block.size() - t.shape.size();
    for (size_t d = 0; d < t.shape.size(); ++d)
      if (block[lacks + d] == 1) block[lacks + d] = t.shape[d];
  }
  if (table.shape.size() - count + block.size() > kMaxRank) return refuse();
  const bool neighbours = dims.back() - dims.front() + 1 == count;
  const size_t first = neighbours ? dims.front() : 0;

  MultiIndex m;
  m.count_ = count;
  m.first_input_ = first_input;
  Dims& in_table = m.strides_[1];
  for (size_t d = 0; d < table.shape.size(); ++d) {
    if (gone[d]) continue;
    m.shape_.push_back(table.shape[d]);
    in_table.push_back(table.strides[d] * dtype_size(table.dtype));
  }
  for (size_t b = 0; b < block.size(); ++b) {
    m.shape_.insert(first + b, block[b]);
    in_table.insert(first + b, 0);
  }
  if (exact ? other.shape != m.shape_ : !broadcasts_to(other.shape, m.shape_)) return refuse();
  m.strides_[0] = broadcast_strides_bytes(other, m.shape_);
  for (size_t k = 0; k < kMaxIndices; ++k) {
    Dims& strides = m.strides_[k + 2];
    strides = Dims(m.shape_.size(), 0);
    if (k >= count) continue;
    const TensorType& t = *args.inputs[first_input + k];
    if (!broadcasts_to(t.shape, block)) return refuse();
    const Dims own = broadcast_strides_bytes(t, block);
    for (size_t b = 0; b < block.size(); ++b) strides[first + b] = own[b];
    SHW_ASSIGN_OR_RETURN(const TablePart part, table_part(args, table, dims[k]));
    m.indexed_[k] = {part, table.strides[dims[k]] * dtype_size(table.dtype),
                     load_row<Int>(t.dtype)};
  }
  m.split_off_row();
  return m;
}

// Trailing dims that no index tensor has, as far as both operands step through them evenly.
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
