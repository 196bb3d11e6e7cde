#include "tensor/tensor_type.h"

#include <algorithm>
#include <charconv>

#include "support/hash.h"

namespace shw {
namespace {
constexpr int64_t kTensorLimit = int64_t{1} << 60;  // bytes, and elements that strides span
}  // namespace

int64_t TensorType::numel() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

bool TensorType::contiguous() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;  // no element, no gap
  int64_t want = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != want) return false;
    want *= shape[i];
  }
  return true;
}

Dims row_major_strides(const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    const int64_t d = std::max<int64_t>(shape[i], 1);
    strides[i - 1] = strides[i] > kTensorLimit / d ? kTensorLimit : strides[i] * d;
  }
  return strides;
}

TensorType row_major(Dtype dtype, Dims shape) {
  const Dims strides = row_major_strides(shape);
  return {shape, strides, dtype};
}

uint64_t hash_of(const TensorType& type) {
  uint64_t h = static_cast<uint64_t>(type.dtype) << 8 | type.shape.size();
  h = hash_span(type.shape.span(), h);
  return hash_span(type.strides.span(), h);
}

Status check_tensor_type(const TensorType& type) {
  if (type.shape.size() != type.strides.size())
    return invalid_argument("the type has " + std::to_string(type.shape.size()) + " dims but " +
                            std::to_string(type.strides.size()) + " strides");
  if (!dtype_from_number(static_cast<int64_t>(type.dtype)))
    return invalid_argument("unknown dtype number " + std::to_string(static_cast<int>(type.dtype)));
  int64_t bytes = dtype_size(type.dtype);
  for (size_t i = 0; i < type.shape.size(); ++i) {
    const int64_t d = type.shape[i];
    if (d < 0)
      return invalid_argument("dim " + std::to_string(i) + " is negative: " + std::to_string(d));
    if (type.strides[i] < 0)
      return invalid_argument("stride " + std::to_string(i) +
                              " is negative: " + std::to_string(type.strides[i]));
    if (type.strides[i] > kTensorLimit / std::max<int64_t>(d, 1) ||
        (d != 0 && bytes > kTensorLimit / d))
      return invalid_argument("the tensor is larger than 2^60 bytes: " + to_string(type));
    if (d != 0) bytes *= d;
  }
  return {};
}

Result<TensorType> parse_tensor_type(std::string_view text) {
  const auto refuse = [&] {
    return invalid_argument("'" + std::string(text) + "' is no type such as f32[4,8]");
  };
  const size_t open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') return refuse();
  const auto dtype = dtype_from_name(text.substr(0, open));
  std::string_view sizes = text.substr(open + 1, text.size() - open - 2);
  if (!dtype) return refuse();
  Dims shape;
  while (!sizes.empty()) {
    int64_t n = 0;
    const auto [end, error] = std::from_chars(sizes.data(), sizes.data() + sizes.size(), n);
    const auto read = static_cast<size_t>(end - sizes.data());
    if (error != std::errc() || n < 0 || shape.size() == kMaxRank ||
        (read < sizes.size() && (sizes[read] != ',' || read + 1 == sizes.size())))
      return refuse();
    shape.push_back(n);
    sizes.remove_prefix(std::min(read + 1, sizes.size()));
  }
  return row_major(*dtype, shape);
}

std::string to_string(const TensorType& type) {
  std::string s(dtype_name(type.dtype));
  const auto list = [&s](char open, const Dims& dims, char close) {
    s += open;
    for (size_t i = 0; i < dims.size(); ++i) s += (i ? "," : "") + std::to_string(dims[i]);
    s += close;
  };
  list('[', type.shape, ']');
  if (type.strides != row_major_strides(type.shape)) list('{', type.strides, '}');
  return s;
}

}  // namespace shw
