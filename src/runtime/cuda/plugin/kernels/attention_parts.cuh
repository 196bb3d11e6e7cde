// What all kernels of attention share: places of rows, masks, and the padding of log-sum-exp.
#pragma once
#include "math.cuh"
#include "runtime/random.h"

namespace shw::runtime::cuda {

__device__ inline i64 head_offset(const HeadWindow& w, i64 b, i64 h, i64 row) {
  return b * w.stride[0] + h * w.stride[1] + row * w.stride[2];
}

__device__ inline KeySpan both(const KeySpan& x, const KeySpan& y) {
  return {x.begin < y.begin ? y.begin : x.begin, x.end < y.end ? x.end : y.end};
}
// The keys that a query sees, and the queries that see a key. `spans`: the document of each
// position of each row of the batch; null: there are none.
__device__ inline KeySpan keys_of(const AttentionArguments& a, const KeySpan* spans, i64 b,
                                  i64 query) {
  const KeySpan all = spans == nullptr ? KeySpan{0, a.keys} : spans[b * a.queries + query];
  return both(all, {query - a.left, query + a.right + 1});
}
__device__ inline KeySpan queries_of(const AttentionArguments& a, const KeySpan* spans, i64 b,
                                     i64 key) {
  const KeySpan all = spans == nullptr ? KeySpan{0, a.queries} : spans[b * a.queries + key];
  return both(all, {key - a.right, key + a.left + 1});
}

// Where the keys of attention lie that are one tensor: what query `query` sees, and the places of a
// key and its value.
struct DenseKeys {
  const KeySpan* spans;
  __device__ KeySpan seen(const AttentionArguments& a, i64 b, i64 query) const {
    return keys_of(a, spans, b, query);
  }
  __device__ i64 offset(const HeadWindow& w, i64 b, i64 head, i64 key) const {
    return head_offset(w, b, head, key);
  }
};

template <class T>
__device__ inline T minus_infinity() {
  return static_cast<T>(-__int_as_float(0x7f800000));
}

__device__ inline i64 lse_offset(const AttentionArguments& a, i64 b, i64 h, i64 query) {
  return b * a.lse_batch + h * a.lse_head + query * a.lse_row;
}

// A pair's weight, or the gradient of it, after dropout. `seed` null: there is none.
template <class T>
__device__ inline T after_dropout(const AttentionArguments& a, const u64* seed, i64 b, i64 h,
                                  i64 query, i64 key, T x) {
  if (seed == nullptr) return x;
  const AttentionDropoutArguments& d = a.dropout;
  const i64 place = d.first + b * d.stride[0] + h * d.stride[1] + query * d.stride[2] + key;
  return stays(*seed, static_cast<u64>(place), d.least) ? x * static_cast<T>(d.scale) : T{0};
}

// Rows beyond the queries, where the denominators are stored padded. One block does it.
template <class T>
__device__ inline void pad_lse(T* lse, const AttentionArguments& a) {
  if (lse == nullptr || blockIdx.x != 0) return;
  const i64 rest = a.lse_length - a.queries;
  for (i64 i = threadIdx.x; i < a.batch * a.heads * rest; i += blockDim.x)
    lse[lse_offset(a, i / rest / a.heads, i / rest % a.heads, a.queries + i % rest)] =
        -minus_infinity<T>();
}

}  // namespace shw::runtime::cuda
