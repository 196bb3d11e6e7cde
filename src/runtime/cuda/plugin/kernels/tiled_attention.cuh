// Attention in f32 on tiles, without tensor cores: what flash.cuh does, for operands of any real
// type and layout, and within documents. A block works on a tile of queries (forward, and the
// gradient of the queries) or of keys (the gradients of keys and values) and goes over tiles of the
// other. Nothing of the size of the scores is stored, and there are no atomics: results are the
// same on every run.
//
// The 128 threads of a block lie as 8 rows of 16. Each computes scores of some rows and columns of
// a tile of scores, and owns some columns of the results of the same rows.
#pragma once
#include "attention_parts.cuh"
#include "warp.cuh"

namespace shw::runtime::cuda {

constexpr int kTiledAcross = 16, kTiledDown = kTiledThreads / kTiledAcross;

struct alignas(16) FourFloats {
  float at[4];
};

// Rows of f32; what pads them puts the same columns of eight rows into different banks.
template <int kRows, int kWidth>
struct alignas(16) TiledRows {
  static constexpr int kStep = kWidth + 4;
  float at[kRows * kStep];

  __device__ const FourFloats& four(int row, int column) const {
    return *reinterpret_cast<const FourFloats*>(at + row * kStep + column);
  }
};

// kRows × kColumns scores, and rows of kWidth columns that they are of and add up.
template <int kRowCount, int kColumnCount, int kMostWidth>
struct TiledShape {
  static constexpr int kRows = kRowCount, kColumns = kColumnCount, kWidth = kMostWidth;
  static constexpr int kRowsOfThread = kRows / kTiledDown;          // beside each other
  static constexpr int kColumnsOfThread = kColumns / kTiledAcross;  // kTiledAcross apart
  static constexpr int kFours = kWidth / (4 * kTiledAcross);        // of a row of results
  using Rows = TiledRows<kRows, kWidth>;
  using Others = TiledRows<kColumns, kWidth>;
  using Scores = float[kRowsOfThread][kColumnsOfThread];
  using Sums = FourFloats[kRowsOfThread][kFours];
  struct Weights {
    float at[kRows][kColumns + 1];
  };
};

__device__ inline int tiled_across() { return static_cast<int>(threadIdx.x) % kTiledAcross; }
template <class S>
__device__ inline int tiled_row(int r) {
  return static_cast<int>(threadIdx.x) / kTiledAcross * S::kRowsOfThread + r;
}
template <class S>
__device__ inline int tiled_column(int c) {
  return c * kTiledAcross + tiled_across();
}

// The rows from `first` on, zeros beyond `rows` rows and `width` columns.
template <int kRows, int kWidth>
__device__ inline void read_rows(TiledRows<kRows, kWidth>& tile, const void* base,
                                 const HeadWindow& w, i64 b, i64 h, i64 first, i64 rows,
                                 i64 width) {
  const i64 from = head_offset(w, b, h, first);
  SHW_UNROLL_BY(4)
  for (int i = threadIdx.x; i < kRows * kWidth; i += kTiledThreads) {
    const int row = i / kWidth, column = i % kWidth;
    const bool is_there = first + row < rows && column < width;
    tile.at[row * TiledRows<kRows, kWidth>::kStep + column] =
        is_there ? load_real<float>(base, from + row * w.stride[2] + column * w.stride[3], w.dtype)
                 : 0.0f;
  }
}

template <class S>
__device__ inline void multiply_rows(typename S::Scores& s, const typename S::Rows& rows,
                                     const typename S::Others& others, i64 width) {
  SHW_UNROLL
  for (int r = 0; r < S::kRowsOfThread; ++r) {
    SHW_UNROLL
    for (int c = 0; c < S::kColumnsOfThread; ++c) s[r][c] = 0;
  }
  SHW_UNROLL_BY(2)
  for (int k = 0; k < width; k += 4) {
    FourFloats mine[S::kRowsOfThread];
    SHW_UNROLL
    for (int r = 0; r < S::kRowsOfThread; ++r) mine[r] = rows.four(tiled_row<S>(r), k);
    SHW_UNROLL
    for (int c = 0; c < S::kColumnsOfThread; ++c) {
      const FourFloats other = others.four(tiled_column<S>(c), k);
      SHW_UNROLL
      for (int r = 0; r < S::kRowsOfThread; ++r) {
        SHW_UNROLL
        for (int i = 0; i < 4; ++i) s[r][c] = fmaf(mine[r].at[i], other.at[i], s[r][c]);
      }
    }
  }
}

template <class S>
__device__ inline void show_weights(typename S::Weights& shown, const typename S::Scores& s) {
  SHW_UNROLL
  for (int r = 0; r < S::kRowsOfThread; ++r) {
    SHW_UNROLL
    for (int c = 0; c < S::kColumnsOfThread; ++c)
      shown.at[tiled_row<S>(r)][tiled_column<S>(c)] = s[r][c];
  }
}
// sums += weights times the other rows.
template <class S>
__device__ inline void add_rows(typename S::Sums& sums, const typename S::Weights& weights,
                                const typename S::Others& others) {
  SHW_UNROLL_BY(2)
  for (int k = 0; k < S::kColumns; ++k) {
    SHW_UNROLL
    for (int f = 0; f < S::kFours; ++f) {
      const FourFloats other = others.four(k, (f * kTiledAcross + tiled_across()) * 4);
      SHW_UNROLL
      for (int r = 0; r < S::kRowsOfThread; ++r) {
        const float weight = weights.at[tiled_row<S>(r)][k];
        SHW_UNROLL
        for (int i = 0; i < 4; ++i) sums[r][f].at[i] = fmaf(weight, other.at[i], sums[r][f].at[i]);
      }
    }
  }
}

template <class S>
__device__ inline void write_row(const typename S::Sums& sums, int r, float factor, void* out,
                                 const HeadWindow& w, i64 at, i64 width) {
  SHW_UNROLL
  for (int f = 0; f < S::kFours; ++f) {
    SHW_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int column = (f * kTiledAcross + tiled_across()) * 4 + i;
      if (column < width)
        store_real(sums[r][f].at[i] * factor, out, at + column * w.stride[3], w.dtype);
    }
  }
}

// Over the threads of a row, which lie side by side in a warp.
__device__ inline float tiled_max(float x) {
  for (int d = 1; d < kTiledAcross; d *= 2) x = fmaxf(x, from_lane_beside(x, d));
  return x;
}
__device__ inline float tiled_sum(float x) {
  for (int d = 1; d < kTiledAcross; d *= 2) x = x + from_lane_beside(x, d);
  return x;
}

// The tile of rows that a block works on.
struct TiledPlace {
  i64 b, h, first;
};
// Where later rows see more, they take longer: they come first.
__device__ inline TiledPlace tiled_place(i64 number, i64 batch, i64 heads, i64 tiles, int rows,
                                         bool last_first) {
  const i64 of_tile = number % (batch * heads), tile = number / (batch * heads);
  return {of_tile / heads, of_tile % heads, (last_first ? tiles - 1 - tile : tile) * rows};
}

// What the rows of a tile see together.
template <class SpanOf>
__device__ inline KeySpan seen_together(i64 first, i64 end, const SpanOf& span_of) {
  KeySpan all{0, 0};
  for (i64 row = first; row < end; ++row) {
    const KeySpan one = span_of(row);
    if (one.begin >= one.end) continue;
    if (all.begin >= all.end) all = one;
    all.begin = one.begin < all.begin ? one.begin : all.begin;
    all.end = one.end > all.end ? one.end : all.end;
  }
  return all;
}
__device__ inline i64 lesser(i64 a, i64 b) { return a < b ? a : b; }

// scale · product + bias; minus infinity where the two do not see each other.
__device__ inline float tiled_score(const AttentionArguments& a, const void* bias, i64 b, i64 h,
                                    i64 query, i64 key, const KeySpan& seen, float product) {
  if (key < seen.begin || key >= seen.end) return minus_infinity<float>();
  const float s = product * static_cast<float>(a.scale);
  if (!a.has_bias) return s;
  return s + load_real<float>(bias, head_offset(a.bias, b, h, query) + key * a.bias.stride[3],
                              a.bias.dtype);
}

template <class S>
struct TiledForward {
  typename S::Rows q;
  typename S::Others keys;  // then their values
  typename S::Weights weights;
};

template <class S>
__device__ inline void tiled_forward(void* out, float* lse, const void* q, const void* k,
                                     const void* v, const void* bias, const KeySpan* spans,
                                     const AttentionArguments& a, TiledForward<S>& shared) {
  const i64 tiles = (a.queries + S::kRows - 1) / S::kRows;
  for (i64 block = blockIdx.x; block < a.batch * a.heads * tiles; block += gridDim.x) {
    const TiledPlace at = tiled_place(block, a.batch, a.heads, tiles, S::kRows, true);
    const i64 key_head = at.h / (a.heads / a.key_heads);
    const auto seen_by = [&](i64 query) { return keys_of(a, spans, at.b, query); };
    const KeySpan seen = seen_together(at.first, lesser(at.first + S::kRows, a.queries), seen_by);
    typename S::Sums sums = {};
    float most[S::kRowsOfThread], total[S::kRowsOfThread];
    KeySpan of_row[S::kRowsOfThread];
    SHW_UNROLL
    for (int r = 0; r < S::kRowsOfThread; ++r) {
      const i64 query = at.first + tiled_row<S>(r);
      most[r] = minus_infinity<float>();
      total[r] = 0;
      of_row[r] = query < a.queries ? seen_by(query) : KeySpan{0, 0};
    }
    read_rows(shared.q, q, a.q, at.b, at.h, at.first, a.queries, a.width);
    for (i64 first = seen.begin; first < seen.end; first += S::kColumns) {
      read_rows(shared.keys, k, a.k, at.b, key_head, first, a.keys, a.width);
      __syncthreads();
      typename S::Scores s;
      multiply_rows<S>(s, shared.q, shared.keys, a.width);
      SHW_UNROLL
      for (int r = 0; r < S::kRowsOfThread; ++r) {
        float larger = most[r];
        SHW_UNROLL
        for (int c = 0; c < S::kColumnsOfThread; ++c) {
          s[r][c] = tiled_score(a, bias, at.b, at.h, at.first + tiled_row<S>(r),
                                first + tiled_column<S>(c), of_row[r], s[r][c]);
          larger = fmaxf(larger, s[r][c]);
        }
        larger = tiled_max(larger);
        const float shift = larger == minus_infinity<float>() ? 0.0f : larger;
        const float shrink = exp_of(most[r] - shift);
        most[r] = larger;
        total[r] = total[r] * shrink;
        SHW_UNROLL
        for (int c = 0; c < S::kColumnsOfThread; ++c) {
          s[r][c] = exp_of(s[r][c] - shift);
          total[r] = total[r] + s[r][c];
        }
        SHW_UNROLL
        for (int f = 0; f < S::kFours; ++f) {
          SHW_UNROLL
          for (int i = 0; i < 4; ++i) sums[r][f].at[i] = sums[r][f].at[i] * shrink;
        }
      }
      show_weights<S>(shared.weights, s);
      __syncthreads();  // the keys have been read
      read_rows(shared.keys, v, a.v, at.b, key_head, first, a.keys, a.value_width);
      __syncthreads();
      add_rows<S>(sums, shared.weights, shared.keys);
      __syncthreads();  // the tiles may be overwritten
    }
    SHW_UNROLL
    for (int r = 0; r < S::kRowsOfThread; ++r) {
      const float all = tiled_sum(total[r]);
      // A query that sees nothing: its weights are zero, not 0/0.
      const float inverse = all > 0 || all != all ? 1.0f / all : 0.0f;
      const i64 query = at.first + tiled_row<S>(r);
      if (query >= a.queries) continue;
      if (lse != nullptr && tiled_across() == 0)
        lse[lse_offset(a, at.b, at.h, query)] =
            (most[r] == minus_infinity<float>() ? 0.0f : most[r]) + log_of(all);
      if (out != nullptr)
        write_row<S>(sums, r, inverse, out, a.out, head_offset(a.out, at.b, at.h, query),
                     a.value_width);
    }
    __syncthreads();
  }
  pad_lse(lse, a);
}

struct TiledGradients {
  const void *grad, *q, *k, *v, *bias, *out;
  const float* lse;
  const KeySpan* spans;
};

// The weight of a pair; a query that saw nothing has none.
__device__ inline float tiled_weight(float score, float lse) {
  return lse == minus_infinity<float>() ? 0.0f : exp_of(score - lse);
}

template <int kWidth>
using TiledBackwardShape =
    TiledShape<kTiledBackwardRows<kWidth>, kTiledBackwardRows<kWidth>, kWidth>;

template <class S>
struct TiledBackward {
  typename S::Rows mine[2];
  typename S::Others others[2];
  typename S::Weights weights;
};

template <class S>
__device__ inline void tiled_dq(void* dq, void* dbias, float* deltas, const TiledGradients& in,
                                const AttentionBackwardArguments& p, TiledBackward<S>& shared) {
  const AttentionArguments& a = p.forward;
  const i64 tiles = (a.queries + S::kRows - 1) / S::kRows;
  for (i64 block = blockIdx.x; block < a.batch * a.heads * tiles; block += gridDim.x) {
    const TiledPlace at = tiled_place(block, a.batch, a.heads, tiles, S::kRows, true);
    const i64 key_head = at.h / (a.heads / a.key_heads);
    const auto seen_by = [&](i64 query) { return keys_of(a, in.spans, at.b, query); };
    // The gradient of a bias has a value for every pair, also for those that are not seen.
    const KeySpan seen =
        dbias != nullptr ? KeySpan{0, a.keys}
                         : seen_together(at.first, lesser(at.first + S::kRows, a.queries), seen_by);
    // First the results of the queries, for rowsum(grad ∘ out).
    read_rows(shared.mine[0], in.out, a.out, at.b, at.h, at.first, a.queries, a.value_width);
    read_rows(shared.mine[1], in.grad, p.grad, at.b, at.h, at.first, a.queries, a.value_width);
    __syncthreads();
    float lse[S::kRowsOfThread], delta[S::kRowsOfThread];
    KeySpan of_row[S::kRowsOfThread];
    SHW_UNROLL
    for (int r = 0; r < S::kRowsOfThread; ++r) {
      const int row = tiled_row<S>(r);
      const i64 query = at.first + row;
      const bool is_there = query < a.queries;
      of_row[r] = is_there ? seen_by(query) : KeySpan{0, 0};
      lse[r] = is_there ? in.lse[lse_offset(a, at.b, at.h, query)] : minus_infinity<float>();
      float sum = 0;
      for (int k = tiled_across(); k < a.value_width; k += kTiledAcross)
        sum = fmaf(shared.mine[0].at[row * S::Rows::kStep + k],
                   shared.mine[1].at[row * S::Rows::kStep + k], sum);
      delta[r] = tiled_sum(sum);
      if (is_there && tiled_across() == 0)
        deltas[(at.b * a.heads + at.h) * a.queries + query] = delta[r];
    }
    __syncthreads();
    read_rows(shared.mine[0], in.q, a.q, at.b, at.h, at.first, a.queries, a.width);
    typename S::Sums sums = {};
    for (i64 first = seen.begin; first < seen.end; first += S::kColumns) {
      read_rows(shared.others[0], in.k, a.k, at.b, key_head, first, a.keys, a.width);
      read_rows(shared.others[1], in.v, a.v, at.b, key_head, first, a.keys, a.value_width);
      __syncthreads();
      typename S::Scores s, along;
      multiply_rows<S>(s, shared.mine[0], shared.others[0], a.width);
      multiply_rows<S>(along, shared.mine[1], shared.others[1], a.value_width);
      SHW_UNROLL
      for (int r = 0; r < S::kRowsOfThread; ++r) {
        const i64 query = at.first + tiled_row<S>(r);
        SHW_UNROLL
        for (int c = 0; c < S::kColumnsOfThread; ++c) {
          const i64 key = first + tiled_column<S>(c);
          const float score = tiled_score(a, in.bias, at.b, at.h, query, key, of_row[r], s[r][c]);
          s[r][c] = tiled_weight(score, lse[r]) * (along[r][c] - delta[r]);
          if (dbias != nullptr && query < a.queries && key < a.keys)
            store_real(s[r][c], dbias,
                       head_offset(p.dbias, at.b, at.h, query) + key * p.dbias.stride[3],
                       p.dbias.dtype);
        }
      }
      show_weights<S>(shared.weights, s);
      __syncthreads();
      add_rows<S>(sums, shared.weights, shared.others[0]);
      __syncthreads();  // the tiles may be overwritten
    }
    __syncthreads();
    SHW_UNROLL
    for (int r = 0; r < S::kRowsOfThread; ++r) {
      const i64 query = at.first + tiled_row<S>(r);
      if (dq != nullptr && query < a.queries)
        write_row<S>(sums, r, static_cast<float>(a.scale), dq, p.dq,
                     head_offset(p.dq, at.b, at.h, query), a.width);
    }
  }
}

template <class S>
__device__ inline void tiled_dkv(void* dk, void* dv, const float* deltas, const TiledGradients& in,
                                 const AttentionBackwardArguments& p, TiledBackward<S>& shared) {
  const AttentionArguments& a = p.forward;
  const i64 tiles = (a.keys + S::kRows - 1) / S::kRows, group = a.heads / a.key_heads;
  for (i64 block = blockIdx.x; block < a.batch * a.key_heads * tiles; block += gridDim.x) {
    const TiledPlace at = tiled_place(block, a.batch, a.key_heads, tiles, S::kRows, false);
    const auto seen_by = [&](i64 key) { return queries_of(a, in.spans, at.b, key); };
    const KeySpan seen = seen_together(at.first, lesser(at.first + S::kRows, a.keys), seen_by);
    KeySpan of_row[S::kRowsOfThread];
    SHW_UNROLL
    for (int r = 0; r < S::kRowsOfThread; ++r) {
      const i64 key = at.first + tiled_row<S>(r);
      of_row[r] = key < a.keys ? seen_by(key) : KeySpan{0, 0};
    }
    read_rows(shared.mine[0], in.k, a.k, at.b, at.h, at.first, a.keys, a.width);
    read_rows(shared.mine[1], in.v, a.v, at.b, at.h, at.first, a.keys, a.value_width);
    typename S::Sums keys = {}, values = {};
    for (i64 h = at.h * group; h < (at.h + 1) * group; ++h)
      for (i64 first = seen.begin; first < seen.end; first += S::kColumns) {
        read_rows(shared.others[0], in.q, a.q, at.b, h, first, a.queries, a.width);
        read_rows(shared.others[1], in.grad, p.grad, at.b, h, first, a.queries, a.value_width);
        __syncthreads();
        typename S::Scores s, along;
        multiply_rows<S>(s, shared.mine[0], shared.others[0], a.width);
        multiply_rows<S>(along, shared.mine[1], shared.others[1], a.value_width);
        SHW_UNROLL
        for (int c = 0; c < S::kColumnsOfThread; ++c) {
          const i64 query = first + tiled_column<S>(c);
          const bool is_there = query < a.queries;
          const float lse =
              is_there ? in.lse[lse_offset(a, at.b, h, query)] : minus_infinity<float>();
          const float delta = is_there ? deltas[(at.b * a.heads + h) * a.queries + query] : 0.0f;
          SHW_UNROLL
          for (int r = 0; r < S::kRowsOfThread; ++r) {
            const bool is_seen = query >= of_row[r].begin && query < of_row[r].end;
            const i64 key = at.first + tiled_row<S>(r);
            const float score =
                tiled_score(a, in.bias, at.b, h, query, key,
                            is_seen ? KeySpan{key, key + 1} : KeySpan{0, 0}, s[r][c]);
            s[r][c] = tiled_weight(score, lse);
            along[r][c] = s[r][c] * (along[r][c] - delta);
          }
        }
        show_weights<S>(shared.weights, s);
        __syncthreads();
        if (dv != nullptr) add_rows<S>(values, shared.weights, shared.others[1]);
        __syncthreads();
        show_weights<S>(shared.weights, along);
        __syncthreads();
        if (dk != nullptr) add_rows<S>(keys, shared.weights, shared.others[0]);
        __syncthreads();  // the tiles may be overwritten
      }
    __syncthreads();
    SHW_UNROLL
    for (int r = 0; r < S::kRowsOfThread; ++r) {
      const i64 key = at.first + tiled_row<S>(r);
      if (key >= a.keys) continue;
      if (dk != nullptr)
        write_row<S>(keys, r, static_cast<float>(a.scale), dk, p.dk,
                     head_offset(p.dk, at.b, at.h, key), a.width);
      if (dv != nullptr)
        write_row<S>(values, r, 1.0f, dv, p.dv, head_offset(p.dv, at.b, at.h, key), a.value_width);
    }
  }
}

}  // namespace shw::runtime::cuda

#define SHW_TILED_KERNEL extern "C" __global__ void __launch_bounds__(128, 2)
#define SHW_TILED_KERNELS(width)                                                                  \
  SHW_TILED_KERNEL shw_tiled_##width(void* out, float* lse, const void* q, const void* k,         \
                                     const void* v, const void* bias,                             \
                                     const shw::runtime::cuda::KeySpan* spans,                    \
                                     shw::runtime::cuda::AttentionArguments arguments) {          \
    using namespace shw::runtime::cuda;                                                           \
    using Shape = TiledShape<kTiledForwardRows, kTiledForwardRows, width>;                        \
    __shared__ TiledForward<Shape> tiles;                                                         \
    tiled_forward<Shape>(out, lse, q, k, v, bias, spans, arguments, tiles);                       \
  }                                                                                               \
  SHW_TILED_KERNEL shw_tiled_dq_##width(                                                          \
      void* dq, void* dbias, float* deltas, const void* grad, const void* q, const void* k,       \
      const void* v, const void* bias, const void* out, const float* lse,                         \
      const shw::runtime::cuda::KeySpan* spans,                                                   \
      shw::runtime::cuda::AttentionBackwardArguments arguments) {                                 \
    using namespace shw::runtime::cuda;                                                           \
    using Shape = TiledBackwardShape<width>;                                                      \
    __shared__ TiledBackward<Shape> tiles;                                                        \
    tiled_dq<Shape>(dq, dbias, deltas, {grad, q, k, v, bias, out, lse, spans}, arguments, tiles); \
  }                                                                                               \
  SHW_TILED_KERNEL shw_tiled_dkv_##width(                                                         \
      void* dk, void* dv, const float* deltas, const void* grad, const void* q, const void* k,    \
      const void* v, const void* bias, const void* out, const float* lse,                         \
      const shw::runtime::cuda::KeySpan* spans,                                                   \
      shw::runtime::cuda::AttentionBackwardArguments arguments) {                                 \
    using namespace shw::runtime::cuda;                                                           \
    using Shape = TiledBackwardShape<width>;                                                      \
    __shared__ TiledBackward<Shape> tiles;                                                        \
    tiled_dkv<Shape>(dk, dv, deltas, {grad, q, k, v, bias, out, lse, spans}, arguments, tiles);   \
  }

SHW_TILED_KERNELS(64)
SHW_TILED_KERNELS(128)
#undef SHW_TILED_KERNELS
#undef SHW_TILED_KERNEL
