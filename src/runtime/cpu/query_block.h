// Products of a block of queries with the keys that they see together. In causal attention the last
// rows × rows of these products form a triangle. The part above the diagonal is skipped, in steps
// of several queries.
#pragma once
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/visible_keys.h"

namespace shw::runtime::cpu {

template <class T>
class QueryBlock {
 public:
  // For queries first … first + rows - 1. `all`: every product is needed.
  QueryBlock(const VisibleKeys& visible, int64_t first, int64_t rows, bool all = false);

  const KeyRange& keys() const { return keys_; }
  int64_t rows() const { return rows_; }

  // out [rows, n] = x [rows, width] · keys [width, n]. Elements for keys that a query does not see
  // may be left unchanged.
  void times_keys(const Matrix<const T>& x, const Matrix<const T>& keys, int64_t width,
                  T* out) const;
  // out [rows, width] = weights [rows, n] · x [n, width]. The weights of keys that a query does not
  // see must be zero, unless they are in the skipped part.
  void sum_keys(const T* weights, const Matrix<const T>& x, int64_t width,
                const Matrix<T>& out) const;
  // out [n, width] += weightsᵀ · x [rows, width], with the same requirement.
  void add_queries(const T* weights, const Matrix<const T>& x, int64_t width,
                   const Matrix<T>& out) const;

 private:
  static constexpr int64_t kStep = 8;  // queries, and keys, per step of the triangle
  int64_t n() const { return keys_.size(); }
  int64_t before() const { return n() - rows_; }  // keys that all queries of the block see

  int64_t rows_;
  KeyRange keys_;
  bool triangle_;
};

}  // namespace shw::runtime::cpu
