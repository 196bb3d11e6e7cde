// Tiles of f32 rows in shared memory, and the products of attention on them. The 128 threads of a
// block lie as 8 rows of 16. Each computes scores of some rows and columns of a tile of scores, and
// owns some columns of the results of the same rows.
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

__device__ inline bool is_in(const KeySpan& span, i64 at) {
  return at >= span.begin && at < span.end;
}
// scale · product + bias; minus infinity where the two do not see each other.
__device__ inline float tiled_score(const AttentionArguments& a, const void* bias, i64 b, i64 h,
                                    i64 query, i64 key, bool is_seen, float product) {
  if (!is_seen) return minus_infinity<float>();
  const float s = product * static_cast<float>(a.scale);
  if (!a.has_bias) return s;
  return s + load_real<float>(bias, head_offset(a.bias, b, h, query) + key * a.bias.stride[3],
                              a.bias.dtype);
}

}  // namespace shw::runtime::cuda
