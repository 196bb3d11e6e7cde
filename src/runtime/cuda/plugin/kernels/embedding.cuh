// Rows of a table by indices, and the gradient of the table, which is the same bits on every run:
// each row adds its gradients in the order of the indices, without atomics.
#pragma once
#include "table.cuh"

namespace shw::runtime::cuda {

// A block a row of the table.
template <class T>
__device__ inline void embedding_backward(void* out, const void* grad, const void* indices,
                                          DeviceError* error, const EmbeddingBackwardArguments& e,
                                          i64* tile) {
  const int me = threadIdx.x, threads = blockDim.x;
  for (i64 row = blockIdx.x; row < e.num_rows; row += gridDim.x) {
    for (i64 base = 0; base < e.width; base += threads) {  // all threads of a block stay together
      const i64 column = base + me;
      T sum = 0;
      i64 found = 0;
      for (i64 first = 0; first < e.indices.total; first += threads) {
        // Where the tile's gradients for this row lie; -1: for another one.
        const i64 i = first + me;
        i64 place = -1;
        if (i < e.indices.total) {
          const i64 index =
              load<Int>(indices, offset_at(e.indices, e.index_stride, i), e.index_dtype).v;
          if (!exists(e.rows, index))
            report(error, e.step, index, e.rows.whole);
          else if (is_here(e.rows, index) && index - e.rows.first == row && row != e.padding)
            place = offset_at(e.indices, e.grad_stride, i);
        }
        tile[me] = place;
        __syncthreads();
        for (int t = 0; t < threads; ++t) {
          if (tile[t] < 0) continue;
          ++found;
          if (column < e.width)
            sum = sum + load_real<T>(grad, tile[t] + column * e.grad_column, e.grad_dtype);
        }
        __syncthreads();
      }
      if (e.by_frequency && found > 1) sum = sum / static_cast<T>(found);
      if (column < e.width)
        store_real(sum, out, row * e.out_row + column * e.out_column, e.out_dtype);
    }
  }
}

}  // namespace shw::runtime::cuda

SHW_KERNEL shw_embedding(void* out, const void* table, const void* indices,
                         shw::runtime::cuda::DeviceError* error,
                         shw::runtime::cuda::EmbeddingArguments e) {
  using namespace shw::runtime::cuda;
  for (i64 at = thread_number(); at < e.indices.total * e.width; at += num_threads()) {
    const i64 column = at % e.width, i = at / e.width;
    const i64 index = load<Int>(indices, offset_at(e.indices, e.index_stride, i), e.index_dtype).v;
    if (!exists(e.rows, index)) {
      report(error, e.step, index, e.rows.whole);
      continue;
    }
    const void* from = !is_here(e.rows, index)
                           ? nullptr
                           : static_cast<const char*>(table) +
                                 (index - e.rows.first) * e.table_row + column * e.table_column;
    void* to =
        static_cast<char*>(out) + offset_at(e.indices, e.out_stride, i) + column * e.out_column;
    copy_element(to, from, e.dtype);
  }
}
SHW_KERNEL shw_embedding_backward_f32(void* out, const void* grad, const void* indices,
                                      shw::runtime::cuda::DeviceError* error,
                                      shw::runtime::cuda::EmbeddingBackwardArguments arguments) {
  __shared__ shw::runtime::cuda::i64 tile[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::embedding_backward<float>(out, grad, indices, error, arguments, tile);
}
SHW_KERNEL shw_embedding_backward_f64(void* out, const void* grad, const void* indices,
                                      shw::runtime::cuda::DeviceError* error,
                                      shw::runtime::cuda::EmbeddingBackwardArguments arguments) {
  __shared__ shw::runtime::cuda::i64 tile[shw::runtime::cuda::kMostBlockThreads];
  shw::runtime::cuda::embedding_backward<double>(out, grad, indices, error, arguments, tile);
}
