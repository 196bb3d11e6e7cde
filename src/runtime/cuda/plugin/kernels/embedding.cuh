// Rows of a table by indices, and the gradient of the table, which is the same bits on every run:
// each row adds its gradients in the order of the indices, which a stable sort (sort.cuh) brings
// together, without atomics.
#pragma once
#include "entries.cuh"
#include "table.cuh"

namespace shw::runtime::cuda {

// The rows that occur; `out` holds zeros. The entries are in order: those of a row stand together,
// and blocks that find the first of them take as many columns of the row as they have threads.
template <class T>
__device__ inline void embedding_backward(void* out, const void* grad, const SortEntry* sorted,
                                          const EmbeddingBackwardArguments& e) {
  constexpr int kAtOnce = 4;  // loads under way
  const i64 entries = e.indices.total, threads = blockDim.x;
  const i64 pieces = (e.width + threads - 1) / threads;
  for (i64 b = blockIdx.x; b < entries * pieces; b += gridDim.x) {
    const i64 first = quotient(b, pieces), column = (b - first * pieces) * threads + threadIdx.x;
    const unsigned long long key = sorted[first].key;
    if (key == kLastKey || (first > 0 && sorted[first - 1].key == key) || column >= e.width)
      continue;
    const auto element_of = [&](i64 entry) {
      return load_real<T>(
          grad, offset_at(e.indices, e.grad_stride, sorted[entry].place) + column * e.grad_column,
          e.grad_dtype);
    };
    T sum = 0;
    i64 end = first;
    for (; end + kAtOnce <= entries && sorted[end + kAtOnce - 1].key == key; end += kAtOnce) {
      T values[kAtOnce];
      for (int k = 0; k < kAtOnce; ++k) values[k] = element_of(end + k);
      for (int k = 0; k < kAtOnce; ++k) sum = sum + values[k];
    }
    for (; end < entries && sorted[end].key == key; ++end) sum = sum + element_of(end);
    if (e.by_frequency && end - first > 1) sum = sum / static_cast<T>(end - first);
    store_real(sum, out, static_cast<i64>(key) * e.out_row + column * e.out_column, e.out_dtype);
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
// What is sorted: the row of the gradient of each index.
SHW_KERNEL shw_embedding_rows(shw::runtime::cuda::SortEntry* entries, const void* indices,
                              shw::runtime::cuda::DeviceError* error,
                              shw::runtime::cuda::EmbeddingBackwardArguments e) {
  using namespace shw::runtime::cuda;
  for (i64 i = thread_number(); i < e.indices.total; i += num_threads()) {
    const i64 index = load<Int>(indices, offset_at(e.indices, e.index_stride, i), e.index_dtype).v;
    if (!exists(e.rows, index)) report(error, e.step, index, e.rows.whole);
    const i64 row = index - e.rows.first;
    const bool counts = exists(e.rows, index) && is_here(e.rows, index) && row != e.padding;
    entries[i] = {counts ? static_cast<unsigned long long>(row) : kLastKey, i};
  }
}
SHW_KERNEL shw_embedding_backward_f32(void* out, const void* grad,
                                      const shw::runtime::cuda::SortEntry* sorted,
                                      shw::runtime::cuda::EmbeddingBackwardArguments arguments) {
  shw::runtime::cuda::embedding_backward<float>(out, grad, sorted, arguments);
}
SHW_KERNEL shw_embedding_backward_f64(void* out, const void* grad,
                                      const shw::runtime::cuda::SortEntry* sorted,
                                      shw::runtime::cuda::EmbeddingBackwardArguments arguments) {
  shw::runtime::cuda::embedding_backward<double>(out, grad, sorted, arguments);
}
