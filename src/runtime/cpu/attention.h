// Code that the attention kernels share: shapes, operands by head, and the softmax of a block of
// rows.
//
// Tensors are [batch, heads, sequence, width]. The kernels process one head at a time, in blocks of
// query rows, each against all the keys that its queries may see. For sequences of some thousands
// of tokens the scores of a block fit in the cache, and no running maximum is needed. T is the type
// of all computations: double for f64, float for the others.
#pragma once
#include <algorithm>
#include <type_traits>

#include "runtime/attention_dropout.h"
#include "runtime/attention_shape.h"
#include "runtime/cpu/cast.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/visible_keys.h"

namespace shw::runtime::cpu {

// A [batch, heads, rows, columns] operand, seen as a matrix of T for each head. The matrix is read
// in place. If the operand has another dtype, or gaps within its rows, the matrix is first
// converted into scratch memory.
template <class T>
class HeadOperand {
 public:
  HeadOperand() = default;
  explicit HeadOperand(const TensorType& type);
  int64_t scratch_elements() const { return direct_ ? 0 : rows_ * columns_; }
  Matrix<const T> load(const void* buffer, int64_t b, int64_t h, T* scratch) const;

 private:
  bool direct_ = false;
  int64_t rows_ = 0, columns_ = 0;
  int64_t batch_bytes_ = 0, head_bytes_ = 0, row_stride_ = 0;
  StridedCast pack_;
};

// A [batch, heads, rows, columns] result, seen as a matrix of T for each head. The matrix is
// computed in place. If the result has another dtype, or gaps within its rows, the matrix is
// computed in scratch memory and then stored.
template <class T>
class HeadResult {
 public:
  HeadResult() = default;
  explicit HeadResult(const TensorType& type);
  // The matrix to compute into. `buffer` null: the result is not needed. `scratch`: dense.
  Matrix<T> place(void* buffer, int64_t b, int64_t h, T* scratch) const;
  // Call once the matrix of place() is complete.
  void store(const Matrix<T>& made, void* buffer, int64_t b, int64_t h) const;
  // Stores a dense matrix other than that of place().
  void store(const T* dense, void* buffer, int64_t b, int64_t h) const;

 private:
  bool direct_ = false;
  int64_t columns_ = 0, row_stride_ = 0;
  int64_t batch_bytes_ = 0, head_bytes_ = 0;
  StridedCast unpack_;
};

// The transposed keys or values of one head, for products with many queries. They are copied once
// so that columns are contiguous; then no product has to pack them itself.
template <class T>
class TransposedOperand {
 public:
  TransposedOperand() = default;
  // For matrices of up to [most_rows, columns], which are multiplied by `readers` rows in total.
  TransposedOperand(int64_t most_rows, int64_t columns, int64_t readers);
  int64_t scratch_elements() const { return columns_ * pitch_; }
  // [columns, rows]
  Matrix<const T> make(const Matrix<const T>& x, int64_t rows, T* scratch) const;

 private:
  int64_t columns_ = 0;
  int64_t pitch_ = 0;  // 0: the operand is not copied
};

// An additive bias that broadcasts to [batch, heads, queries, keys].
template <class T>
class ScoreBias {
 public:
  ScoreBias() = default;
  static Result<ScoreBias> create(const TensorType& type, const AttentionShape& shape);
  // row[j] += bias of query i and of the j-th of `keys`.
  void add(const void* buffer, int64_t b, int64_t h, int64_t i, KeyRange keys, T* row) const;

 private:
  LoadRow<T> load_ = nullptr;
  Dims strides_bytes_;
};

// `n` rounded up to whole vectors, at most `room`, the number of elements in the row's memory.
// Computing the additional elements is faster than computing the last ones one at a time.
template <class T>
int64_t whole_vectors(int64_t n, int64_t room) {
  constexpr int64_t kVector = std::is_same_v<T, float> ? 16 : 1;
  return std::min((n + kVector - 1) / kVector * kVector, room);
}

// Replaces one query's n products with keys by weights that still have to be multiplied by the
// returned factor. The factor is 0 if there are no keys, or if all scores are −∞. Scores are scale
// · products. `lse` becomes the logarithm of the softmax's denominator. The row has `room` ≥ n
// elements; those after the first n become zeros.
template <class T>
T softmax_weights(T* row, int64_t n, int64_t room, T scale, T& lse);

// Applies dropout to the weights of `n` consecutive pairs, of which the first has this place:
// to[j] = from[j] · scale, or 0. `to` may be `from`.
template <class T>
void drop_weights(const AttentionDropout& dropout, u64 seed, u64 place, int64_t n, const T* from,
                  T* to);

// Calls f(T{}) with the type of the computations for queries of type `q`.
template <class F>
decltype(auto) with_attention_type(const TensorType& q, F&& f) {
  if (q.dtype == Dtype::kF64) return f(double{});
  return f(float{});
}

}  // namespace shw::runtime::cpu
