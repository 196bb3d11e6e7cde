// Attention by online softmax, forward and backward, without tensor cores. A block works on one
// query row (forward, and the gradient of the queries) or on one key row (the gradients of keys and
// values); its threads share the scores of a tile of rows, then each owns some columns. Nothing of
// the size of the scores is stored, and there are no atomics: results are the same on every run.
#pragma once
#include "attention_parts.cuh"
#include "paged_keys.cuh"

namespace shw::runtime::cuda {

// Columns of a row of values that one thread owns at a time; wider rows take several passes.
constexpr int kColumns = 8;

template <class T>
struct AttentionTile {
  T weight[shw::runtime::cuda::kMostBlockThreads];
  T slope[shw::runtime::cuda::kMostBlockThreads];
};

// The product of two rows that begin at these offsets.
template <class T>
__device__ inline T dot(const void* x, const HeadWindow& xw, i64 x_at, const void* y,
                        const HeadWindow& yw, i64 y_at, i64 n) {
  T sum = 0;
  for (i64 c = 0; c < n; ++c)
    sum = sum + load_real<T>(x, x_at + c * xw.stride[3], xw.dtype) *
                    load_real<T>(y, y_at + c * yw.stride[3], yw.dtype);
  return sum;
}

// scale · q·k + bias, of the key at `key_at`.
template <class T>
__device__ inline T score(const AttentionArguments& a, const void* q, const void* k, i64 key_at,
                          const void* bias, i64 b, i64 h, i64 query, i64 key) {
  const T s = dot<T>(q, a.q, head_offset(a.q, b, h, query), k, a.k, key_at, a.width) *
              static_cast<T>(a.scale);
  if (!a.has_bias) return s;
  return s + load_real<T>(bias, head_offset(a.bias, b, h, query) + key * a.bias.stride[3],
                          a.bias.dtype);
}

// The largest of a tile's `n` weights and `so_far`. NaN where any is.
template <class T>
__device__ inline T tile_max(const AttentionTile<T>& tile, i64 n, T so_far) {
  for (i64 t = 0; t < n; ++t) {
    const T w = tile.weight[t];
    so_far = so_far != so_far ? so_far : w != w ? w : w > so_far ? w : so_far;
  }
  return so_far;
}

template <class T, class Keys>
__device__ inline void attention(void* out, T* lse, const void* q, const void* k, const void* v,
                                 const void* bias, const Keys& keys, const u64* seed,
                                 const AttentionArguments& a, AttentionTile<T>& tile) {
  const int me = threadIdx.x;
  const i64 threads = blockDim.x;
  for (i64 block = blockIdx.x; block < a.batch * a.heads * a.queries; block += gridDim.x) {
    const i64 query = block % a.queries, h = block / a.queries % a.heads,
              b = block / a.queries / a.heads;
    const i64 shared = h / (a.heads / a.key_heads);
    const KeySpan seen = keys.seen(a, b, query);
    for (i64 base = 0; base < a.value_width || base == 0; base += threads * kColumns) {
      T sums[kColumns] = {};
      T most = minus_infinity<T>(), total = 0;
      for (i64 first = seen.begin; first < seen.end; first += threads) {
        const i64 n = seen.end - first < threads ? seen.end - first : threads;
        if (me < n)
          tile.weight[me] = score<T>(a, q, k, keys.offset(a.k, b, shared, first + me), bias, b, h,
                                     query, first + me);
        __syncthreads();
        // Every thread finds the same maximum, and keeps the same running sum.
        const T larger = tile_max(tile, n, most);
        const T shift = larger == minus_infinity<T>() ? T{0} : larger;
        const T shrink = exp_of(most - shift);
        most = larger;
        total = total * shrink;
        for (int c = 0; c < kColumns; ++c) sums[c] = sums[c] * shrink;
        for (i64 t = 0; t < n; ++t) {
          const T all = exp_of(tile.weight[t] - shift);
          total = total + all;
          const T weight = after_dropout(a, seed, b, h, query, first + t, all);
          const i64 value_at = keys.offset(a.v, b, shared, first + t);
          for (int c = 0; c < kColumns; ++c) {
            const i64 column = base + c * threads + me;
            if (column < a.value_width)
              sums[c] =
                  sums[c] + weight * load_real<T>(v, value_at + column * a.v.stride[3], a.v.dtype);
          }
        }
        __syncthreads();
      }
      // A query that sees nothing: its weights are zero, not 0/0.
      const T inverse = total > 0 || total != total ? T{1} / total : T{0};
      for (int c = 0; c < kColumns; ++c) {
        const i64 column = base + c * threads + me;
        if (column < a.value_width && out != nullptr)
          store_real(sums[c] * inverse, out,
                     head_offset(a.out, b, h, query) + column * a.out.stride[3], a.out.dtype);
      }
      if (me == 0 && base == 0 && lse != nullptr)
        lse[lse_offset(a, b, h, query)] =
            (most == minus_infinity<T>() ? T{0} : most) + log_of(total);
    }
  }
  pad_lse(lse, a);
}

// e^(score − lse); a query that saw nothing has no weights.
template <class T>
__device__ inline T weight_of(T s, T lse) {
  return lse == minus_infinity<T>() ? T{0} : exp_of(s - lse);
}

template <class T>
struct BackwardOperands {
  const void *grad, *q, *k, *v, *bias, *out;
  const T* lse;
  const KeySpan* spans;
  const u64* seed;
};

// rowsum(grad ∘ out) of one query.
template <class T>
__device__ inline T row_delta(const AttentionBackwardArguments& p, const BackwardOperands<T>& in,
                              i64 b, i64 h, i64 query) {
  const AttentionArguments& a = p.forward;
  return dot<T>(in.grad, p.grad, head_offset(p.grad, b, h, query), in.out, a.out,
                head_offset(a.out, b, h, query), a.value_width);
}

// The weight of a pair that sees each other, after dropout, and the gradient of its score:
// weight · (grad·v − delta), where dropout applies to grad·v.
template <class T>
__device__ inline void pair_gradient(const AttentionBackwardArguments& p,
                                     const BackwardOperands<T>& in, i64 b, i64 h, i64 query,
                                     i64 key, T delta, T& weight, T& slope) {
  const AttentionArguments& a = p.forward;
  const i64 shared = h / (a.heads / a.key_heads);
  const T lse = in.lse[lse_offset(a, b, h, query)];
  const i64 key_at = head_offset(a.k, b, shared, key);
  const T all = weight_of(score<T>(a, in.q, in.k, key_at, in.bias, b, h, query, key), lse);
  weight = after_dropout(a, in.seed, b, h, query, key, all);
  const T along = dot<T>(in.grad, p.grad, head_offset(p.grad, b, h, query), in.v, a.v,
                         head_offset(a.v, b, shared, key), a.value_width);
  slope = all * (after_dropout(a, in.seed, b, h, query, key, along) - delta);
}

template <class T>
__device__ inline void attention_dq(void* dq, void* dbias, T* deltas, const BackwardOperands<T>& in,
                                    const AttentionBackwardArguments& p, AttentionTile<T>& tile) {
  const AttentionArguments& a = p.forward;
  const int me = threadIdx.x;
  const i64 threads = blockDim.x;
  for (i64 block = blockIdx.x; block < a.batch * a.heads * a.queries; block += gridDim.x) {
    const i64 query = block % a.queries, h = block / a.queries % a.heads,
              b = block / a.queries / a.heads;
    const i64 shared = h / (a.heads / a.key_heads);
    const T delta = row_delta(p, in, b, h, query);
    if (me == 0) deltas[block] = delta;
    const KeySpan seen = keys_of(a, in.spans, b, query);
    for (i64 key = me; dbias != nullptr && key < a.keys; key += threads)
      if (key < seen.begin || key >= seen.end)
        store_real(T{0}, dbias, head_offset(p.dbias, b, h, query) + key * p.dbias.stride[3],
                   p.dbias.dtype);
    for (i64 base = 0; base < a.width || base == 0; base += threads * kColumns) {
      T sums[kColumns] = {};
      for (i64 first = seen.begin; first < seen.end; first += threads) {
        const i64 n = seen.end - first < threads ? seen.end - first : threads;
        if (me < n) {
          pair_gradient(p, in, b, h, query, first + me, delta, tile.weight[me], tile.slope[me]);
          if (dbias != nullptr && base == 0)
            store_real(tile.slope[me], dbias,
                       head_offset(p.dbias, b, h, query) + (first + me) * p.dbias.stride[3],
                       p.dbias.dtype);
        }
        __syncthreads();
        for (i64 t = 0; t < n; ++t)
          for (int c = 0; c < kColumns; ++c) {
            const i64 column = base + c * threads + me;
            if (column < a.width)
              sums[c] =
                  sums[c] + tile.slope[t] * load_real<T>(in.k,
                                                         head_offset(a.k, b, shared, first + t) +
                                                             column * a.k.stride[3],
                                                         a.k.dtype);
          }
        __syncthreads();
      }
      for (int c = 0; c < kColumns; ++c) {
        const i64 column = base + c * threads + me;
        if (column < a.width && dq != nullptr)
          store_real(sums[c] * static_cast<T>(a.scale), dq,
                     head_offset(p.dq, b, h, query) + column * p.dq.stride[3], p.dq.dtype);
      }
    }
  }
}

// One pass of attention_dkv: columns of dk (by slope · q · scale) or of dv (by weight · grad).
template <class T>
__device__ inline void key_row(void* result, const HeadWindow& to, const void* rows,
                               const HeadWindow& from, i64 columns, bool by_slope, T factor, i64 b,
                               i64 shared, i64 key, const T* deltas, const BackwardOperands<T>& in,
                               const AttentionBackwardArguments& p, AttentionTile<T>& tile) {
  const AttentionArguments& a = p.forward;
  const int me = threadIdx.x;
  const i64 threads = blockDim.x, group = a.heads / a.key_heads;
  const KeySpan seen = queries_of(a, in.spans, b, key);
  for (i64 base = 0; base < columns; base += threads * kColumns) {
    T sums[kColumns] = {};
    for (i64 h = shared * group; h < (shared + 1) * group; ++h)
      for (i64 first = seen.begin; first < seen.end; first += threads) {
        const i64 n = seen.end - first < threads ? seen.end - first : threads;
        if (me < n)
          pair_gradient(p, in, b, h, first + me, key,
                        deltas[(b * a.heads + h) * a.queries + first + me], tile.weight[me],
                        tile.slope[me]);
        __syncthreads();
        for (i64 t = 0; t < n; ++t) {
          const T share = by_slope ? tile.slope[t] : tile.weight[t];
          for (int c = 0; c < kColumns; ++c) {
            const i64 column = base + c * threads + me;
            if (column < columns)
              sums[c] = sums[c] + share * load_real<T>(rows,
                                                       head_offset(from, b, h, first + t) +
                                                           column * from.stride[3],
                                                       from.dtype);
          }
        }
        __syncthreads();
      }
    for (int c = 0; c < kColumns; ++c) {
      const i64 column = base + c * threads + me;
      if (column < columns)
        store_real(sums[c] * factor, result,
                   head_offset(to, b, shared, key) + column * to.stride[3], to.dtype);
    }
  }
}

template <class T>
__device__ inline void attention_dkv(void* dk, void* dv, const T* deltas,
                                     const BackwardOperands<T>& in,
                                     const AttentionBackwardArguments& p, AttentionTile<T>& tile) {
  const AttentionArguments& a = p.forward;
  for (i64 block = blockIdx.x; block < a.batch * a.key_heads * a.keys; block += gridDim.x) {
    const i64 key = block % a.keys, shared = block / a.keys % a.key_heads,
              b = block / a.keys / a.key_heads;
    if (dk != nullptr)
      key_row(dk, p.dk, in.q, a.q, a.width, true, static_cast<T>(a.scale), b, shared, key, deltas,
              in, p, tile);
    if (dv != nullptr)
      key_row(dv, p.dv, in.grad, p.grad, a.value_width, false, T{1}, b, shared, key, deltas, in, p,
              tile);
  }
}

}  // namespace shw::runtime::cuda

#define SHW_ATTENTION_KERNELS(suffix, T)                                                           \
  SHW_KERNEL shw_attention_##suffix(                                                               \
      void* out, T* lse, const void* q, const void* k, const void* v, const void* bias,            \
      const shw::runtime::cuda::KeySpan* spans, const shw::runtime::u64* seed,                     \
      shw::runtime::cuda::AttentionArguments arguments) {                                          \
    __shared__ shw::runtime::cuda::AttentionTile<T> tile;                                          \
    shw::runtime::cuda::attention<T>(out, lse, q, k, v, bias,                                      \
                                     shw::runtime::cuda::DenseKeys{spans}, seed, arguments, tile); \
  }                                                                                                \
  SHW_KERNEL shw_attention_dq_##suffix(                                                            \
      void* dq, void* dbias, T* deltas, const void* grad, const void* q, const void* k,            \
      const void* v, const void* bias, const void* out, const T* lse,                              \
      const shw::runtime::cuda::KeySpan* spans, const shw::runtime::u64* seed,                     \
      shw::runtime::cuda::AttentionBackwardArguments arguments) {                                  \
    __shared__ shw::runtime::cuda::AttentionTile<T> tile;                                          \
    shw::runtime::cuda::attention_dq<T>(                                                           \
        dq, dbias, deltas, {grad, q, k, v, bias, out, lse, spans, seed}, arguments, tile);         \
  }                                                                                                \
  SHW_KERNEL shw_attention_dkv_##suffix(                                                           \
      void* dk, void* dv, const T* deltas, const void* grad, const void* q, const void* k,         \
      const void* v, const void* bias, const void* out, const T* lse,                              \
      const shw::runtime::cuda::KeySpan* spans, const shw::runtime::u64* seed,                     \
      shw::runtime::cuda::AttentionBackwardArguments arguments) {                                  \
    __shared__ shw::runtime::cuda::AttentionTile<T> tile;                                          \
    shw::runtime::cuda::attention_dkv<T>(                                                          \
        dk, dv, deltas, {grad, q, k, v, bias, out, lse, spans, seed}, arguments, tile);            \
  }

#define SHW_PAGED_KERNEL(suffix, T)                                                               \
  SHW_KERNEL shw_attention_paged_##suffix(void* out, const void* q, const void* k, const void* v, \
                                          const void* table, const void* lengths,                 \
                                          shw::runtime::cuda::DeviceError* error,                 \
                                          shw::runtime::cuda::PagedAttentionArguments a) {        \
    __shared__ shw::runtime::cuda::AttentionTile<T> tile;                                         \
    shw::runtime::cuda::attention<T>(                                                             \
        out, static_cast<T*>(nullptr), q, k, v, nullptr,                                          \
        shw::runtime::cuda::PagedKeys{table, lengths, error, a.pages}, nullptr, a.attention,      \
        tile);                                                                                    \
  }

SHW_PAGED_KERNEL(f32, float)
SHW_PAGED_KERNEL(f64, double)
#undef SHW_PAGED_KERNEL
SHW_ATTENTION_KERNELS(f32, float)
SHW_ATTENTION_KERNELS(f64, double)
#undef SHW_ATTENTION_KERNELS
