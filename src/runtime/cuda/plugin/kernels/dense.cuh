// Pointwise operations, computed in f32, on elements that lie side by side: each thread loads,
// computes and stores several at a time, and asks once for all of them what they are.
#pragma once
#include "pointwise_formula.cuh"
#include "vector.cuh"

namespace shw::runtime::cuda {

template <int N>
struct Floats {
  float at[N];
};

template <int N>
__device__ inline Floats<N> load_floats(const void* base, i64 first, int dtype) {
  Floats<N> x;
  switch (dtype) {
    case kDeviceF32: {
      const auto v = vector_at<float, N>(base, first);
      for (int k = 0; k < N; ++k) x.at[k] = v.at[k];
      break;
    }
    case kDeviceF16: {
      const auto v = vector_at<unsigned short, N>(base, first);
      for (int k = 0; k < N; ++k) x.at[k] = wider_half(v.at[k]);
      break;
    }
    case kDeviceBF16: {
      const auto v = vector_at<unsigned short, N>(base, first);
      for (int k = 0; k < N; ++k) x.at[k] = wider_bfloat(v.at[k]);
      break;
    }
    default: {  // bool and u8
      const auto v = vector_at<unsigned char, N>(base, first);
      for (int k = 0; k < N; ++k) x.at[k] = static_cast<float>(v.at[k]);
    }
  }
  return x;
}
template <int N>
__device__ inline void store_floats(const Floats<N>& x, void* base, i64 first, int dtype) {
  switch (dtype) {
    case kDeviceF32: {
      Vector<float, N> v;
      for (int k = 0; k < N; ++k) v.at[k] = x.at[k];
      return put_vector(v, base, first);
    }
    case kDeviceF16: {
      Vector<unsigned short, N> v;
      for (int k = 0; k < N; ++k) v.at[k] = narrower_half(x.at[k]);
      return put_vector(v, base, first);
    }
    case kDeviceBF16: {
      Vector<unsigned short, N> v;
      for (int k = 0; k < N; ++k) v.at[k] = narrower_bfloat(x.at[k]);
      return put_vector(v, base, first);
    }
    default: {  // bool
      Vector<unsigned char, N> v;
      for (int k = 0; k < N; ++k) v.at[k] = static_cast<unsigned char>(is_true(x.at[k]));
      return put_vector(v, base, first);
    }
  }
}

// Of an operation that is known when this is compiled.
template <PointwiseOp op, int N>
__device__ inline Floats<N> dense_results(const PointwiseFormula& p, const Floats<N>& a,
                                          const Floats<N>& b, const Floats<N>& c) {
  PointwiseFormula known = p;
  known.op = op;
  Floats<N> result;
  for (int k = 0; k < N; ++k) result.at[k] = pointwise_result(known, a.at[k], b.at[k], c.at[k]);
  return result;
}
// Of any other. It is much code, which is there once and called.
__device__ __noinline__ float other_dense_result(PointwiseOp op, double number, float a, float b) {
  return other_result(PointwiseFormula{op, -1, number, 0, 0, 0}, a, b);
}
template <int N>
__device__ inline Floats<N> dense_results(const PointwiseFormula& p, const Floats<N>& a,
                                          const Floats<N>& b, const Floats<N>& c) {
  switch (p.op) {
#define X(id)              \
  case PointwiseOp::k##id: \
    return dense_results<PointwiseOp::k##id>(p, a, b, c);
    X(Copy)
    X(Add)
    X(Sub)
    X(Mul)
    X(MulThree)
    X(Neg)
    X(Square)
    X(Cube)
    X(Where)
#undef X
    default: {
      Floats<N> result;
      for (int k = 0; k < N; ++k)
        result.at[k] = other_dense_result(p.op, p.number, a.at[k], b.at[k]);
      return result;
    }
  }
}

// An operand: a tensor without gaps, or one value for all elements: an element, a number, or 0
// where there is no operand.
struct DenseOperand {
  bool is_tensor;
  int dtype;
  float value;
};
__device__ inline DenseOperand dense_operand(const void* base, const PointwiseArguments& p,
                                             int operand) {
  const int dtype = p.dtype[operand + 1];
  if (p.formula.fixed == operand) return {false, dtype, fixed_value(p.formula, 0.0f)};
  if (base == nullptr) return {false, dtype, 0};
  if (p.stride[operand + 1][0] != 0) return {true, dtype, 0};
  return {false, dtype, load_floats<1>(base, 0, dtype).at[0]};
}
template <int N>
__device__ inline Floats<N> dense_elements(const DenseOperand& o, const void* base, i64 first) {
  if (o.is_tensor) return load_floats<N>(base, first, o.dtype);
  Floats<N> x;
  for (int k = 0; k < N; ++k) x.at[k] = o.value;
  return x;
}

template <int N>
__device__ inline void pointwise_dense(void* out, const void* a, const void* b, const void* c,
                                       const PointwiseArguments& p) {
  const DenseOperand x = dense_operand(a, p, 0), y = dense_operand(b, p, 1),
                     z = dense_operand(c, p, 2);
  const i64 vectors = p.loops.total / N;
  for (i64 v = thread_number(); v < vectors; v += num_threads()) {
    const i64 i = v * N;
    store_floats(dense_results(p.formula, dense_elements<N>(x, a, i), dense_elements<N>(y, b, i),
                               dense_elements<N>(z, c, i)),
                 out, i, p.dtype[0]);
  }
  for (i64 i = vectors * N + thread_number(); i < p.loops.total; i += num_threads())
    store_floats(dense_results(p.formula, dense_elements<1>(x, a, i), dense_elements<1>(y, b, i),
                               dense_elements<1>(z, c, i)),
                 out, i, p.dtype[0]);
}

}  // namespace shw::runtime::cuda

SHW_KERNEL __launch_bounds__(shw::runtime::cuda::kMostBlockThreads, 4)
    shw_pointwise_dense_narrow(void* out, const void* a, const void* b, const void* c,
                               shw::runtime::cuda::PointwiseArguments arguments) {
  shw::runtime::cuda::pointwise_dense<shw::runtime::cuda::kDenseNarrow>(out, a, b, c, arguments);
}
SHW_KERNEL __launch_bounds__(shw::runtime::cuda::kMostBlockThreads, 4)
    shw_pointwise_dense_wide(void* out, const void* a, const void* b, const void* c,
                             shw::runtime::cuda::PointwiseArguments arguments) {
  shw::runtime::cuda::pointwise_dense<shw::runtime::cuda::kDenseWide>(out, a, b, c, arguments);
}
