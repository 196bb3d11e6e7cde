// Attention on tensor cores, forward: a block goes over the keys that a tile of queries sees.
#pragma once
#include "flash_scores.cuh"

namespace shw::runtime::cuda {

template <int kWidth>
struct FlashForward {
  static constexpr int kQueries = kFlashForwardRows;
  static constexpr int kRowTiles = kQueries / (kFlashWarps * 16);
  static constexpr int kKeys = 4096 / kWidth;  // the tiles fill 48 KiB at most
  static constexpr int kKeyTiles = kKeys / 8, kOutTiles = kWidth / 8;
  FlashTile<kQueries, kWidth> q;
  FlashTile<kKeys, kWidth> k, v;
};

// What a warp knows of its rows: i of row tile m is row row_in_tile(2 i).
template <int kRowTiles>
struct RunningSoftmax {
  float most[kRowTiles][2], total[kRowTiles][2];  // the total: of this lane's columns

  __device__ void begin() {
    SHW_UNROLL
    for (int m = 0; m < kRowTiles; ++m)
      for (int i = 0; i < 2; ++i) {
        most[m][i] = minus_infinity<float>();
        total[m][i] = 0;
      }
  }

  // Scores, as powers of two, become weights; what has been added up shrinks with the maximum.
  template <int kKeyTiles, int kOutTiles>
  __device__ void add(float (&s)[kRowTiles][kKeyTiles][4], float factor,
                      float (&out)[kRowTiles][kOutTiles][4]) {
    SHW_UNROLL
    for (int m = 0; m < kRowTiles; ++m) {
      SHW_UNROLL
      for (int i = 0; i < 2; ++i) {
        float larger = minus_infinity<float>();
        SHW_UNROLL
        for (int n = 0; n < kKeyTiles; ++n)
          larger = fmaxf(larger, fmaxf(s[m][n][2 * i], s[m][n][2 * i + 1]));
        larger = fmaxf(most[m][i], max_of_row(larger) * factor);
        const float shift = larger == minus_infinity<float>() ? 0.0f : larger;
        const float shrink = power_of_two(most[m][i] - shift);
        most[m][i] = larger;
        float sum = 0;
        SHW_UNROLL
        for (int n = 0; n < kKeyTiles; ++n) {
          SHW_UNROLL
          for (int j = 2 * i; j < 2 * i + 2; ++j) {
            s[m][n][j] = power_of_two(fmaf(s[m][n][j], factor, -shift));
            sum = sum + s[m][n][j];
          }
        }
        total[m][i] = total[m][i] * shrink + sum;
        SHW_UNROLL
        for (int n = 0; n < kOutTiles; ++n)
          for (int j = 2 * i; j < 2 * i + 2; ++j) out[m][n][j] = out[m][n][j] * shrink;
      }
    }
  }
};

template <class E, int kWidth>
__device__ inline void flash_forward(void* out, float* lse, const void* q, const void* k,
                                     const void* v, const void* bias, const AttentionArguments& a,
                                     FlashForward<kWidth>& shared) {
  using F = FlashForward<kWidth>;
  const int warp_row = static_cast<int>(threadIdx.x) / kWarpThreads * F::kRowTiles * 16;
  const int tiles = static_cast<int>((a.queries + F::kQueries - 1) / F::kQueries);
  const i64 blocks = flash_blocks(a.batch, a.heads, a.queries, F::kQueries);
  for (i64 block = blockIdx.x; block < blocks; block += gridDim.x) {
    FlashPlace at = flash_place(block, a.batch, a.heads, F::kQueries);
    // Where later queries see more keys, they take longer: they come first.
    at.first = (tiles - 1) * F::kQueries - at.first;
    const int key_head = at.h / static_cast<int>(a.heads / a.key_heads);
    const void* keys_at = head_rows(k, a.k, at.b, key_head);
    const void* values_at = head_rows(v, a.v, at.b, key_head);
    const FlashSpan seen = keys_of_tile(a, at.first, F::kQueries);

    float sums[F::kRowTiles][F::kOutTiles][4] = {};
    RunningSoftmax<F::kRowTiles> softmax;
    softmax.begin();
    begin_tile(shared.q, head_rows(q, a.q, at.b, at.h), a.q.stride[2], at.first, a.queries,
               a.width);
    if (seen.begin < seen.end)
      begin_tile(shared.k, keys_at, a.k.stride[2], seen.begin, a.keys, a.width);
    for (int first = seen.begin; first < seen.end; first += F::kKeys) {
      finish_copies();
      __syncthreads();  // the keys are there, and the last values have been read
      begin_tile(shared.v, values_at, a.v.stride[2], first, a.keys, a.value_width);
      float s[F::kRowTiles][F::kKeyTiles][4];
      rows_by_rows<E>(s, shared.q, warp_row, shared.k);
      const float factor = finish_scores<E>(
          s, a, is_plain(a, at.first, F::kQueries, first, F::kKeys), [&](int m, int half) {
            return query_row(a, bias, at.b, at.h,
                             at.first + warp_row + m * 16 + row_in_tile(2 * half), first);
          });
      softmax.add(s, factor, sums);
      finish_copies();
      __syncthreads();  // the values are there, and the keys have been read
      if (first + F::kKeys < seen.end)
        begin_tile(shared.k, keys_at, a.k.stride[2], first + F::kKeys, a.keys, a.width);
      weighted_rows<E>(sums, s, shared.v);
    }
    finish_copies();
    __syncthreads();  // the tiles may be overwritten

    SHW_UNROLL
    for (int m = 0; m < F::kRowTiles; ++m) {
      float inverse[2];
      SHW_UNROLL
      for (int i = 0; i < 2; ++i) {
        const float total = sum_of_row(softmax.total[m][i]);
        // A query that sees nothing: its weights are zero, not 0/0.
        inverse[i] = total > 0 || total != total ? 1.0f / total : 0.0f;
        const int query = at.first + warp_row + m * 16 + row_in_tile(2 * i);
        const float most = softmax.most[m][i];
        if (lse != nullptr && column_in_tile(0) == 0 && query < a.queries)
          lse[lse_offset(a, at.b, at.h, query)] =
              (most == minus_infinity<float>() ? 0.0f : most * kLn2) + logf(total);
      }
      if (out != nullptr)
        store_rows<E>(sums[m], inverse[0], inverse[1], head_rows(out, a.out, at.b, at.h),
                      a.out.stride[2], at.first + warp_row + m * 16, a.queries, a.value_width);
    }
  }
  pad_lse(lse, a);
}

}  // namespace shw::runtime::cuda
