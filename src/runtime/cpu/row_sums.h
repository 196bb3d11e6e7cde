// The maximum of a row and sums over rows, computed in parallel lanes so that they vectorise. T is
// float or double.
#pragma once
#include <cstdint>

namespace shw::runtime::cpu {

// T is float or double.
template <class T>
T row_max(const T* x, int64_t n);  // -infinity for an empty row
template <class T>
T row_sum(const T* x, int64_t n);
template <class T>
T row_product(const T* x, const T* y, int64_t n);  // the sum of x[i] · y[i]

// The same with terms and sums in f64.
template <class T>
double wide_sum(const T* x, int64_t n);
template <class T>
double wide_squares(const T* x, double mean, int64_t n);  // the sum of (x[i] − mean)²
template <class T>
double wide_product(const T* x, const T* y, int64_t n);

}  // namespace shw::runtime::cpu
