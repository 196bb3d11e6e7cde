// Products of a block of queries with the keys that they see together. Where attention is causal,
// the last rows × rows of them are a triangle, of which the products leave out what lies above the
// diagonal, in steps of some queries.
#pragma once
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/visible_keys.h"

namespace shw::runtime::cpu {

template <class T>
class QueryBlock {
 public:
  // Queries first … first + rows - 1. `all`: every product is wanted.
  QueryBlock(const VisibleKeys& visible, int64_t first, int64_t rows, bool all = false);

  const KeyRange& keys() const { return keys_; }
  int64_t rows() const { return rows_; }

  // out [rows, n] = x [rows, width] · keys [width, n]. Of keys that a query does not see, elements
  // may stay as they are.
  void times_keys(const Matrix<const T>& x, const Matrix<const T>& keys, int64_t width,
                  T* out) const;
  // out [rows, width] = weights [rows, n] · x [n, width]. Weights of keys that a query does not see
  // are zero, or not read.
  void sum_keys(const T* weights, const Matrix<const T>& x, int64_t width,
                const Matrix<T>& out) const;
  // out [n, width] += weightsᵀ · x [rows, width], likewise.
  void add_queries(const T* weights, const Matrix<const T>& x, int64_t width,
                   const Matrix<T>& out) const;

 private:
  static constexpr int64_t kStep = 8;  // queries, and keys, of a step of the triangle
  int64_t n() const { return keys_.size(); }
  int64_t before() const { return n() - rows_; }  // keys that all queries see

  int64_t rows_;
  KeyRange keys_;
  bool triangle_;
};

}  // namespace shw::runtime::cpu
