#include "rewrite/at_sizes.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "support/stable_sort.h"

namespace shw {
namespace {

// The same order of dims in memory, without gaps.
Dims strides_like(const TensorType& old, const Dims& shape) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  sort_stably(order, [&](size_t a, size_t b) { return old.strides[a] > old.strides[b]; });
  Dims in_memory;
  for (size_t d : order) in_memory.push_back(shape[d]);
  const Dims dense = row_major_strides(in_memory);
  Dims strides(shape.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) strides[order[i]] = dense[i];
  return strides;
}

}  // namespace

Result<TensorType> type_at(const TensorType& at_hints, const Exprs& exprs,
                           std::span<const int64_t> sizes, std::span<const Symbol> symbols) {
  TensorType type = at_hints;
  for (size_t d = 0; d < exprs.size(); ++d) {
    const auto value = value_of(exprs[d], sizes);
    if (!value || *value < 0)
      return invalid_argument("size " + to_string(exprs[d], symbols) + " of dim " +
                              std::to_string(d) + " is " + (value ? "negative" : "too large"));
    type.shape[d] = *value;
  }
  type.strides = strides_like(at_hints, type.shape);
  SHW_RETURN_IF_ERROR(check_tensor_type(type));
  return type;
}

Status set_at(AttrKey key, const AttrExprs& value, std::span<const int64_t> sizes, Attrs& attrs) {
  std::vector<int64_t> numbers;
  for (const Expr& e : value.exprs) {
    const auto number = value_of(e, sizes);
    if (!number)
      return invalid_argument("attribute '" + std::string(attr_key_name(key)) + "' is too large");
    numbers.push_back(*number);
  }
  if (value.is_list)
    attrs.set(key, std::move(numbers));
  else
    attrs.set(key, numbers[0]);
  return {};
}

}  // namespace shw
