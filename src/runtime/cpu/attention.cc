#include "runtime/cpu/attention.h"

#include <array>
#include <cmath>
#include <limits>

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kLanes = 16;  // independent accumulators of a row, so that it vectorises

TensorType head_type(const TensorType& type) {
  return {{type.shape[2], type.shape[3]}, {type.strides[2], type.strides[3]}, type.dtype};
}

}  // namespace

template <class T>
HeadOperand<T>::HeadOperand(const TensorType& type)
    : direct_(stored_as_is<T>(type.dtype) && (type.strides[3] == 1 || type.shape[3] == 1) &&
              type.strides[2] >= type.shape[3]),
      rows_(type.shape[2]),
      columns_(type.shape[3]),
      batch_bytes_(type.strides[0] * dtype_size(type.dtype)),
      head_bytes_(type.strides[1] * dtype_size(type.dtype)),
      row_stride_(direct_ ? type.strides[2] : columns_) {
  const TensorType head = head_type(type);
  if (!direct_) pack_ = StridedCast(dense_type<T>(head), head);
}

template <class T>
Matrix<const T> HeadOperand<T>::load(const void* buffer, int64_t b, int64_t h, T* scratch) const {
  const auto* at = static_cast<const std::byte*>(buffer) + b * batch_bytes_ + h * head_bytes_;
  if (direct_) return {reinterpret_cast<const T*>(at), row_stride_, 1};
  pack_.run(scratch, at);
  return {scratch, row_stride_, 1};
}

template <class T>
HeadResult<T>::HeadResult(const TensorType& type)
    : batch_bytes_(type.strides[0] * dtype_size(type.dtype)),
      head_bytes_(type.strides[1] * dtype_size(type.dtype)) {
  const TensorType head = head_type(type);
  unpack_ = StridedCast(head, dense_type<T>(head));
}

template <class T>
void HeadResult<T>::store(const T* dense, void* buffer, int64_t b, int64_t h) const {
  unpack_.run(static_cast<std::byte*>(buffer) + b * batch_bytes_ + h * head_bytes_, dense);
}

template <class T>
Result<ScoreBias<T>> ScoreBias<T>::create(const TensorType& type, const AttentionShape& shape) {
  const Dims scores{shape.batch, shape.heads, shape.queries, shape.keys};
  if (!broadcasts_to(type.shape, scores))
    return bad_types("the bias " + to_string(type) + " does not broadcast to the scores");
  if (!is_floating(type.dtype))
    return unimplemented("an attention mask in " + std::string(dtype_name(type.dtype)));
  ScoreBias bias;
  bias.load_ = load_row<T>(type.dtype);
  bias.strides_bytes_ = broadcast_strides_bytes(type, scores);
  return bias;
}

template <class T>
void ScoreBias<T>::add(const void* buffer, int64_t b, int64_t h, int64_t i, KeyRange keys,
                       T* row) const {
  constexpr int64_t kChunk = 512;
  T values[kChunk];
  const auto* at = static_cast<const std::byte*>(buffer) + b * strides_bytes_[0] +
                   h * strides_bytes_[1] + i * strides_bytes_[2] + keys.begin * strides_bytes_[3];
  for (int64_t j = 0; j < keys.size(); j += kChunk) {
    const int64_t count = std::min(kChunk, keys.size() - j);
    load_(at + j * strides_bytes_[3], strides_bytes_[3], count, values);
    for (int64_t c = 0; c < count; ++c) row[j + c] += values[c];
  }
}

template <class T>
T row_max(const T* x, int64_t n) {
  std::array<T, kLanes> most;
  most.fill(-std::numeric_limits<T>::infinity());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) {
      T& m = most[static_cast<size_t>(l)];
      m = x[i + l] > m ? x[i + l] : m;
    }
  T m = -std::numeric_limits<T>::infinity();
  for (; i < n; ++i) m = x[i] > m ? x[i] : m;
  for (T lane : most) m = lane > m ? lane : m;
  return m;
}

namespace {

// The sum of at(0) … at(n - 1), in kLanes sums side by side.
template <class T, class At>
T sum_in_lanes(int64_t n, const At& at) {
  std::array<T, kLanes> sums{};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) sums[static_cast<size_t>(l)] += at(i + l);
  for (size_t l = 0; i < n; ++i, ++l) sums[l] += at(i);
  for (size_t width = kLanes / 2; width > 0; width /= 2)
    for (size_t l = 0; l < width; ++l) sums[l] += sums[l + width];
  return sums[0];
}

}  // namespace

template <class T>
T row_sum(const T* x, int64_t n) {
  return sum_in_lanes<T>(n, [x](int64_t i) { return x[i]; });
}

template <class T>
T row_product(const T* x, const T* y, int64_t n) {
  return sum_in_lanes<T>(n, [x, y](int64_t i) { return x[i] * y[i]; });
}

template class HeadOperand<float>;
template class HeadOperand<double>;
template class HeadResult<float>;
template class HeadResult<double>;
template class ScoreBias<float>;
template class ScoreBias<double>;
template float row_max(const float*, int64_t);
template double row_max(const double*, int64_t);
template float row_sum(const float*, int64_t);
template double row_sum(const double*, int64_t);
template float row_product(const float*, const float*, int64_t);
template double row_product(const double*, const double*, int64_t);

}  // namespace shw::runtime::cpu
