// Operations on real numbers that round: to whole numbers, and divisions with whole quotients.
#pragma once
#include "math.cuh"

namespace shw::runtime::cuda {

__device__ inline bool is_rounding(PointwiseOp op) {
  switch (op) {
    case PointwiseOp::kFloor:
    case PointwiseOp::kCeil:
    case PointwiseOp::kRound:
    case PointwiseOp::kFloorDivide:
    case PointwiseOp::kRemainder:
      return true;
    default:
      return false;
  }
}

template <class T>
__device__ inline T rounded(PointwiseOp op, T a, T b) {
  switch (op) {
    case PointwiseOp::kFloor:
      return floor_of(a);
    case PointwiseOp::kCeil:
      return ceil_of(a);
    case PointwiseOp::kRound:
      return round_of(a);
    case PointwiseOp::kFloorDivide:
      return floor_of(a / b);
    default: {  // the remainder has the divisor's sign
      const T rest = fmod_of(a, b);
      return rest != T{0} && (rest < T{0}) != (b < T{0}) ? rest + b : rest;
    }
  }
}

}  // namespace shw::runtime::cuda
