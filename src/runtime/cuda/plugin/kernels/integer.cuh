// Operations on integers alone, which wrap and never trap: a division by zero gives zero.
#pragma once
#include "math.cuh"

namespace shw::runtime::cuda {

__device__ inline Int power(Int x, i64 exponent) {
  Int result = {1};
  for (i64 e = exponent; e > 0; e >>= 1) {
    if (e & 1) result = result * x;
    x = x * x;
  }
  return result;
}

// An integer has no power below 0 but those of ±1.
__device__ inline Int power_of_integers(Int x, i64 exponent) {
  if (exponent >= 0) return power(x, exponent);
  return {x.v == 1 ? 1 : x.v == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0};
}

// ⌊a/b⌋. The quotient of the least integer by −1 wraps, where the instruction would not.
__device__ inline Int floor_quotient(Int a, Int b) {
  if (b.v == 0) return {0};
  if (b.v == -1) return -a;
  const i64 quotient = a.v / b.v;
  return {a.v % b.v != 0 && (a.v < 0) != (b.v < 0) ? quotient - 1 : quotient};
}
// a − b·⌊a/b⌋
__device__ inline Int floor_remainder(Int a, Int b) {
  if (b.v == 0 || b.v == -1) return {0};
  const i64 rest = a.v % b.v;
  return {rest != 0 && (rest < 0) != (b.v < 0) ? rest + b.v : rest};
}

__device__ inline Int integer_result(PointwiseOp op, Int a, Int b) {
  switch (op) {
    case PointwiseOp::kBitwiseNot:
      return {~a.v};
    case PointwiseOp::kBitwiseAnd:
      return {a.v & b.v};
    case PointwiseOp::kBitwiseOr:
      return {a.v | b.v};
    case PointwiseOp::kRemainder:
      return floor_remainder(a, b);
    case PointwiseOp::kFloorDivide:
      return floor_quotient(a, b);
    case PointwiseOp::kPowerTensor:
      return power_of_integers(a, b.v);
    default:  // integers are whole: floor, ceil and round change nothing
      return a;
  }
}

}  // namespace shw::runtime::cuda
