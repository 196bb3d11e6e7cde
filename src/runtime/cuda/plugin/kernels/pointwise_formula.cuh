// What pointwise operations compute of their operands' values.
#pragma once
#include "activation.cuh"
#include "integer.cuh"
#include "rounding.cuh"

namespace shw::runtime::cuda {

// An element of the operations that are defined on real numbers only.
template <class T>
__device__ inline T real_result(const PointwiseFormula& p, T a, T b) {
  const T one = 1;
  switch (p.op) {
    case PointwiseOp::kDiv:
      return a / b;
    case PointwiseOp::kExp:
      return exp_of(a);
    case PointwiseOp::kSigmoid:
      return one / (one + exp_of(-a));
    case PointwiseOp::kRsqrt:
      return one / sqrt_of(a);
    case PointwiseOp::kSqrt:
      return sqrt_of(a);
    case PointwiseOp::kReciprocal:
      return one / a;
    case PointwiseOp::kPower:
      return static_cast<T>(pow(static_cast<double>(a), p.number));
    case PointwiseOp::kSilu:
      return a / (one + exp_of(-a));
    case PointwiseOp::kSiluBackward: {  // gradient, x
      const T s = one / (one + exp_of(-b));
      return a * s * (one + b * (one - s));
    }
    case PointwiseOp::kSigmoidBackward:  // gradient, result
      return a * (one - b) * b;
    case PointwiseOp::kTanhBackward:
      return a * (one - b * b);
    case PointwiseOp::kTanh:
      return tanh_of(a);
    case PointwiseOp::kLog:
      return log_of(a);
    case PointwiseOp::kCos:
      return cos_of(a);
    case PointwiseOp::kSin:
      return sin_of(a);
    case PointwiseOp::kErf:
      return erf_of(a);
    case PointwiseOp::kLog1p:
      return log1p_of(a);
    case PointwiseOp::kExpm1:
      return expm1_of(a);
    case PointwiseOp::kDropoutBackward:  // gradient, mask
      return b != 0 ? a * static_cast<T>(p.number) : static_cast<T>(0);
    case PointwiseOp::kPowerTensor:
      return static_cast<T>(pow(static_cast<double>(a), static_cast<double>(b)));
    case PointwiseOp::kAtan2:
      return static_cast<T>(atan2(static_cast<double>(a), static_cast<double>(b)));
    default:
      return is_rounding(p.op) ? rounded(p.op, a, b) : gelu_result(p.op, a, b);
  }
}

// Truth values.
template <class T>
__device__ inline bool compared(PointwiseOp op, T a, T b, T& result) {
  switch (op) {
    case PointwiseOp::kEqual:
      result = static_cast<T>(a == b);
      return true;
    case PointwiseOp::kNotEqual:
      result = static_cast<T>(a != b);
      return true;
    case PointwiseOp::kLess:
      result = static_cast<T>(a < b);
      return true;
    case PointwiseOp::kLessEqual:
      result = static_cast<T>(a <= b);
      return true;
    case PointwiseOp::kGreater:
      result = static_cast<T>(a > b);
      return true;
    case PointwiseOp::kGreaterEqual:
      result = static_cast<T>(a >= b);
      return true;
    case PointwiseOp::kLogicalNot:
      result = static_cast<T>(a == T{0});
      return true;
    case PointwiseOp::kLogicalAnd:
      result = static_cast<T>(a != T{0} && b != T{0});
      return true;
    case PointwiseOp::kLogicalOr:
      result = static_cast<T>(a != T{0} || b != T{0});
      return true;
    default:
      return false;
  }
}

// Of those that need an order.
template <class T>
__device__ inline bool ordered_result(const PointwiseFormula& p, T a, T b, T& result) {
  switch (p.op) {
    case PointwiseOp::kRelu:  // NaN stays NaN
      result = a < T{0} ? T{0} : a;
      return true;
    case PointwiseOp::kThresholdBackward:
      result = b <= static_cast<T>(p.number) ? T{0} : a;
      return true;
    case PointwiseOp::kAbs:
      result = a < T{0} ? -a : a == T{0} ? T{0} : a;
      return true;
    case PointwiseOp::kMaximum:  // NaN where either is
      result = a != a ? a : b != b ? b : a < b ? b : a;
      return true;
    case PointwiseOp::kMinimum:
      result = a != a ? a : b != b ? b : b < a ? b : a;
      return true;
    case PointwiseOp::kSign:
      result = static_cast<T>((a > T{0}) - (a < T{0}));
      return true;
    default:
      return compared(p.op, a, b, result);
  }
}

// Between the parameter and the second operand, which wins; NaN stays NaN.
template <class T>
__device__ inline T clamped(T least, T x, T most) {
  const T raised = x < least ? least : x;
  return most < raised ? most : raised;
}

template <class T>
__device__ inline T other_result(const PointwiseFormula& p, T a, T b) {
  if (p.op == PointwiseOp::kClamp) return clamped(static_cast<T>(p.number), a, b);
  T result;
  return ordered_result(p, a, b, result) ? result : real_result(p, a, b);
}
__device__ inline Int other_result(const PointwiseFormula& p, Int a, Int b) {
  if (p.op == PointwiseOp::kIntegerPower) return power(a, p.integer);
  if (p.op == PointwiseOp::kThresholdBackward) return b.v <= p.integer ? Int{0} : a;
  if (p.op == PointwiseOp::kClamp) return {clamped(p.integer, a.v, b.v)};
  i64 result;
  return ordered_result<i64>(p, a.v, b.v, result) ? Int{result} : integer_result(p.op, a, b);
}
__device__ inline Complex other_result(const PointwiseFormula& p, Complex a, Complex) {
  return p.op == PointwiseOp::kConj ? Complex{a.re, -a.im} : a;
}

__device__ inline float parameter(const PointwiseFormula& p, float) {
  return static_cast<float>(p.number);
}
__device__ inline double parameter(const PointwiseFormula& p, double) { return p.number; }
__device__ inline Int parameter(const PointwiseFormula& p, Int) { return {p.integer}; }
__device__ inline Complex parameter(const PointwiseFormula& p, Complex) {
  return {static_cast<float>(p.number), 0};
}

template <class T>
__device__ inline T pointwise_result(const PointwiseFormula& p, T a, T b, T c) {
  switch (p.op) {
    case PointwiseOp::kCopy:
      return a;
    case PointwiseOp::kWhere:
      return is_true(a) ? b : c;
    case PointwiseOp::kAdd:  // the parameter scales the second operand
      return p.number == 1 ? a + b : a + parameter(p, a) * b;
    case PointwiseOp::kSub:
      return p.number == 1 ? a - b : a - parameter(p, a) * b;
    case PointwiseOp::kMul:
      return a * b;
    case PointwiseOp::kMulThree:
      return a * b * c;
    case PointwiseOp::kNeg:
      return -a;
    case PointwiseOp::kSquare:
      return a * a;
    case PointwiseOp::kCube:
      return a * a * a;
    default:
      return other_result(p, a, b);
  }
}

__device__ inline float fixed_value(const PointwiseFormula& p, float) {
  return static_cast<float>(p.fixed_number);
}
__device__ inline double fixed_value(const PointwiseFormula& p, double) { return p.fixed_number; }
__device__ inline Int fixed_value(const PointwiseFormula& p, Int) { return {p.fixed_integer}; }
__device__ inline Complex fixed_value(const PointwiseFormula& p, Complex) {
  return {static_cast<float>(p.fixed_number), 0};
}

}  // namespace shw::runtime::cuda
