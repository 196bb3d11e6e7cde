// The gradients of attention on tiles in f32.
#pragma once
#include "tiles_f32.cuh"

namespace shw::runtime::cuda {

struct TiledGradients {
  const void *grad, *q, *k, *v, *bias, *out;
  const float* lse;
  const KeySpan* spans;
  const u64* seed;
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
          const float score =
              tiled_score(a, in.bias, at.b, at.h, query, key, is_in(of_row[r], key), s[r][c]);
          const float kept = after_dropout(a, in.seed, at.b, at.h, query, key, along[r][c]);
          s[r][c] = tiled_weight(score, lse[r]) * (kept - delta[r]);
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
            const i64 key = at.first + tiled_row<S>(r);
            const float score =
                tiled_score(a, in.bias, at.b, h, query, key, is_in(of_row[r], query), s[r][c]);
            const float weight = tiled_weight(score, lse);
            s[r][c] = after_dropout(a, in.seed, at.b, h, query, key, weight);
            along[r][c] =
                weight * (after_dropout(a, in.seed, at.b, h, query, key, along[r][c]) - delta);
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
