// The solver's hot loop. Compiler vector types make every clone (kernels.h) keep a row of
// accumulators in registers; rows are a whole number of vectors, so there are no remainder loops.
#include "solver/trws_kernel.h"

#include "solver/kernels.h"

namespace shw::solver {
namespace {

#define SHW_INLINE inline __attribute__((always_inline))

typedef double Vec __attribute__((vector_size(8 * kLanes)));  // rows are aligned to this

SHW_INLINE Vec& at(double* p) { return *reinterpret_cast<Vec*>(p); }
SHW_INLINE const Vec& at(const double* p) { return *reinterpret_cast<const Vec*>(p); }
SHW_INLINE void lower(Vec& a, const Vec& b) { a = b < a ? b : a; }
SHW_INLINE double smallest(const Vec& v) {
  double m = v[0];
  for (size_t i = 1; i < kLanes; ++i) m = v[i] < m ? v[i] : m;
  return m;
}

// out = min over s of w[s] + m[s], for kBlocks vectors of columns. Even and odd rows use separate
// accumulators, because the chain of minima limits a narrow matrix.
template <size_t kBlocks>
SHW_INLINE void min_plus_columns(const double* w, uint32_t rows, const double* m, size_t stride,
                                 double* out) {
  Vec even[kBlocks], odd[kBlocks];
  for (size_t b = 0; b < kBlocks; ++b) {
    even[b] = w[0] + at(m + kLanes * b);
    odd[b] = even[b];
  }
  uint32_t s = 1;
  for (; s + 1 < rows; s += 2) {
    const double* row = m + s * stride;
    for (size_t b = 0; b < kBlocks; ++b) {
      lower(even[b], w[s] + at(row + kLanes * b));
      lower(odd[b], w[s + 1] + at(row + stride + kLanes * b));
    }
  }
  if (s < rows)
    for (size_t b = 0; b < kBlocks; ++b) lower(even[b], w[s] + at(m + s * stride + kLanes * b));
  for (size_t b = 0; b < kBlocks; ++b) {
    lower(even[b], odd[b]);
    at(out + kLanes * b) = even[b];
  }
}

SHW_INLINE void min_plus_padded(const double* w, uint32_t rows, const double* m, size_t stride,
                                double* out) {
  size_t j = 0;
  for (; j + 4 * kLanes <= stride; j += 4 * kLanes)
    min_plus_columns<4>(w, rows, m + j, stride, out + j);
  switch ((stride - j) / kLanes) {
    case 3:
      min_plus_columns<3>(w, rows, m + j, stride, out + j);
      break;
    case 2:
      min_plus_columns<2>(w, rows, m + j, stride, out + j);
      break;
    case 1:
      min_plus_columns<1>(w, rows, m + j, stride, out + j);
      break;
    default:
      break;
  }
}

SHW_INLINE double row_min(const double* row, uint32_t stride) {
  Vec m = at(row);
  for (size_t j = kLanes; j < stride; j += kLanes) lower(m, at(row + j));
  return smallest(m);
}

SHW_INLINE void add_row(double* sum, const double* row, uint32_t stride) {
  for (size_t j = 0; j < stride; j += kLanes) at(sum + j) += at(row + j);
}

// Adds the costs of a variable folded into an edge to one row of the edge's table.
SHW_INLINE void add_folds(double* sum, const TrwsFold& fold, size_t row, uint32_t stride) {
  const uint8_t* label = fold.reverse + row * stride;
  for (size_t j = 0; j < stride; ++j) sum[j] += fold.costs[label[j]];
}

// The table of an edge, including the costs of variables folded into it.
SHW_INLINE const double* unfolded(const TrwsArc& arc, uint32_t rows, double* table) {
  if (arc.num_paying == 0) return arc.matrix;
  const size_t cells = size_t{rows} * arc.other_stride;
  const TrwsFold& first = arc.folds[0];
  for (size_t i = 0; i < cells; ++i) table[i] = arc.matrix[i] + first.costs[first.label[i]];
  for (uint32_t f = 1; f < arc.num_paying; ++f)
    for (size_t i = 0; i < cells; ++i) table[i] += arc.folds[f].costs[arc.folds[f].label[i]];
  return table;
}

}  // namespace

SHW_MULTIVERSION void trws_run(const TrwsSweep& sweep, int64_t first, int64_t last, int64_t step) {
  for (int64_t q = first; q != last; q += step) {
    const TrwsNode& node = sweep.nodes[q];
    const uint32_t k = node.labels, stride = node.stride;
    const auto [done_first, done_end] = node.done(step);
    const auto [todo_first, todo_end] = node.to_come(step);
    const size_t slot = sweep.first_slot(static_cast<size_t>(q));

    double* theta = sweep.scratch;
    double* given = theta + stride;  // costs given the labels of the visited neighbours
    double* w = given + stride;
    for (size_t j = 0; j < stride; j += kLanes) at(theta + j) = at(node.unary + j);
    for (uint32_t a = todo_first; a < todo_end; ++a) add_row(theta, sweep.arcs[a].in, stride);

    for (size_t j = 0; j < stride; j += kLanes) at(given + j) = at(theta + j);
    for (uint32_t a = done_first; a < done_end; ++a) {
      const TrwsArc& arc = sweep.arcs[a];
      const size_t row = sweep.choice[arc.other];
      add_row(given, arc.reverse + row * stride, stride);
      for (uint32_t f = 0; f < arc.num_paying; ++f) add_folds(given, arc.folds[f], row, stride);
    }
    const double best = row_min(given, stride);
    uint32_t x = 0;
    while (x + 1 < k && given[x] != best) ++x;
    sweep.choice[q] = x;
    double paid = node.unary[x];
    for (uint32_t a = done_first; a < done_end; ++a) {
      const TrwsArc& arc = sweep.arcs[a];
      const size_t cell = size_t{sweep.choice[arc.other]} * stride + x;
      paid += arc.reverse[cell];
      for (uint32_t f = 0; f < arc.num_paying; ++f)
        paid += arc.folds[f].costs[arc.folds[f].reverse[cell]];
    }
    sweep.paid[q] = paid;

    for (uint32_t a = done_first; a < done_end; ++a) add_row(theta, sweep.arcs[a].in, stride);
    const double least = row_min(theta, stride);
    sweep.moved[slot] = least;
    for (size_t j = 0; j < stride; j += kLanes) at(theta + j) -= least;
    if (sweep.marginals != nullptr) {
      double* kept = sweep.marginals + (node.unary - sweep.nodes[0].unary);
      for (size_t j = 0; j < stride; j += kLanes) at(kept + j) = at(theta + j);
    }
    for (size_t j = 0; j < stride; j += kLanes) at(theta + j) *= node.weight;

    for (uint32_t a = todo_first; a < todo_end; ++a) {
      const TrwsArc& arc = sweep.arcs[a];
      for (size_t j = 0; j < stride; j += kLanes) at(w + j) = at(theta + j) - at(arc.in + j);
      if (sweep.rounded != nullptr && sweep.rounded[a].cells != nullptr && arc.num_paying == 0)
        min_plus_rounded(w, k, sweep.rounded[a], sweep.rounded_scratch, arc.other_stride, arc.out);
      else
        min_plus_padded(w, k, unfolded(arc, k, sweep.table), arc.other_stride, arc.out);
      const double moved = row_min(arc.out, arc.other_stride);
      sweep.moved[slot + 1 + (a - node.first_arc)] = moved;
      for (size_t j = 0; j < arc.other_stride; j += kLanes) at(arc.out + j) -= moved;
    }
  }
}

}  // namespace shw::solver
