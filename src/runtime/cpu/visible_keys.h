// The keys that a query of attention sees: those in its window (tensor/key_window.h) and in its
// document.
#pragma once
#include <span>

#include "runtime/attention_shape.h"
#include "runtime/cpu/rows.h"

namespace shw::runtime::cpu {

struct KeyRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

class VisibleKeys {
 public:
  // `documents`: null if each row of the batch is a single document.
  Status prepare(const AttentionShape& shape, const TensorType* documents);

  bool has_documents() const { return count_ > 0; }
  // Size of the scratch memory for the document ends of one row.
  int64_t scratch_bytes() const { return count_ * static_cast<int64_t>(sizeof(Int)); }
  // Reads the document ends of row `b` into `scratch`, which must stay unchanged until the next
  // call. OUT_OF_RANGE: they are not valid ends.
  Status turn_to(int64_t b, const void* documents, void* scratch);

  // Queries 0 … queries() - 1 belong to a document. Later queries see no keys.
  int64_t queries() const { return ends_.empty() ? queries_ : ends_.back().v; }
  // The keys of query i < queries().
  KeyRange of(int64_t i) const;
  // The maximum number of keys that a block of `rows` queries sees.
  int64_t most_keys(int64_t rows) const;
  // The keys that queries first … first + rows - 1 see together; all of them must belong to
  // documents.
  KeyRange of_block(int64_t first, int64_t rows) const;

 private:
  int64_t queries_ = 0, keys_ = 0;
  KeyWindow window_;
  int64_t count_ = 0;          // ends per row, including the 0 before them
  std::span<const Int> ends_;  // of the current row; empty: there are no documents
  LoadRow<Int> load_ = nullptr;
  int64_t row_bytes_ = 0, step_bytes_ = 0;  // strides of `documents`
};

}  // namespace shw::runtime::cpu
