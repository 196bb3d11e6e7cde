// The gradients of attention on tensor cores: of queries, by blocks that go over keys, and of keys
// and values, by blocks that go over queries.
#pragma once
#include "flash_scores.cuh"

namespace shw::runtime::cuda {

struct FlashGradients {
  const void *grad, *q, *k, *v, *bias, *out;
  const float* lse;
};

// The weight of a pair, from its score and log2(e) times its log-sum-exp, which is minus infinity
// where the query sees nothing.
__device__ inline float flash_weight(float score, float factor, float lse) {
  return lse == minus_infinity<float>() ? 0.0f : power_of_two(fmaf(score, factor, -lse));
}

// What is read from shared memory bounds these kernels: a warp with two tiles of rows reads half as
// much for each product. While one stage of tiles is multiplied, the next is copied, where 48 KiB
// hold two.
template <int kWidth>
struct FlashBackward {
  static constexpr int kRows = kFlashBackwardRows<kWidth>;  // of the tile that a block works on
  static constexpr int kRowTiles = kRows / (kFlashWarps * 16);
  static constexpr int kOthers = 32;  // of the tiles that it goes over
  static constexpr int kStages = kWidth <= 64 ? 2 : 1;
  static constexpr int kTiles = kOthers / 8, kOutTiles = kWidth / 8;
  FlashTile<kRows, kWidth> mine[2];
  FlashTile<kOthers, kWidth> others[kStages][2];
};

// The tiles that a block goes over, `count` of them: begin(stage, number) begins to copy one,
// work(stage, number) is the block's work on it.
template <int kStages, class Begin, class Work>
__device__ inline void over_tiles(int count, const Begin& begin, const Work& work) {
  if (count > 0) begin(0, 0);
  SHW_UNROLL_BY(1)
  for (int i = 0; i < count; ++i) {
    finish_copies();
    __syncthreads();  // the tiles are there, and those before them have been read
    const bool is_last = i + 1 == count;
    if (kStages > 1 && !is_last) begin((i + 1) % kStages, i + 1);
    work(i % kStages, i);
    if (kStages > 1) continue;
    __syncthreads();
    if (!is_last) begin(0, i + 1);
  }
  finish_copies();
  __syncthreads();  // the tiles may be overwritten
}
__device__ inline int num_tiles(const FlashSpan& span, int tile) {
  return span.begin < span.end ? (span.end - span.begin + tile - 1) / tile : 0;
}

// rowsum(grad ∘ out) of a query, by the four lanes that share it.
template <class E>
__device__ inline float flash_delta(const AttentionBackwardArguments& p, const FlashGradients& in,
                                    const FlashPlace& at, int query) {
  const AttentionArguments& a = p.forward;
  float sum = 0;
  if (query < a.queries) {
    const char* grad = static_cast<const char*>(in.grad) + head_offset(p.grad, at.b, at.h, query);
    const char* out = static_cast<const char*>(in.out) + head_offset(a.out, at.b, at.h, query);
    for (i64 c = column_in_tile(0) / 2; c < a.value_width; c += 4)
      sum = sum + E::wide(element<unsigned short>(grad + 2 * c)) *
                      E::wide(element<unsigned short>(out + 2 * c));
  }
  return sum_of_row(sum);
}

template <class E, int kWidth>
__device__ inline void flash_dq(void* dq, void* dbias, float* deltas, const FlashGradients& in,
                                const AttentionBackwardArguments& p,
                                FlashBackward<kWidth>& shared) {
  using F = FlashBackward<kWidth>;
  const AttentionArguments& a = p.forward;
  const int warp_row = static_cast<int>(threadIdx.x) / kWarpThreads * F::kRowTiles * 16;
  const int tiles = static_cast<int>((a.queries + F::kRows - 1) / F::kRows);
  const i64 blocks = flash_blocks(a.batch, a.heads, a.queries, F::kRows);
  for (i64 block = blockIdx.x; block < blocks; block += gridDim.x) {
    FlashPlace at = flash_place(block, a.batch, a.heads, F::kRows);
    at.first = (tiles - 1) * F::kRows - at.first;
    const int key_head = at.h / static_cast<int>(a.heads / a.key_heads);
    begin_tile(shared.mine[0], head_rows(in.q, a.q, at.b, at.h), a.q.stride[2], at.first, a.queries,
               a.width);
    begin_tile(shared.mine[1], head_rows(in.grad, p.grad, at.b, at.h), p.grad.stride[2], at.first,
               a.queries, a.value_width);
    const auto query_of = [&](int m, int half) {
      return at.first + warp_row + m * 16 + row_in_tile(2 * half);
    };
    float lse[F::kRowTiles][2], delta[F::kRowTiles][2];
    SHW_UNROLL
    for (int m = 0; m < F::kRowTiles; ++m) {
      SHW_UNROLL
      for (int i = 0; i < 2; ++i) {
        const int query = query_of(m, i);
        delta[m][i] = flash_delta<E>(p, in, at, query);
        lse[m][i] = query < a.queries ? in.lse[lse_offset(a, at.b, at.h, query)] * kLog2E
                                      : minus_infinity<float>();
        if (query < a.queries && column_in_tile(0) == 0)
          deltas[(at.b * a.heads + at.h) * a.queries + query] = delta[m][i];
      }
    }
    // The gradient of a bias has a value for every pair, also for those that are not seen.
    const FlashSpan seen = dbias == nullptr ? keys_of_tile(a, at.first, F::kRows)
                                            : FlashSpan{0, static_cast<int>(a.keys)};
    float sums[F::kRowTiles][F::kOutTiles][4] = {};
    const auto begin = [&](int stage, int number) {
      const int first = seen.begin + number * F::kOthers;
      begin_tile(shared.others[stage][0], head_rows(in.k, a.k, at.b, key_head), a.k.stride[2],
                 first, a.keys, a.width);
      begin_tile(shared.others[stage][1], head_rows(in.v, a.v, at.b, key_head), a.v.stride[2],
                 first, a.keys, a.value_width);
    };
    const auto work = [&](int stage, int number) {
      const int first = seen.begin + number * F::kOthers;
      float s[F::kRowTiles][F::kTiles][4], along[F::kRowTiles][F::kTiles][4];
      rows_by_rows<E>(s, shared.mine[0], warp_row, shared.others[stage][0]);
      const float factor = finish_scores<E>(
          s, a, is_plain(a, at.first, F::kRows, first, F::kOthers), [&](int m, int half) {
            return query_row(a, in.bias, at.b, at.h, query_of(m, half), first);
          });
      rows_by_rows<E>(along, shared.mine[1], warp_row, shared.others[stage][1]);
      SHW_UNROLL
      for (int m = 0; m < F::kRowTiles; ++m) {
        SHW_UNROLL
        for (int half = 0; half < 2; ++half) {
          SHW_UNROLL
          for (int n = 0; n < F::kTiles; ++n) {
            SHW_UNROLL
            for (int i = 2 * half; i < 2 * half + 2; ++i)
              s[m][n][i] = flash_weight(s[m][n][i], factor, lse[m][half]) *
                           (along[m][n][i] - delta[m][half]);
          }
          if (dbias == nullptr) continue;
          const int query = query_of(m, half);
          char* to = static_cast<char*>(dbias) + head_offset(p.dbias, at.b, at.h, query) +
                     first * p.dbias.stride[3];
          const int there = query < a.queries ? static_cast<int>(a.keys) - first : 0;
          const int step = static_cast<int>(p.dbias.stride[3]);
          SHW_UNROLL
          for (int n = 0; n < F::kTiles; ++n) {
            SHW_UNROLL
            for (int i = 2 * half; i < 2 * half + 2; ++i) {
              const int column = n * 8 + column_in_tile(i);
              if (column < there) put(to + column * step, E::narrow(s[m][n][i]));
            }
          }
        }
      }
      weighted_rows<E>(sums, s, shared.others[stage][0]);
    };
    over_tiles<F::kStages>(num_tiles(seen, F::kOthers), begin, work);
    const auto scale = static_cast<float>(a.scale);
    if (dq == nullptr) continue;
    SHW_UNROLL
    for (int m = 0; m < F::kRowTiles; ++m)
      store_rows<E>(sums[m], scale, scale, head_rows(dq, p.dq, at.b, at.h), p.dq.stride[2],
                    at.first + warp_row + m * 16, a.queries, a.width);
  }
}

// What belongs to the queries of a tile's columns: their log-sum-exps and deltas, `there` of them.
struct FlashColumns {
  const float* lse;
  i64 lse_step;
  const float* deltas;
  int there;
};
// Scores of keys by queries become weights.
template <int kRowTiles, int kTiles>
__device__ inline void weigh_queries(float (&s)[kRowTiles][kTiles][4], float factor,
                                     const FlashColumns& of) {
  SHW_UNROLL
  for (int n = 0; n < kTiles; ++n) {
    SHW_UNROLL
    for (int j = 0; j < 2; ++j) {
      const int column = n * 8 + column_in_tile(j);
      const float lse =
          column < of.there ? of.lse[column * of.lse_step] * kLog2E : minus_infinity<float>();
      SHW_UNROLL
      for (int m = 0; m < kRowTiles; ++m) {
        s[m][n][j] = flash_weight(s[m][n][j], factor, lse);
        s[m][n][2 + j] = flash_weight(s[m][n][2 + j], factor, lse);
      }
    }
  }
}
// Weights become the gradients of scores. `along`: the products of values and gradients.
template <int kRowTiles, int kTiles>
__device__ inline void differentiate_scores(float (&s)[kRowTiles][kTiles][4],
                                            const float (&along)[kRowTiles][kTiles][4],
                                            const FlashColumns& of) {
  SHW_UNROLL
  for (int n = 0; n < kTiles; ++n) {
    SHW_UNROLL
    for (int j = 0; j < 2; ++j) {
      const int column = n * 8 + column_in_tile(j);
      const float delta = column < of.there ? of.deltas[column] : 0.0f;
      SHW_UNROLL
      for (int m = 0; m < kRowTiles; ++m) {
        s[m][n][j] = s[m][n][j] * (along[m][n][j] - delta);
        s[m][n][2 + j] = s[m][n][2 + j] * (along[m][n][2 + j] - delta);
      }
    }
  }
}

struct alignas(8) TwoFloats {
  float first, second;
};
// A part of gradients: [part][batch][head of keys][key], a row of dk and a row of dv.
__device__ inline i64 part_row(const AttentionArguments& a, i64 part, i64 b, i64 head, i64 key) {
  return (((part * a.batch + b) * a.key_heads + head) * a.keys + key) * (a.width + a.value_width);
}
// Stores 16 rows of a part, which begin at `to`.
template <int kTiles>
__device__ inline void store_part(const float (&c)[kTiles][4], float factor, float* to,
                                  const AttentionArguments& a, i64 rows, i64 width) {
  SHW_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = row_in_tile(half * 2);
    if (row >= rows) continue;
    float* at = to + row * (a.width + a.value_width);
    SHW_UNROLL
    for (int n = 0; n < kTiles; ++n) {
      const int column = n * 8 + column_in_tile(0);
      if (column < width)
        put(at + column, TwoFloats{c[n][half * 2] * factor, c[n][half * 2 + 1] * factor});
    }
  }
}
// The parts added up, in their order.
__device__ inline void flash_join(void* dk, void* dv, const float* parts,
                                  const AttentionBackwardArguments& p) {
  const AttentionArguments& a = p.forward;
  const i64 columns = a.width + a.value_width, total = a.batch * a.key_heads * a.keys * columns;
  for (i64 i = thread_number(); i < total; i += num_threads()) {
    const i64 row = quotient(i, columns), column = i - row * columns;
    const i64 head_row = quotient(row, a.keys), key = row - head_row * a.keys;
    const i64 b = quotient(head_row, a.key_heads), h = head_row - b * a.key_heads;
    const bool is_key = column < a.width;
    void* to = is_key ? dk : dv;
    if (to == nullptr) continue;
    float sum = parts[i];
    for (i64 part = 1; part < p.parts; ++part) sum = sum + parts[part * total + i];
    const HeadWindow& w = is_key ? p.dk : p.dv;
    store_real(sum, to,
               head_offset(w, b, h, key) + (is_key ? column : column - a.width) * w.stride[3],
               w.dtype);
  }
}

template <class E, int kWidth>
__device__ inline void flash_dkv(void* dk, void* dv, float* parts, const float* deltas,
                                 const FlashGradients& in, const AttentionBackwardArguments& p,
                                 FlashBackward<kWidth>& shared) {
  using F = FlashBackward<kWidth>;
  const AttentionArguments& a = p.forward;
  const int warp_row = static_cast<int>(threadIdx.x) / kWarpThreads * F::kRowTiles * 16;
  // The heads of a block: those of a part.
  const i64 parts_of_all = a.key_heads * p.parts;
  const int heads = static_cast<int>(a.heads / parts_of_all);
  const i64 blocks = flash_blocks(a.batch, parts_of_all, a.keys, F::kRows);
  for (i64 block = blockIdx.x; block < blocks; block += gridDim.x) {
    const FlashPlace at = flash_place(block, a.batch, parts_of_all, F::kRows);  // h: of all parts
    const auto key_head = [&] { return at.h / static_cast<int>(p.parts); };
    begin_tile(shared.mine[0], head_rows(in.k, a.k, at.b, key_head()), a.k.stride[2], at.first,
               a.keys, a.width);
    begin_tile(shared.mine[1], head_rows(in.v, a.v, at.b, key_head()), a.v.stride[2], at.first,
               a.keys, a.value_width);
    float keys[F::kRowTiles][F::kOutTiles][4] = {}, values[F::kRowTiles][F::kOutTiles][4] = {};
    const FlashSpan seen = queries_of_tile(a, at.first, F::kRows);
    const int of_head = num_tiles(seen, F::kOthers);  // tiles; those of one head after another
    const auto head_of = [&](int number) { return at.h * heads + number / of_head; };
    const auto first_of = [&](int number) { return seen.begin + number % of_head * F::kOthers; };
    const auto begin = [&](int stage, int number) {
      const int h = head_of(number), first = first_of(number);
      begin_tile(shared.others[stage][0], head_rows(in.q, a.q, at.b, h), a.q.stride[2], first,
                 a.queries, a.width);
      begin_tile(shared.others[stage][1], head_rows(in.grad, p.grad, at.b, h), p.grad.stride[2],
                 first, a.queries, a.value_width);
    };
    const auto work = [&](int stage, int number) {
      const int h = head_of(number), first = first_of(number);
      const FlashColumns queries{in.lse + lse_offset(a, at.b, h, first), a.lse_row,
                                 deltas + (at.b * a.heads + h) * a.queries + first,
                                 static_cast<int>(a.queries) - first};
      float s[F::kRowTiles][F::kTiles][4];
      rows_by_rows<E>(s, shared.mine[0], warp_row, shared.others[stage][0]);
      const float factor = finish_scores<E>(
          s, a, is_plain(a, first, F::kOthers, at.first, F::kRows), [&](int m, int half) {
            return key_row(a, in.bias, at.b, h,
                           at.first + warp_row + m * 16 + row_in_tile(2 * half), first);
          });
      weigh_queries(s, factor, queries);
      if (dv != nullptr) weighted_rows<E>(values, s, shared.others[stage][1]);
      float along[F::kRowTiles][F::kTiles][4];
      rows_by_rows<E>(along, shared.mine[1], warp_row, shared.others[stage][1]);
      differentiate_scores(s, along, queries);
      if (dk != nullptr) weighted_rows<E>(keys, s, shared.others[stage][0]);
    };
    over_tiles<F::kStages>(of_head * heads, begin, work);
    const auto scale = static_cast<float>(a.scale);
    SHW_UNROLL
    for (int m = 0; m < F::kRowTiles; ++m) {
      const int row = at.first + warp_row + m * 16;
      if (p.parts > 1) {
        float* to = parts + part_row(a, at.h % static_cast<int>(p.parts), at.b, key_head(), row);
        store_part(keys[m], scale, to, a, a.keys - row, a.width);
        store_part(values[m], 1.0f, to + a.width, a, a.keys - row, a.value_width);
        continue;
      }
      if (dk != nullptr)
        store_rows<E>(keys[m], scale, scale, head_rows(dk, p.dk, at.b, key_head()), p.dk.stride[2],
                      row, a.keys, a.width);
      if (dv != nullptr)
        store_rows<E>(values[m], 1.0f, 1.0f, head_rows(dv, p.dv, at.b, key_head()), p.dv.stride[2],
                      row, a.keys, a.value_width);
    }
  }
}

}  // namespace shw::runtime::cuda
