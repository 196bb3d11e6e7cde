// Along lines of a tensor: softmax, its logarithm and their gradients, a block a line with sums in
// f64; running sums and products, a thread a line.
#pragma once
#include "block.cuh"

namespace shw::runtime::cuda {

// Of the elements of line `at` of operand o.
struct Line {
  i64 at, step;
  int dtype;
};
__device__ inline Line line_of(const LineArguments& a, int o, i64 number) {
  return {offset_at(a.places, a.stride[o], number), a.step[o], a.dtype[o]};
}
template <class T>
__device__ inline T line_element(const void* base, const Line& line, i64 i) {
  return load_real<T>(base, line.at + i * line.step, line.dtype);
}
template <class T>
__device__ inline void set_line_element(T x, void* base, const Line& line, i64 i) {
  store_real(x, base, line.at + i * line.step, line.dtype);
}

// Subtracting the largest element first changes nothing but keeps the exponentials in range.
template <class T>
__device__ inline void softmax(void* out, const void* in, const LineArguments& a, double* sums) {
  const i64 me = threadIdx.x, threads = blockDim.x;
  for (i64 number = blockIdx.x; number < a.places.total; number += gridDim.x) {
    const Line from = line_of(a, 0, number), to = line_of(a, 1, number);
    double most = -static_cast<double>(__int_as_float(0x7f800000)), sum = 0;
    for (i64 i = me; i < a.count; i += threads) {
      const double x = line_element<double>(in, from, i);
      most = most < x ? x : most;
    }
    const T shift = static_cast<T>(block_most(most, sums));
    for (i64 i = me; i < a.count; i += threads)
      sum += static_cast<double>(exp_of(line_element<T>(in, from, i) - shift));
    sum = block_sum(sum, sums);
    const T scale = static_cast<T>(1 / sum), all = shift + static_cast<T>(log(sum));
    for (i64 i = me; i < a.count; i += threads) {
      const T x = line_element<T>(in, from, i);
      set_line_element(a.kind != 0 ? x - all : exp_of(x - shift) * scale, out, to, i);
    }
  }
}

// From the gradient and what the forward operation gave.
template <class T>
__device__ inline void softmax_backward(void* out, const void* grad, const void* result,
                                        const LineArguments& a, double* sums) {
  const i64 me = threadIdx.x, threads = blockDim.x;
  for (i64 number = blockIdx.x; number < a.places.total; number += gridDim.x) {
    const Line g = line_of(a, 0, number), y = line_of(a, 1, number), to = line_of(a, 2, number);
    double sum = 0;
    for (i64 i = me; i < a.count; i += threads)
      sum +=
          line_element<double>(grad, g, i) * (a.kind != 0 ? 1 : line_element<double>(result, y, i));
    const T total = static_cast<T>(block_sum(sum, sums));
    for (i64 i = me; i < a.count; i += threads) {
      const T slope = line_element<T>(grad, g, i), value = line_element<T>(result, y, i);
      set_line_element(a.kind != 0 ? slope - exp_of(value) * total : value * (slope - total), out,
                       to, i);
    }
  }
}

template <class T>
__device__ inline void running(void* out, const void* in, const LineArguments& a) {
  for (i64 number = thread_number(); number < a.places.total; number += num_threads()) {
    const Line from = line_of(a, 0, number), to = line_of(a, 1, number);
    T so_far = {};
    for (i64 i = 0; i < a.count; ++i) {
      const T x = load<T>(in, from.at + i * from.step, from.dtype);
      so_far = i == 0 ? x : a.kind != 0 ? so_far * x : so_far + x;
      store(so_far, out, to.at + i * to.step, to.dtype);
    }
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_softmax_f32(void* out, const void* in, shw::runtime::cuda::LineArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::softmax<float>(out, in, arguments, sums);
}
SHW_KERNEL shw_softmax_f64(void* out, const void* in, shw::runtime::cuda::LineArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::softmax<double>(out, in, arguments, sums);
}
SHW_KERNEL shw_softmax_backward_f32(void* out, const void* grad, const void* result,
                                    shw::runtime::cuda::LineArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::softmax_backward<float>(out, grad, result, arguments, sums);
}
SHW_KERNEL shw_softmax_backward_f64(void* out, const void* grad, const void* result,
                                    shw::runtime::cuda::LineArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::softmax_backward<double>(out, grad, result, arguments, sums);
}
SHW_KERNEL shw_running_f64(void* out, const void* in, shw::runtime::cuda::LineArguments arguments) {
  shw::runtime::cuda::running<double>(out, in, arguments);
}
SHW_KERNEL shw_running_i64(void* out, const void* in, shw::runtime::cuda::LineArguments arguments) {
  shw::runtime::cuda::running<shw::runtime::cuda::Int>(out, in, arguments);
}
SHW_KERNEL shw_running_c64(void* out, const void* in, shw::runtime::cuda::LineArguments arguments) {
  shw::runtime::cuda::running<shw::runtime::cuda::Complex>(out, in, arguments);
}
