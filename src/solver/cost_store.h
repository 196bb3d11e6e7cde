// Hash-consed cost vectors and matrices, with memoised operations on them.
//
// A network of repeated blocks has thousands of variables and edges but only a few hundred distinct
// cost tables. Each distinct table has a number, and each operation runs once per combination of
// numbers. The cost of presolve is therefore the cost of its distinct steps: identical regions
// share work but remain free to choose different labels.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "solver/memo.h"
#include "solver/problem.h"

namespace shw::solver {

class CostStore {
 public:
  using VectorId = uint32_t;
  using MaskId = uint32_t;  // a set of label positions
  // An ascending list: the labels of the original variable that the positions stand for.
  using LabelsId = uint32_t;
  using Handle = uint32_t;  // matrix << 1 | transposed
  static constexpr Handle flip(Handle h) { return h ^ 1; }

  VectorId vector(std::span<const double> values);
  std::span<const double> values(VectorId v) const { return {vectors_[v].data, vectors_[v].size}; }
  // Registers a matrix without copying it; the caller keeps it alive.
  Handle borrow(uint32_t rows, uint32_t cols, const double* row_major);
  uint32_t rows(Handle h) const { return h & 1 ? matrices_[h >> 1].cols : matrices_[h >> 1].rows; }
  uint32_t cols(Handle h) const { return rows(flip(h)); }
  const double* data(Handle h);  // row-major in the handle's orientation
  bool all_finite(Handle h) const { return matrices_[h >> 1].all_finite; }

  MaskId full(uint32_t size);
  MaskId finite(VectorId v);
  MaskId mask(std::span<const uint64_t> words, uint32_t size);
  uint32_t size(MaskId m) const { return masks_[m].size; }
  uint32_t count(MaskId m) const { return masks_[m].count; }
  bool is_full(MaskId m) const { return masks_[m].count == masks_[m].size; }
  bool contains(MaskId m, uint32_t i) const { return masks_[m].words[i / 64] >> (i % 64) & 1; }
  // The rows among `rows` with a finite entry in some column of `cols`.
  MaskId supported(Handle h, MaskId rows, MaskId cols);
  MaskId intersection(MaskId a, MaskId b);

  LabelsId all_labels(uint32_t size);
  LabelsId restricted_labels(LabelsId labels, MaskId m);
  std::span<const uint32_t> labels(LabelsId l) const { return labels_[l]; }

  VectorId restricted(VectorId v, MaskId m);
  Handle restricted(Handle h, MaskId rows, MaskId cols);
  VectorId sum_vectors(VectorId a, VectorId b);
  Handle sum_matrices(Handle a, Handle b);
  VectorId row(Handle h, uint32_t i);
  // min over s of v[s] + h[s][t], for each t.
  VectorId eliminate(VectorId v, Handle h);
  // min over s of v[s] + a[s][i] + b[s][j], for each (i, j).
  Handle eliminate(VectorId v, Handle a, Handle b);

  size_t num_matrices() const { return matrices_.size(); }

 private:
  struct Vector {
    const double* data;
    uint32_t size;
  };
  struct Matrix {
    uint32_t rows, cols;
    const double* data[2];   // as stored; transposed (null until requested)
    const uint64_t* finite;  // a bit per cell, rows padded to words (null until requested)
    bool all_finite;
  };
  struct Mask {
    const uint64_t* words;
    uint32_t size, count;
  };
  static constexpr size_t words_for(uint32_t bits) { return (bits + 63) / 64; }

  template <class T>
  T* allocate(size_t n);
  Handle matrix(uint32_t rows, uint32_t cols, const double* row_major);
  const uint64_t* finite_bits(uint32_t matrix);

  std::vector<Vector> vectors_;
  std::vector<Matrix> matrices_;
  std::vector<Mask> masks_;
  std::vector<std::vector<uint32_t>> labels_;
  HashIndex vector_index_, matrix_index_, mask_index_;
  Memo full_, finite_, supported_, intersection_, all_labels_, restricted_labels_,
      restricted_vector_, restricted_matrix_, sum_vector_, sum_matrix_, row_, eliminate1_,
      eliminate2_;
  std::vector<double> scratch_, scratch_row_;
  std::vector<uint64_t> scratch_words_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* next_ = nullptr;
  size_t left_bytes_ = 0;
};

}  // namespace shw::solver
