// Convolutions and their gradients as products of matrices (product.cuh) whose elements are taken
// from where they lie: no patches are written to memory. Groups, samples and places of one product
// are numbered as runtime/convolution_shape.h has them.
#pragma once
#include "product.cuh"

namespace shw::runtime::cuda {

struct Spot {
  i64 of[3];
};
__device__ inline Spot spot_of(i64 number, const i64 (&size)[3]) {
  return {{number / size[2] / size[1], number / size[2] % size[1], number % size[2]}};
}
__device__ inline i64 spot_offset(const ConvolutionWindow& w, const Spot& spot) {
  return spot.of[0] * w.stride[2] + spot.of[1] * w.stride[3] + spot.of[2] * w.stride[4];
}

// Where the kernel's place `k` of the result's place `o` falls in the input.
__device__ inline bool input_spot(const ConvolutionArguments& a, const Spot& o, const Spot& k,
                                  Spot& at) {
  bool inside = true;
  for (int d = 0; d < 3; ++d) {
    at.of[d] = o.of[d] * a.stride[d] - a.padding[d] + k.of[d] * a.dilation[d];
    inside = inside && at.of[d] >= 0 && at.of[d] < a.in[d];
  }
  return inside;
}
// The result's place of which the kernel's place `k` falls on the input's place `at`.
__device__ inline bool result_spot(const ConvolutionArguments& a, const Spot& at, const Spot& k,
                                   Spot& o) {
  bool inside = true;
  for (int d = 0; d < 3; ++d) {
    const i64 far = at.of[d] + a.padding[d] - k.of[d] * a.dilation[d];
    o.of[d] = far / a.stride[d];
    inside = inside && far >= 0 && far % a.stride[d] == 0 && o.of[d] < a.out[d];
  }
  return inside;
}

// Of one group: a patch of the input, `depth` counts its channels and the kernel's places, `column`
// samples and the result's places.
template <class T>
__device__ inline T patch_element(const ConvolutionArguments& a, const void* input, i64 group,
                                  i64 depth, i64 column) {
  Spot at;
  if (!input_spot(a, spot_of(column % a.out_places, a.out),
                  spot_of(depth % a.kernel_places, a.kernel), at))
    return 0;
  const i64 channel = group * a.in_channels + depth / a.kernel_places;
  return load_real<T>(input,
                      column / a.out_places * a.input.stride[0] + channel * a.input.stride[1] +
                          spot_offset(a.input, at),
                      a.input.dtype);
}
__device__ inline i64 weight_offset(const ConvolutionArguments& a, i64 group, i64 channel,
                                    i64 depth) {
  return (group * a.out_channels + channel) * a.weight.stride[0] +
         depth / a.kernel_places * a.weight.stride[1] +
         spot_offset(a.weight, spot_of(depth % a.kernel_places, a.kernel));
}
__device__ inline i64 result_offset(const ConvolutionArguments& a, i64 group, i64 channel,
                                    i64 column) {
  return column / a.out_places * a.result.stride[0] +
         (group * a.out_channels + channel) * a.result.stride[1] +
         spot_offset(a.result, spot_of(column % a.out_places, a.out));
}

// Calls f(group, row, column) with the first element of each tile of the groups' products.
template <class F>
__device__ inline void for_each_tile(const ConvolutionArguments& a, const ProductSize& size,
                                     const F& f) {
  const i64 across = product_tiles(size.columns), down = product_tiles(size.rows);
  for (i64 tile = blockIdx.x; tile < a.groups * down * across; tile += gridDim.x)
    f(tile / across / down, tile / across % down * kProductTile, tile % across * kProductTile);
}

template <class T>
__device__ inline void convolve(void* out, const void* input, const void* weight, const void* bias,
                                const ConvolutionArguments& a, ProductSlabs<T>& slabs) {
  const ProductSize size = {a.out_channels, a.samples * a.out_places,
                            a.in_channels * a.kernel_places};
  for_each_tile(a, size, [&](i64 group, i64 row, i64 column) {
    product_tile<T>(
        size, row, column,
        [&](i64 r, i64 k) {
          return load_real<T>(weight, weight_offset(a, group, r, k), a.weight.dtype);
        },
        [&](i64 k, i64 c) { return patch_element<T>(a, input, group, k, c); },
        [&](i64 r, i64 c, T sum) {
          if (bias != nullptr)
            sum =
                sum + load_real<T>(bias, (group * a.out_channels + r) * a.bias_step, a.bias_dtype);
          store_real(sum, out, result_offset(a, group, r, c), a.result.dtype);
        },
        slabs);
  });
}

// The gradient of the input: of each of its places, over the result's channels and the kernel's
// places, what has passed from there.
template <class T>
__device__ inline void convolve_to_input(void* out, const void* grad, const void* weight,
                                         const ConvolutionArguments& a, ProductSlabs<T>& slabs) {
  const ProductSize size = {a.in_channels, a.samples * a.in_places,
                            a.out_channels * a.kernel_places};
  for_each_tile(a, size, [&](i64 group, i64 row, i64 column) {
    product_tile<T>(
        size, row, column,
        [&](i64 r, i64 k) {
          const i64 at = weight_offset(a, group, k / a.kernel_places,
                                       r * a.kernel_places + k % a.kernel_places);
          return load_real<T>(weight, at, a.weight.dtype);
        },
        [&](i64 k, i64 c) {
          Spot o;
          if (!result_spot(a, spot_of(c % a.in_places, a.in),
                           spot_of(k % a.kernel_places, a.kernel), o))
            return T{0};
          const i64 channel = group * a.out_channels + k / a.kernel_places;
          return load_real<T>(grad,
                              c / a.in_places * a.result.stride[0] + channel * a.result.stride[1] +
                                  spot_offset(a.result, o),
                              a.result.dtype);
        },
        [&](i64 r, i64 c, T sum) {
          store_real(sum, out,
                     c / a.in_places * a.input.stride[0] +
                         (group * a.in_channels + r) * a.input.stride[1] +
                         spot_offset(a.input, spot_of(c % a.in_places, a.in)),
                     a.input.dtype);
        },
        slabs);
  });
}

// The gradient of the weight: over samples and the result's places.
template <class T>
__device__ inline void convolve_to_weight(void* out, const void* grad, const void* input,
                                          const ConvolutionArguments& a, ProductSlabs<T>& slabs) {
  const ProductSize size = {a.out_channels, a.in_channels * a.kernel_places,
                            a.samples * a.out_places};
  for_each_tile(a, size, [&](i64 group, i64 row, i64 column) {
    product_tile<T>(
        size, row, column,
        [&](i64 r, i64 k) {
          return load_real<T>(grad, result_offset(a, group, r, k), a.result.dtype);
        },
        [&](i64 k, i64 c) { return patch_element<T>(a, input, group, c, k); },
        [&](i64 r, i64 c, T sum) {
          store_real(sum, out, weight_offset(a, group, r, c), a.weight.dtype);
        },
        slabs);
  });
}

}  // namespace shw::runtime::cuda

#define SHW_CONVOLUTION_KERNEL(name) \
  SHW_KERNEL __launch_bounds__(shw::runtime::cuda::kProductThreads, 2) name
#define SHW_CONVOLUTION(suffix, T)                                                                \
  SHW_CONVOLUTION_KERNEL(shw_convolve_##suffix)                                                   \
  (void* out, const void* input, const void* weight, const void* bias,                            \
   shw::runtime::cuda::ConvolutionArguments a) {                                                  \
    __shared__ shw::runtime::cuda::ProductSlabs<T> slabs;                                         \
    shw::runtime::cuda::convolve<T>(out, input, weight, bias, a, slabs);                          \
  }                                                                                               \
  SHW_CONVOLUTION_KERNEL(shw_convolve_to_input_##suffix)                                          \
  (void* out, const void* grad, const void* weight, shw::runtime::cuda::ConvolutionArguments a) { \
    __shared__ shw::runtime::cuda::ProductSlabs<T> slabs;                                         \
    shw::runtime::cuda::convolve_to_input<T>(out, grad, weight, a, slabs);                        \
  }                                                                                               \
  SHW_CONVOLUTION_KERNEL(shw_convolve_to_weight_##suffix)                                         \
  (void* out, const void* grad, const void* input, shw::runtime::cuda::ConvolutionArguments a) {  \
    __shared__ shw::runtime::cuda::ProductSlabs<T> slabs;                                         \
    shw::runtime::cuda::convolve_to_weight<T>(out, grad, input, a, slabs);                        \
  }
SHW_CONVOLUTION(f32, float)
SHW_CONVOLUTION(f64, double)
#undef SHW_CONVOLUTION
#undef SHW_CONVOLUTION_KERNEL
