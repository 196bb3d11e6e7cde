#include "runtime/cpu/attention.h"

#include <cmath>
#include <limits>

#include "runtime/cpu/codegen/math.h"
#include "runtime/cpu/row_sums.h"
#include "runtime/simd.h"
#include "runtime/transpose.h"

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kFloatsInLine = 16;  // floats per cache line

TensorType head_type(const TensorType& type) {
  return {{type.shape[2], type.shape[3]}, {type.strides[2], type.strides[3]}, type.dtype};
}

// Whether memory holds matrices of T with dense rows.
template <class T>
bool is_direct(const TensorType& type) {
  return stored_as_is<T>(type.dtype) && (type.strides[3] == 1 || type.shape[3] == 1) &&
         type.strides[2] >= type.shape[3];
}

}  // namespace

template <class T>
HeadOperand<T>::HeadOperand(const TensorType& type)
    : direct_(is_direct<T>(type)),
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
    : direct_(is_direct<T>(type)),
      columns_(type.shape[3]),
      row_stride_(type.strides[2]),
      batch_bytes_(type.strides[0] * dtype_size(type.dtype)),
      head_bytes_(type.strides[1] * dtype_size(type.dtype)) {
  const TensorType head = head_type(type);
  unpack_ = StridedCast(head, dense_type<T>(head));
}

template <class T>
Matrix<T> HeadResult<T>::place(void* buffer, int64_t b, int64_t h, T* scratch) const {
  if (!direct_ || buffer == nullptr) return {scratch, columns_, 1};
  auto* at = static_cast<std::byte*>(buffer) + b * batch_bytes_ + h * head_bytes_;
  return {reinterpret_cast<T*>(at), row_stride_, 1};
}

template <class T>
void HeadResult<T>::store(const Matrix<T>& made, void* buffer, int64_t b, int64_t h) const {
  if (!direct_ && buffer != nullptr) store(made.data, buffer, b, h);
}

template <class T>
void HeadResult<T>::store(const T* dense, void* buffer, int64_t b, int64_t h) const {
  unpack_.run(static_cast<std::byte*>(buffer) + b * batch_bytes_ + h * head_bytes_, dense);
}

template <class T>
TransposedOperand<T>::TransposedOperand(int64_t most_rows, int64_t columns, int64_t readers)
    : columns_(columns) {
  constexpr int64_t kLeastReaders = 32;
  // Pad the pitch by one cache line: columns at a distance of whole pages would map to the same
  // cache sets.
  if (std::is_same_v<T, float> && readers >= kLeastReaders)
    pitch_ = (most_rows + kFloatsInLine - 1) / kFloatsInLine * kFloatsInLine + kFloatsInLine;
}

template <class T>
Matrix<const T> TransposedOperand<T>::make(const Matrix<const T>& x, int64_t rows,
                                           T* scratch) const {
  if (pitch_ == 0) return {x.data, x.column_stride, x.row_stride};
  // Process as many rows at a time as fill cache lines of the copy, so that source and copy are
  // both accessed line by line.
  for (int64_t r = 0; r < rows; r += kFloatsInLine)
    transpose(reinterpret_cast<uint32_t*>(scratch + r), pitch_,
              reinterpret_cast<const uint32_t*>(&x.at(r, 0)), x.row_stride,
              std::min(kFloatsInLine, rows - r), columns_);
  return {scratch, pitch_, 1};
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
T softmax_weights(T* row, int64_t n, int64_t room, T scale, T& lse) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  // For a positive scale the largest product gives the largest score, so the scale is applied
  // later.
  if (!(scale > 0)) {
    vector_loop(n, [&](int64_t j) { row[j] *= scale; });
    scale = 1;
  }
  const int64_t whole = whole_vectors<T>(n, room);
  std::fill(row + n, row + whole, -kInfinity);  // their weights are 0
  const T most = row_max(row, whole) * scale;
  // A query that sees no keys gets weights of zero, not 0/0.
  const T shift = most == -kInfinity ? T{0} : most;
  long_vector_loop(whole, [=](int64_t j) { row[j] = fast_exp(row[j] * scale - shift); });
  std::fill(row + whole, row + room, T{0});
  const T sum = row_sum(row, whole);
  lse = shift + std::log(sum);
  return sum > 0 || sum != sum ? 1 / sum : T{0};
}

template <class T>
void drop_weights(const AttentionDropout& dropout, u64 seed, u64 place, int64_t n, const T* from,
                  T* to) {
  const T scale = static_cast<T>(dropout.dropped.scale);
  long_vector_loop(n, [=, least = dropout.dropped.least](int64_t j) {
    to[j] = stays(seed, place + static_cast<u64>(j), least) ? from[j] * scale : T{0};
  });
}

template void drop_weights(const AttentionDropout&, u64, u64, int64_t, const float*, float*);
template void drop_weights(const AttentionDropout&, u64, u64, int64_t, const double*, double*);
template float softmax_weights(float*, int64_t, int64_t, float, float&);
template double softmax_weights(double*, int64_t, int64_t, double, double&);
template class HeadOperand<float>;
template class HeadOperand<double>;
template class HeadResult<float>;
template class HeadResult<double>;
template class TransposedOperand<float>;
template class TransposedOperand<double>;
template class ScoreBias<float>;
template class ScoreBias<double>;

}  // namespace shw::runtime::cpu
