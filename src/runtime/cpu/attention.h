// What the attention kernels share: shapes, operands by head, and the softmax of a block of rows.
//
// Tensors are [batch, heads, sequence, width]. One head is worked on at a time, in blocks of query
// rows against all the keys that they may see: the scores of a block fit the cache for sequences of
// some thousands, and no running maximum is needed. T is the type everything is computed in: double
// for f64, float for the others.
#pragma once
#include <algorithm>
#include <type_traits>

#include "runtime/attention_shape.h"
#include "runtime/cpu/cast.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/visible_keys.h"

namespace shw::runtime::cpu {

// One [batch, heads, rows, columns] operand, a matrix of T for each head: where it lies, or, if it
// is of another dtype or has gaps within its rows, converted into scratch memory.
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

// One [batch, heads, rows, columns] result, a matrix of T for each head: made where it lies, or, if
// it is of another dtype or has gaps within its rows, in scratch memory and stored from there.
template <class T>
class HeadResult {
 public:
  HeadResult() = default;
  explicit HeadResult(const TensorType& type);
  // `buffer` may be null: nobody wants the result. `scratch`: dense.
  Matrix<T> place(void* buffer, int64_t b, int64_t h, T* scratch) const;
  // Once place()'s matrix is complete.
  void store(const Matrix<T>& made, void* buffer, int64_t b, int64_t h) const;
  // From a dense matrix that is not place()'s.
  void store(const T* dense, void* buffer, int64_t b, int64_t h) const;

 private:
  bool direct_ = false;
  int64_t columns_ = 0, row_stride_ = 0;
  int64_t batch_bytes_ = 0, head_bytes_ = 0;
  StridedCast unpack_;
};

// Keys or values of one head as products with many queries read them, by columns: copied, so that
// the columns lie side by side, and no product has to pack them for itself.
template <class T>
class TransposedOperand {
 public:
  TransposedOperand() = default;
  // Of [most_rows, columns] at most, multiplied with `readers` rows in all.
  TransposedOperand(int64_t most_rows, int64_t columns, int64_t readers);
  int64_t scratch_elements() const { return columns_ * pitch_; }
  // [columns, rows]
  Matrix<const T> make(const Matrix<const T>& x, int64_t rows, T* scratch) const;

 private:
  int64_t columns_ = 0;
  int64_t pitch_ = 0;  // 0: nothing is copied
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

// Of n numbers in a row of memory for `room`, as many as fill whole vectors, if there is room: what
// is computed behind the n for nothing takes less time than single elements at the end.
template <class T>
int64_t whole_vectors(int64_t n, int64_t room) {
  constexpr int64_t kVector = std::is_same_v<T, float> ? 16 : 1;
  return std::min((n + kVector - 1) / kVector * kVector, room);
}

// One query's n products with keys become weights, but for a factor, which is returned; of no keys,
// and where all scores are −∞, it is 0. Scores are scale · products. `lse`: the logarithm of the
// softmax's denominator. The row has `room` ≥ n elements; those behind the n become zeros.
template <class T>
T softmax_weights(T* row, int64_t n, int64_t room, T scale, T& lse);

// Calls f(T{}) with the type that attention over `q` is computed in.
template <class F>
decltype(auto) with_attention_type(const TensorType& q, F&& f) {
  if (q.dtype == Dtype::kF64) return f(double{});
  return f(float{});
}

}  // namespace shw::runtime::cpu
