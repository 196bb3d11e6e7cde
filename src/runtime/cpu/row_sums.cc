#include "runtime/cpu/row_sums.h"

#include <array>
#include <cstddef>
#include <limits>

#include "runtime/simd.h"

namespace shw::runtime::cpu {
namespace {

constexpr int64_t kLanes = 16;  // independent accumulators per row

// Calls run() in a version for wide vectors if the machine has them: a loop of one iteration.
template <class Run>
void in_wide_vectors(const Run& run) {
  vector_loop(
      1, [&run](int64_t) __attribute__((always_inline)) { run(); });
}

}  // namespace

template <class T>
T row_max(const T* x, int64_t n) {
  T m = -std::numeric_limits<T>::infinity();
  in_wide_vectors([&, x, n ]() __attribute__((always_inline)) {
    T most[kLanes];
    for (T& lane : most) lane = -std::numeric_limits<T>::infinity();
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) most[l] = x[i + l] > most[l] ? x[i + l] : most[l];
    for (; i < n; ++i) m = x[i] > m ? x[i] : m;
    for (int64_t width = kLanes / 2; width > 0; width /= 2)
      for (int64_t l = 0; l < width; ++l)
        most[l] = most[l + width] > most[l] ? most[l + width] : most[l];
    m = most[0] > m ? most[0] : m;
  });
  return m;
}

namespace {

// The sum of at(0) … at(n - 1), in kLanes sums side by side.
template <class T, class At>
T sum_in_lanes(int64_t n, const At& at) {
  T sum{};
  in_wide_vectors([&, n ]() __attribute__((always_inline)) {
    T sums[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) sums[l] += at(i + l);
    for (int64_t l = 0; i < n; ++i, ++l) sums[l] += at(i);
    for (int64_t width = kLanes / 2; width > 0; width /= 2)
      for (int64_t l = 0; l < width; ++l) sums[l] += sums[l + width];
    sum = sums[0];
  });
  return sum;
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
