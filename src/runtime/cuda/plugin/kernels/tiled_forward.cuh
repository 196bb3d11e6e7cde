// Attention on tiles in f32, forward: a block goes over the keys that a tile of queries sees.
#pragma once
#include "tiles_f32.cuh"

namespace shw::runtime::cuda {

template <class S>
struct TiledForward {
  typename S::Rows q;
  typename S::Others keys;  // then their values
  typename S::Weights weights;
};

template <class S>
__device__ inline void tiled_forward(void* out, float* lse, const void* q, const void* k,
                                     const void* v, const void* bias, const KeySpan* spans,
                                     const u64* seed, const AttentionArguments& a,
                                     TiledForward<S>& shared) {
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
          const i64 key = first + tiled_column<S>(c);
          s[r][c] = tiled_score(a, bias, at.b, at.h, at.first + tiled_row<S>(r), key,
                                is_in(of_row[r], key), s[r][c]);
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
          s[r][c] = after_dropout(a, seed, at.b, at.h, at.first + tiled_row<S>(r),
                                  first + tiled_column<S>(c), s[r][c]);
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

}  // namespace shw::runtime::cuda
