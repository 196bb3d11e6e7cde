#include "runtime/cpu/query_block.h"

#include <algorithm>

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kLanesOfVector = 16;

template <class T>
Matrix<T> part_of(const Matrix<T>& x, int64_t row, int64_t column = 0) {
  return {&x.at(row, column), x.row_stride, x.column_stride};
}

}  // namespace

template <class T>
QueryBlock<T>::QueryBlock(const VisibleKeys& visible, int64_t first, int64_t rows, bool all)
    : rows_(rows), keys_(visible.of_block(first, rows)) {
  // With more keys the triangle is a small part of the work, and reading data once for all queries
  // matters more.
  constexpr int64_t kMostKeys = 512;
  triangle_ = !all && rows % kStep == 0 && n() >= rows && n() <= kMostKeys;
  for (int64_t r = 0; triangle_ && r < rows; r += kStep) {
    const KeyRange step = visible.of_block(first + r, kStep);
    triangle_ = step.begin == keys_.begin && step.size() == before() + r + kStep;
  }
}

template <class T>
void QueryBlock<T>::times_keys(const Matrix<const T>& x, const Matrix<const T>& keys, int64_t width,
                               T* out) const {
  const Matrix<T> to{out, n(), 1};
  // Whole vectors of keys take no more time than partial ones.
  const auto whole = [&](int64_t count) {
    return std::min((count + kLanesOfVector - 1) / kLanesOfVector * kLanesOfVector, n());
  };
  const int64_t together = triangle_ ? whole(before() + kStep) : n();
  gemm<T>({rows_, together, width, x, keys, to});
  for (int64_t r = kStep; triangle_ && r < rows_; r += kStep) {
    const int64_t count = whole(before() + r + kStep) - together;
    if (count > 0)
      gemm<T>({kStep, count, width, part_of(x, r), part_of(keys, 0, together),
               part_of(to, r, together)});
  }
}

template <class T>
void QueryBlock<T>::sum_keys(const T* weights, const Matrix<const T>& x, int64_t width,
                             const Matrix<T>& out) const {
  const Matrix<const T> of{weights, n(), 1};
  const int64_t step = triangle_ ? kStep : rows_;
  for (int64_t r = 0; r < rows_; r += step)
    gemm<T>(
        {step, width, triangle_ ? before() + r + step : n(), part_of(of, r), x, part_of(out, r)});
}

template <class T>
void QueryBlock<T>::add_queries(const T* weights, const Matrix<const T>& x, int64_t width,
                                const Matrix<T>& out) const {
  const Matrix<const T> of{weights, 1, n()};  // [n, rows]
  const int64_t together = triangle_ ? before() : n();
  if (together > 0) gemm<T>({together, width, rows_, of, x, out, true});
  for (int64_t r = 0; triangle_ && r < rows_; r += kStep)
    gemm<T>({kStep, width, rows_ - r, part_of(of, before() + r, r), part_of(x, r),
             part_of(out, before() + r), true});
}

template class QueryBlock<float>;
template class QueryBlock<double>;

}  // namespace shw::runtime::cpu
