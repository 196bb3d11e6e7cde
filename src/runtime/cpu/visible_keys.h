// Which keys a query of attention sees: those of its window (tensor/key_window.h), and of its
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
  // `documents`: null where each row of the batch is one.
  Status prepare(const AttentionShape& shape, const TensorType* documents);

  bool has_documents() const { return count_ > 0; }
  // Memory for the ends of a row's documents.
  int64_t scratch_bytes() const { return count_ * static_cast<int64_t>(sizeof(Int)); }
  // Reads where the documents of row `b` end, into `scratch`, which must stay as it is until the
  // next turn. OUT_OF_RANGE: these are no ends.
  Status turn_to(int64_t b, const void* documents, void* scratch);

  // Queries 0 … queries() - 1 are in a document. The others see nothing.
  int64_t queries() const { return ends_.empty() ? queries_ : ends_.back().v; }
  // Of query i < queries().
  KeyRange of(int64_t i) const;
  // As many keys as a block of `rows` queries sees, at most.
  int64_t most_keys(int64_t rows) const;
  // What the queries first … first + rows - 1 see together, all of them in documents.
  KeyRange of_block(int64_t first, int64_t rows) const;

 private:
  int64_t queries_ = 0, keys_ = 0;
  KeyWindow window_;
  int64_t count_ = 0;          // ends in a row, and the 0 before them
  std::span<const Int> ends_;  // of the row; empty: there are no documents
  LoadRow<Int> load_ = nullptr;
  int64_t row_bytes_ = 0, step_bytes_ = 0;  // strides of `documents`
};

}  // namespace shw::runtime::cpu
