#include "runtime/cpu/visible_keys.h"

#include <algorithm>
#include <iterator>

#include "support/format.h"

namespace shw::runtime::cpu {

// Cold: optimised for size, not for speed.
[[gnu::cold]] Status VisibleKeys::prepare(const AttentionShape& shape,
                                          const TensorType* documents) {
  queries_ = shape.queries;
  keys_ = shape.keys;
  window_ = shape.window;
  if (documents == nullptr) return {};
  SHW_RETURN_IF_ERROR(check_documents(shape, *documents));
  count_ = documents->shape[1];
  load_ = load_row<Int>(documents->dtype);
  row_bytes_ = documents->strides[0] * dtype_size(documents->dtype);
  step_bytes_ = documents->strides[1] * dtype_size(documents->dtype);
  return {};
}

Status VisibleKeys::turn_to(int64_t b, const void* documents, void* scratch) {
  auto* const ends = static_cast<Int*>(scratch);
  load_(static_cast<const std::byte*>(documents) + b * row_bytes_, step_bytes_, count_, ends);
  ends_ = {ends, static_cast<size_t>(count_)};
  int64_t before = 0;
  for (int64_t i = 0; i < count_; ++i) {
    if (ends[i].v < before || ends[i].v > (i == 0 ? 0 : keys_))
      return Status(Code::kOutOfRange,
                    format("documents[%lld,%lld] is %lld; ends rise from 0 to at most %lld",
                           static_cast<long long>(b), static_cast<long long>(i),
                           static_cast<long long>(ends[i].v), static_cast<long long>(keys_)));
    before = ends[i].v;
  }
  return {};
}

KeyRange VisibleKeys::of(int64_t i) const {
  KeyRange all{0, keys_};
  if (!ends_.empty()) {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), Int{i});
    all = {std::prev(end)->v, end->v};
  }
  const int64_t begin = std::max(all.begin, i - window_.left),
                end = std::min(all.end, i + window_.right + 1);
  return {std::min(begin, end), end};
}

int64_t VisibleKeys::most_keys(int64_t rows) const {
  return std::min(keys_, rows + window_.left + window_.right);
}

KeyRange VisibleKeys::of_block(int64_t first, int64_t rows) const {
  return {of(first).begin, of(first + rows - 1).end};
}

}  // namespace shw::runtime::cpu
