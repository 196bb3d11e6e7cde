// Scores of attention on tensor cores: the tiles that blocks work on, which pairs of a tile see
// each other, and what products become.
#pragma once
#include "flash_tiles.cuh"

namespace shw::runtime::cuda {

constexpr float kLog2E = 1.44269504088896341f, kLn2 = 0.69314718055994531f;

// The tile of queries or keys that a block works on.
struct FlashPlace {
  int b, h, first;  // batch, head, first row
};
__device__ inline i64 flash_blocks(i64 batch, i64 heads, i64 rows, int tile) {
  return batch * heads * ((rows + tile - 1) / tile);
}
__device__ inline FlashPlace flash_place(i64 number, i64 batch, i64 heads, int tile) {
  const i64 of_tile = number % (batch * heads);
  return {static_cast<int>(of_tile / heads), static_cast<int>(of_tile % heads),
          static_cast<int>(number / (batch * heads)) * tile};
}

__device__ inline const void* head_rows(const void* base, const HeadWindow& w, i64 b, i64 h) {
  return static_cast<const char*>(base) + head_offset(w, b, h, 0);
}
__device__ inline void* head_rows(void* base, const HeadWindow& w, i64 b, i64 h) {
  return static_cast<char*>(base) + head_offset(w, b, h, 0);
}

// The keys that the queries of a tile see together, and the queries that together see the keys of
// one.
struct FlashSpan {
  int begin, end;
};
__device__ inline FlashSpan flash_span(int begin, int end, i64 of) {
  const int all = static_cast<int>(of);
  return {begin < 0 ? 0 : begin, end < all ? end : all};
}
__device__ inline FlashSpan keys_of_tile(const AttentionArguments& a, int first, int rows) {
  return flash_span(first - static_cast<int>(a.left), first + rows + static_cast<int>(a.right),
                    a.keys);
}
__device__ inline FlashSpan queries_of_tile(const AttentionArguments& a, int first, int rows) {
  return flash_span(first - static_cast<int>(a.right), first + rows + static_cast<int>(a.left),
                    a.queries);
}

// One row of a tile of scores: which of its columns are pairs that see each other, and its bias.
struct FlashRow {
  int from, to;
  const char* bias;  // of column 0
  int step;          // from one column's bias to the next one's
};

// The row of a query, whose columns are keys from `first` on.
__device__ inline FlashRow query_row(const AttentionArguments& a, const void* bias, int b, int h,
                                     int query, int first) {
  const FlashSpan seen = query < a.queries ? keys_of_tile(a, query, 1) : FlashSpan{0, 0};
  return {
      seen.begin - first, seen.end - first,
      static_cast<const char*>(bias) + head_offset(a.bias, b, h, query) + first * a.bias.stride[3],
      static_cast<int>(a.bias.stride[3])};
}
// The row of a key, whose columns are queries from `first` on.
__device__ inline FlashRow key_row(const AttentionArguments& a, const void* bias, int b, int h,
                                   int key, int first) {
  const FlashSpan seen = key < a.keys ? queries_of_tile(a, key, 1) : FlashSpan{0, 0};
  return {
      seen.begin - first, seen.end - first,
      static_cast<const char*>(bias) + head_offset(a.bias, b, h, first) + key * a.bias.stride[3],
      static_cast<int>(a.bias.stride[2])};
}

// log2(e) · (scale · product + bias), minus infinity where the two do not see each other.
template <class E>
__device__ inline float flash_score(const AttentionArguments& a, const FlashRow& row, float product,
                                    int column) {
  if (column < row.from || column >= row.to) return minus_infinity<float>();
  const float s = product * static_cast<float>(a.scale);
  if (!a.has_bias) return s * kLog2E;
  return (s + E::wide(element<unsigned short>(row.bias + column * row.step))) * kLog2E;
}

// Whether all pairs of a tile are seen, and need nothing but their scale, which keeps their order.
__device__ inline bool is_plain(const AttentionArguments& a, i64 first_query, int queries,
                                i64 first_key, int keys) {
  return !a.has_bias && a.scale > 0 && first_query + queries <= a.queries &&
         first_key + keys <= a.keys && first_query + queries - 1 - a.left <= first_key &&
         first_key + keys - 1 <= first_query + a.right;
}

// Products become scores, once they are multiplied by the factor that it returns: whoever subtracts
// from them does both at once. `row_of` gives the row of tile m that is row row_in_tile(2 · half)
// of it.
template <class E, int kRowTiles, int kTiles, class RowOf>
__device__ inline float finish_scores(float (&s)[kRowTiles][kTiles][4], const AttentionArguments& a,
                                      bool plain, const RowOf& row_of) {
  if (plain) return static_cast<float>(a.scale) * kLog2E;
  SHW_UNROLL
  for (int m = 0; m < kRowTiles; ++m) {
    SHW_UNROLL
    for (int half = 0; half < 2; ++half) {
      const FlashRow row = row_of(m, half);
      SHW_UNROLL
      for (int n = 0; n < kTiles; ++n) {
        SHW_UNROLL
        for (int i = 2 * half; i < 2 * half + 2; ++i)
          s[m][n][i] = flash_score<E>(a, row, s[m][n][i], n * 8 + column_in_tile(i));
      }
    }
  }
  return 1;
}

}  // namespace shw::runtime::cuda
