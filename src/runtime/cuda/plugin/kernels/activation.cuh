// GELU (Hendrycks and Gimpel 2016), exactly and by its approximation with a hyperbolic tangent, and
// the gradients of both.
#pragma once
#include "math.cuh"

namespace shw::runtime::cuda {

// Φ(x): how much of a normal distribution lies below x.
template <class T>
__device__ inline T normal_below(T x) {
  return static_cast<T>(0.5) * (T{1} + erf_of(x * static_cast<T>(0.70710678118654752440)));
}

// Of the approximation: √(2/π)·(x + 0.044715·x³), and its slope.
template <class T>
__device__ inline T gelu_inner(T x) {
  return static_cast<T>(0.79788456080286535588) * (x + static_cast<T>(0.044715) * x * x * x);
}
template <class T>
__device__ inline T gelu_inner_slope(T x) {
  return static_cast<T>(0.79788456080286535588) * (T{1} + static_cast<T>(0.134145) * x * x);
}

// Operand b of the gradients is x.
template <class T>
__device__ inline T gelu_result(PointwiseOp op, T a, T b) {
  const T half = static_cast<T>(0.5), one = 1;
  switch (op) {
    case PointwiseOp::kGelu:
      return a * normal_below(a);
    case PointwiseOp::kGeluTanh:
      return half * a * (one + tanh_of(gelu_inner(a)));
    case PointwiseOp::kGeluBackward: {
      const T density = exp_of(-half * b * b) * static_cast<T>(0.39894228040143267794);
      return a * (normal_below(b) + b * density);
    }
    case PointwiseOp::kGeluTanhBackward: {
      const T t = tanh_of(gelu_inner(b));
      return a * half * (one + t + b * (one - t * t) * gelu_inner_slope(b));
    }
    default:
      return a;
  }
}

}  // namespace shw::runtime::cuda
