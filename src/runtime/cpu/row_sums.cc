#include "runtime/cpu/row_sums.h"

#include <array>
#include <cstddef>
#include <limits>

namespace shw::runtime::cpu {
namespace {
constexpr int64_t kLanes = 16;  // independent accumulators of a row
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
double wide_sum(const T* x, int64_t n) {
  return sum_in_lanes<double>(n, [x](int64_t i) { return static_cast<double>(x[i]); });
}

template <class T>
double wide_product(const T* x, const T* y, int64_t n) {
  return sum_in_lanes<double>(
      n, [x, y](int64_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
}

template <class T>
double wide_squares(const T* x, double mean, int64_t n) {
  return sum_in_lanes<double>(n, [x, mean](int64_t i) {
    const double d = static_cast<double>(x[i]) - mean;
    return d * d;
  });
}

template <class T>
T row_product(const T* x, const T* y, int64_t n) {
  return sum_in_lanes<T>(n, [x, y](int64_t i) { return x[i] * y[i]; });
}

template float row_max(const float*, int64_t);
template double row_max(const double*, int64_t);
template float row_sum(const float*, int64_t);
template double row_sum(const double*, int64_t);
template float row_product(const float*, const float*, int64_t);
template double row_product(const double*, const double*, int64_t);
template double wide_squares(const float*, double, int64_t);
template double wide_squares(const double*, double, int64_t);
template double wide_sum(const float*, int64_t);
template double wide_sum(const double*, int64_t);
template double wide_product(const float*, const float*, int64_t);
template double wide_product(const double*, const double*, int64_t);

}  // namespace shw::runtime::cpu
