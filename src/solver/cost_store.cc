// Tables and their memoised operations. A memo slot is written after its value is known, because
// computing the value may write other slots.
#include "solver/cost_store.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "solver/kernels.h"
#include "support/hash.h"

namespace shw::solver {
namespace {

constexpr size_t kChunkBytes = 256 << 10;

// fn(i) for each member of a bit set, in ascending order.
template <class F>
void for_each_bit(const uint64_t* words, size_t n, F fn) {
  for (size_t w = 0; w < n; ++w)
    for (uint64_t bits = words[w]; bits != 0; bits &= bits - 1)
      fn(static_cast<uint32_t>(64 * w) + static_cast<uint32_t>(std::countr_zero(bits)));
}

}  // namespace

template <class T>
T* CostStore::allocate(size_t n) {
  const size_t bytes = (n * sizeof(T) + 15) / 16 * 16;
  if (bytes > left_bytes_) {
    const size_t chunk = std::max(bytes, kChunkBytes);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
    if (bytes > kChunkBytes / 4)
      return reinterpret_cast<T*>(chunks_.back().get());  // its own chunk
    next_ = chunks_.back().get();
    left_bytes_ = chunk;
  }
  T* result = reinterpret_cast<T*>(next_);
  next_ += bytes;
  left_bytes_ -= bytes;
  return result;
}

CostStore::VectorId CostStore::vector(std::span<const double> values) {
  return vector_index_.find_or_add(
      hash_span(values),
      [&](uint32_t id) {
        return vectors_[id].size == values.size() &&
               same_bytes(vectors_[id].data, values.data(), values.size_bytes());
      },
      [&] {
        double* copy = allocate<double>(values.size());
        std::ranges::copy(values, copy);
        vectors_.push_back({copy, static_cast<uint32_t>(values.size())});
        return static_cast<uint32_t>(vectors_.size() - 1);
      });
}

CostStore::Handle CostStore::borrow(uint32_t rows, uint32_t cols, const double* row_major) {
  matrices_.push_back({rows,
                       cols,
                       {row_major, nullptr},
                       nullptr,
                       solver::all_finite(row_major, size_t{rows} * cols)});
  return static_cast<Handle>(2 * (matrices_.size() - 1));
}

CostStore::Handle CostStore::matrix(uint32_t rows, uint32_t cols, const double* row_major) {
  const size_t cells = size_t{rows} * cols;
  const uint64_t hash =
      hash_combine(hash_bytes(row_major, cells * sizeof(double)), uint64_t{rows} << 32 | cols);
  return 2 * matrix_index_.find_or_add(
                 hash,
                 [&](uint32_t id) {
                   const Matrix& m = matrices_[id];
                   return m.rows == rows && m.cols == cols &&
                          same_bytes(m.data[0], row_major, cells * sizeof(double));
                 },
                 [&] {
                   double* copy = allocate<double>(cells);
                   std::copy_n(row_major, cells, copy);
                   return borrow(rows, cols, copy) / 2;
                 });
}

const double* CostStore::data(Handle h) {
  Matrix& m = matrices_[h >> 1];
  if (m.data[h & 1] == nullptr) {
    double* t = allocate<double>(size_t{m.rows} * m.cols);
    transpose(m.data[0], m.rows, m.cols, m.cols, t, m.rows);
    m.data[1] = t;
  }
  return m.data[h & 1];
}

const uint64_t* CostStore::finite_bits(uint32_t matrix) {
  Matrix& m = matrices_[matrix];
  if (m.finite == nullptr) {
    auto* bits = allocate<uint64_t>(m.rows * words_for(m.cols));
    m.finite = bits;
    const double* c = m.data[0];
    for (size_t i = 0; i < m.rows; ++i)
      for (size_t j = 0; j < m.cols;) {
        uint64_t word = 0;
        for (size_t end = std::min<size_t>(m.cols, j + 64), bit = 0; j < end; ++j, ++bit)
          word |= uint64_t{*c++ != kForbidden} << bit;
        *bits++ = word;
      }
  }
  return m.finite;
}

CostStore::MaskId CostStore::mask(std::span<const uint64_t> words, uint32_t size) {
  return mask_index_.find_or_add(
      hash_span(words, size),
      [&](uint32_t id) {
        return masks_[id].size == size &&
               same_bytes(masks_[id].words, words.data(), words.size_bytes());
      },
      [&] {
        auto* copy = allocate<uint64_t>(words.size());
        std::ranges::copy(words, copy);
        uint32_t count = 0;
        for (const uint64_t w : words) count += static_cast<uint32_t>(std::popcount(w));
        masks_.push_back({copy, size, count});
        return static_cast<uint32_t>(masks_.size() - 1);
      });
}

CostStore::MaskId CostStore::full(uint32_t size) {
  uint32_t& known = full_.at(size);
  if (known == Memo::kNone) {
    scratch_words_.assign(words_for(size), ~uint64_t{0});
    if (size % 64 != 0) scratch_words_.back() = (uint64_t{1} << (size % 64)) - 1;
    known = mask(scratch_words_, size);
  }
  return known;
}

CostStore::MaskId CostStore::finite(VectorId v) {
  uint32_t& known = finite_.at(v);
  if (known == Memo::kNone) {
    const auto c = values(v);
    scratch_words_.assign(words_for(vectors_[v].size), 0);
    for (size_t i = 0; i < c.size(); ++i)
      scratch_words_[i / 64] |= uint64_t{c[i] != kForbidden} << (i % 64);
    known = mask(scratch_words_, vectors_[v].size);
  }
  return known;
}

CostStore::MaskId CostStore::supported(Handle h, MaskId rows, MaskId cols) {
  if (all_finite(h) && masks_[cols].count > 0) return rows;
  uint32_t& known = supported_.at(h, rows, cols);
  if (known == Memo::kNone) {
    const uint64_t* bits = finite_bits(h >> 1);
    const size_t words = words_for(matrices_[h >> 1].cols);
    const uint32_t size = masks_[rows].size;
    const uint64_t* partners = masks_[cols].words;
    scratch_words_.assign(words_for(size), 0);
    if (h & 1) {  // our rows are the matrix's columns: the columns that any partner supports
      for_each_bit(partners, words_for(masks_[cols].size), [&](uint32_t j) {
        for (size_t w = 0; w < words; ++w) scratch_words_[w] |= bits[j * words + w];
      });
      for (size_t w = 0; w < words; ++w) scratch_words_[w] &= masks_[rows].words[w];
    } else {
      for_each_bit(masks_[rows].words, words_for(size), [&](uint32_t i) {
        uint64_t any = 0;
        for (size_t w = 0; w < words; ++w) any |= bits[i * words + w] & partners[w];
        if (any != 0) scratch_words_[i / 64] |= uint64_t{1} << (i % 64);
      });
    }
    known = mask(scratch_words_, size);
  }
  return known;
}

CostStore::MaskId CostStore::intersection(MaskId a, MaskId b) {
  if (a == b || is_full(b)) return a;
  if (is_full(a)) return b;
  uint32_t& known = intersection_.at(a, b);
  if (known == Memo::kNone) {
    scratch_words_.resize(words_for(size(a)));
    for (size_t w = 0; w < scratch_words_.size(); ++w)
      scratch_words_[w] = masks_[a].words[w] & masks_[b].words[w];
    known = mask(scratch_words_, size(a));
  }
  return known;
}

CostStore::LabelsId CostStore::all_labels(uint32_t size) {
  uint32_t& known = all_labels_.at(size);
  if (known == Memo::kNone) {
    known = static_cast<uint32_t>(labels_.size());
    std::vector<uint32_t> all(size);
    std::iota(all.begin(), all.end(), 0u);
    labels_.push_back(std::move(all));
  }
  return known;
}

CostStore::LabelsId CostStore::restricted_labels(LabelsId labels, MaskId m) {
  uint32_t& known = restricted_labels_.at(labels, m);
  if (known == Memo::kNone) {
    known = static_cast<uint32_t>(labels_.size());
    std::vector<uint32_t> kept;
    kept.reserve(count(m));
    for_each_bit(masks_[m].words, words_for(size(m)),
                 [&](uint32_t i) { kept.push_back(labels_[labels][i]); });
    labels_.push_back(std::move(kept));
  }
  return known;
}

CostStore::VectorId CostStore::restricted(VectorId v, MaskId m) {
  if (is_full(m)) return v;
  uint32_t& known = restricted_vector_.at(v, m);
  if (known == Memo::kNone) {
    scratch_.clear();
    for_each_bit(masks_[m].words, words_for(size(m)),
                 [&](uint32_t i) { scratch_.push_back(vectors_[v].data[i]); });
    known = vector(scratch_);
  }
  return known;
}

CostStore::Handle CostStore::restricted(Handle h, MaskId rows, MaskId cols) {
  if (h & 1) return flip(restricted(flip(h), cols, rows));
  if (is_full(rows) && is_full(cols)) return h;
  uint32_t& known = restricted_matrix_.at(h, rows, cols);
  if (known == Memo::kNone) {
    const Matrix& m = matrices_[h >> 1];
    scratch_.resize(size_t{count(rows)} * count(cols));
    double* out = scratch_.data();
    for_each_bit(masks_[rows].words, words_for(m.rows), [&](uint32_t i) {
      const double* from = m.data[0] + size_t{i} * m.cols;
      for_each_bit(masks_[cols].words, words_for(m.cols), [&](uint32_t j) { *out++ = from[j]; });
    });
    known = matrix(count(rows), count(cols), scratch_.data());
  }
  return known;
}

CostStore::VectorId CostStore::sum_vectors(VectorId a, VectorId b) {
  if (a > b) std::swap(a, b);
  uint32_t& known = sum_vector_.at(a, b);
  if (known == Memo::kNone) {
    scratch_.resize(vectors_[a].size);
    for (size_t i = 0; i < scratch_.size(); ++i)
      scratch_[i] = vectors_[a].data[i] + vectors_[b].data[i];
    known = vector(scratch_);
  }
  return known;
}

CostStore::Handle CostStore::sum_matrices(Handle a, Handle b) {
  if (a > b) std::swap(a, b);
  if (a & 1) return flip(sum_matrices(flip(a), flip(b)));
  uint32_t& known = sum_matrix_.at(a, b);
  if (known == Memo::kNone) {
    const double* x = data(a);
    const double* y = data(b);
    scratch_.resize(size_t{rows(a)} * cols(a));
    for (size_t i = 0; i < scratch_.size(); ++i) scratch_[i] = x[i] + y[i];
    known = matrix(rows(a), cols(a), scratch_.data());
  }
  return known;
}

CostStore::VectorId CostStore::row(Handle h, uint32_t i) {
  uint32_t& known = row_.at(h, i);
  if (known == Memo::kNone) known = vector({data(h) + size_t{i} * cols(h), cols(h)});
  return known;
}

CostStore::VectorId CostStore::eliminate(VectorId v, Handle h) {
  uint32_t& known = eliminate1_.at(v, h);
  if (known == Memo::kNone) {
    scratch_.resize(cols(h));
    min_plus(vectors_[v].data, rows(h), data(h), cols(h), scratch_.data());
    known = vector(scratch_);
  }
  return known;
}

CostStore::Handle CostStore::eliminate(VectorId v, Handle a, Handle b) {
  if (a > b) return flip(eliminate(v, b, a));
  uint32_t& known = eliminate2_.at(v, a, b);
  if (known == Memo::kNone) {
    const uint32_t n = rows(a), ka = cols(a), kb = cols(b);
    const double* by_a = data(flip(a));
    const double* mb = data(b);
    scratch_.resize(size_t{ka} * kb);
    scratch_row_.resize(n);
    for (uint32_t i = 0; i < ka; ++i) {
      for (uint32_t s = 0; s < n; ++s)
        scratch_row_[s] = vectors_[v].data[s] + by_a[size_t{i} * n + s];
      min_plus(scratch_row_.data(), n, mb, kb, scratch_.data() + size_t{i} * kb);
    }
    known = matrix(ka, kb, scratch_.data());
  }
  return known;
}

}  // namespace shw::solver
