// Layer norm and RMS norm, forward and backward, with sums in f64. A block a row; for the gradients
// of weight and bias a block some columns in a slice of the rows, so that neighbouring threads read
// neighbouring elements, and then a thread a column; the order of the additions is fixed. RMS norm
// is the case without mean and bias.
#pragma once
#include "block.cuh"

namespace shw::runtime::cuda {

// Element `column` of row `row`.
struct NormElement {
  i64 row, column;
};
__device__ inline i64 place(const NormArguments& a, const NormWindow& w, const NormElement& e) {
  return offset_at(a.rows, w.row, e.row) + offset_at(a.columns, w.column, e.column);
}
// Of a tensor that may be absent.
template <class T>
__device__ inline T norm_value(const NormArguments& a, const void* base, const NormWindow& w,
                               const NormElement& e, T otherwise) {
  return base == nullptr ? otherwise : load_real<T>(base, place(a, w, e), w.dtype);
}

template <class T>
__device__ inline void norm(void* out, void* mean, void* rstd, const void* x, const void* weight,
                            const void* bias, const NormArguments& a, double* sums) {
  const i64 me = threadIdx.x, threads = blockDim.x, count = a.columns.total;
  for (i64 row = blockIdx.x; row < a.rows.total; row += gridDim.x) {
    double sum = 0, squares = 0;
    for (i64 c = me; a.centred != 0 && c < count; c += threads)
      sum += norm_value<double>(a, x, a.x, {row, c}, 0);
    const double middle = block_sum(sum, sums) / static_cast<double>(count);
    for (i64 c = me; c < count; c += threads) {
      const double d = norm_value<double>(a, x, a.x, {row, c}, 0) - middle;
      squares += d * d;
    }
    squares = block_sum(squares, sums) / static_cast<double>(count);
    const T m = static_cast<T>(middle), r = static_cast<T>(1 / sqrt(squares + a.eps));
    if (me == 0 && mean != nullptr) store_real(m, mean, place(a, a.mean, {row, 0}), a.mean.dtype);
    if (me == 0 && rstd != nullptr) store_real(r, rstd, place(a, a.rstd, {row, 0}), a.rstd.dtype);
    for (i64 c = me; out != nullptr && c < count; c += threads) {
      const NormElement e = {row, c};
      const T value =
          (norm_value<T>(a, x, a.x, e, 0) - m) * r * norm_value<T>(a, weight, a.weight, e, 1) +
          norm_value<T>(a, bias, a.bias, e, 0);
      store_real(value, out, place(a, a.out, e), a.out.dtype);
    }
  }
}

// x without its mean, in units of its deviation.
template <class T>
__device__ inline T normalised(const NormArguments& a, const void* x, const void* mean,
                               const void* rstd, const NormElement& e) {
  return (norm_value<T>(a, x, a.x, e, 0) - norm_value<T>(a, mean, a.mean, e, 0)) *
         norm_value<T>(a, rstd, a.rstd, e, 0);
}

// dx = rstd · (g − avg(g) − x̂ · avg(g · x̂)) with g = grad · weight; RMS norm without avg(g).
template <class T>
__device__ inline void norm_backward(void* dx, const void* grad, const void* x, const void* mean,
                                     const void* rstd, const void* weight, const NormArguments& a,
                                     double* sums) {
  const i64 me = threadIdx.x, threads = blockDim.x, count = a.columns.total;
  for (i64 row = blockIdx.x; row < a.rows.total; row += gridDim.x) {
    double sum = 0, product = 0;
    for (i64 c = me; c < count; c += threads) {
      const NormElement e = {row, c};
      const T g = norm_value<T>(a, grad, a.grad, e, 0) * norm_value<T>(a, weight, a.weight, e, 1);
      sum += static_cast<double>(g);
      product += static_cast<double>(g) * static_cast<double>(normalised<T>(a, x, mean, rstd, e));
    }
    sum = block_sum(sum, sums) / static_cast<double>(count);
    product = block_sum(product, sums) / static_cast<double>(count);
    const T average = static_cast<T>(a.centred != 0 ? sum : 0), slope = static_cast<T>(product);
    for (i64 c = me; c < count; c += threads) {
      const NormElement e = {row, c};
      const T g = norm_value<T>(a, grad, a.grad, e, 0) * norm_value<T>(a, weight, a.weight, e, 1);
      const T value = norm_value<T>(a, rstd, a.rstd, e, 0) *
                      (g - average - normalised<T>(a, x, mean, rstd, e) * slope);
      store_real(value, dx, place(a, a.out, e), a.out.dtype);
    }
  }
}

// Of a column in a row.
struct NormTerms {
  double weight, bias;
};
template <class T>
__device__ inline NormTerms norm_terms(const NormArguments& a, const void* grad, const void* x,
                                       const void* mean, const void* rstd, const NormElement& e) {
  const double g = norm_value<double>(a, grad, a.grad, e, 0);
  return {g * static_cast<double>(normalised<T>(a, x, mean, rstd, e)), g};
}

// Sums over slices of the rows: parts[slice][weight, bias][column].
template <class T>
__device__ inline void norm_parameter_parts(double* parts, const void* grad, const void* x,
                                            const void* mean, const void* rstd,
                                            const NormArguments& a, double* weights,
                                            double* biases) {
  const int me = threadIdx.x, columns = a.block_columns, lane = me % columns, line = me / columns;
  const int lines = blockDim.x / columns;
  const i64 count = a.columns.total, tiles = (count + columns - 1) / columns;
  for (i64 b = blockIdx.x; b < tiles * a.slices; b += gridDim.x) {
    const i64 slice = quotient(b, tiles), c = (b - slice * tiles) * columns + lane;
    const i64 end = c < count ? a.rows.total * (slice + 1) / a.slices : 0;
    double weight = 0, bias = 0;
    for (i64 row = a.rows.total * slice / a.slices + line; row < end; row += lines) {
      const NormTerms terms = norm_terms<T>(a, grad, x, mean, rstd, {row, c});
      weight += terms.weight;
      bias += terms.bias;
    }
    weights[me] = weight;
    biases[me] = bias;
    __syncthreads();
    for (int width = lines / 2; width > 0; width /= 2) {  // a power of two lines
      if (line < width) {
        weights[me] += weights[me + width * columns];
        biases[me] += biases[me + width * columns];
      }
      __syncthreads();
    }
    if (line == 0 && c < count) {
      parts[2 * slice * count + c] = weights[me];
      parts[(2 * slice + 1) * count + c] = biases[me];
    }
    __syncthreads();
  }
}
// dweight = Σ grad · x̂ and dbias = Σ grad over the rows; either may be absent.
__device__ inline void norm_parameters(void* dweight, void* dbias, const double* parts,
                                       const NormArguments& a) {
  const i64 count = a.columns.total;
  for (i64 c = thread_number(); c < count; c += num_threads()) {
    double weight = 0, bias = 0;
    for (i64 slice = 0; slice < a.slices; ++slice) {
      weight += parts[2 * slice * count + c];
      bias += parts[(2 * slice + 1) * count + c];
    }
    // They have no rows; there may be none at all.
    if (dweight != nullptr)
      store_real(weight, dweight, offset_at(a.columns, a.out.column, c), a.out.dtype);
    if (dbias != nullptr)
      store_real(bias, dbias, offset_at(a.columns, a.out_bias.column, c), a.out_bias.dtype);
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_norm_f32(void* out, void* mean, void* rstd, const void* x, const void* weight,
                        const void* bias, shw::runtime::cuda::NormArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::norm<float>(out, mean, rstd, x, weight, bias, arguments, sums);
}
SHW_KERNEL shw_norm_backward_f32(void* dx, const void* grad, const void* x, const void* mean,
                                 const void* rstd, const void* weight,
                                 shw::runtime::cuda::NormArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::norm_backward<float>(dx, grad, x, mean, rstd, weight, arguments, sums);
}
SHW_KERNEL shw_norm_parameter_parts_f32(double* parts, const void* grad, const void* x,
                                        const void* mean, const void* rstd,
                                        shw::runtime::cuda::NormArguments arguments) {
  __shared__ double weights[shw::runtime::cuda::kMostBlockThreads];
  __shared__ double biases[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::norm_parameter_parts<float>(parts, grad, x, mean, rstd, arguments, weights,
                                                  biases);
}
SHW_KERNEL shw_norm_f64(void* out, void* mean, void* rstd, const void* x, const void* weight,
                        const void* bias, shw::runtime::cuda::NormArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::norm<double>(out, mean, rstd, x, weight, bias, arguments, sums);
}
SHW_KERNEL shw_norm_backward_f64(void* dx, const void* grad, const void* x, const void* mean,
                                 const void* rstd, const void* weight,
                                 shw::runtime::cuda::NormArguments arguments) {
  __shared__ double sums[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::norm_backward<double>(dx, grad, x, mean, rstd, weight, arguments, sums);
}
SHW_KERNEL shw_norm_parameter_parts_f64(double* parts, const void* grad, const void* x,
                                        const void* mean, const void* rstd,
                                        shw::runtime::cuda::NormArguments arguments) {
  __shared__ double weights[shw::runtime::cuda::kMostBlockThreads];
  __shared__ double biases[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::norm_parameter_parts<double>(parts, grad, x, mean, rstd, arguments, weights,
                                                   biases);
}
SHW_KERNEL shw_norm_parameters(void* dweight, void* dbias, const double* parts,
                               shw::runtime::cuda::NormArguments arguments) {
  shw::runtime::cuda::norm_parameters(dweight, dbias, parts, arguments);
}
