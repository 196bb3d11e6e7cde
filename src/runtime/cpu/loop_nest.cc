#include "runtime/cpu/loop_nest.h"

#include <algorithm>
#include <utility>

#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {
constexpr int64_t kRowsAhead = 8;
}

bool same(const GroupWindow& a, const GroupWindow& b) {
  return a.at->memory == b.at->memory && a.at->offset_bytes == b.at->offset_bytes &&
         *a.type == *b.type &&
         std::ranges::equal(a.at->slice_stride_bytes, b.at->slice_stride_bytes);
}
bool may_overlap(const GroupWindow& a, const GroupWindow& b) {
  return a.at->memory == b.at->memory && a.at->offset_bytes < b.at->end_bytes &&
         b.at->offset_bytes < a.at->end_bytes;
}
bool is_read(const GroupWindow& window, std::span<const GroupStep> by) {
  for (const GroupStep& step : by)
    for (size_t i = 0; i < step.args.inputs.size(); ++i)
      if (step.args.inputs[i] != nullptr &&
          may_overlap(window, {step.args.inputs[i], &step.operands[i], 0}))
        return true;
  return false;
}
bool is_wanted(const GroupWindow& result, std::span<const GroupStep> later) {
  return !result.at->is_temporary || is_read(result, later);
}

int32_t as_stored(Formula& formula, int32_t node, const TensorType& type) {
  if (type.dtype != Dtype::kBF16) return node;
  return round_to_bf16(Traced(formula, node)).node(formula);
}

bool is_of_rows(const Dims& of, const Dims& whole) {
  if (of.size() != whole.size()) return false;
  size_t d = 0;
  while (d < of.size() && of[d] == whole[d]) ++d;
  return std::all_of(of.begin() + static_cast<std::ptrdiff_t>(d), of.end(),
                     [](int64_t size) { return size == 1; });
}

// A result that is larger than a core's private caches, and that the group does not read again,
// should bypass the caches. Otherwise it would evict data that is read, and each line would be
// loaded before it is written.
bool may_stream(const GroupWindow& result, std::span<const GroupStep> later) {
  constexpr int64_t kLarge = int64_t{2} << 20;
  return !result.at->is_temporary && result.at->end_bytes - result.at->offset_bytes >= kLarge &&
         !is_read(result, later);
}

std::optional<RowPlace> LoopNest::place_of(const GroupWindow& window, int64_t column) {
  Dims shape = shape_;
  const Dims& own = window.type->shape;
  if (own.size() > 0 && own.back() != 1) shape[shape.size() - 1] = own.back();
  Dims strides = broadcast_strides_bytes(*window.type, shape);
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) strides[d] = 0;
  const int64_t columns = shape.size() > 0 ? column * strides.back() : 0;
  const bool bf16 = window.type->dtype == Dtype::kBF16;
  for (size_t w = 0; w < walks_.size(); ++w) {
    const GroupOperand& first = *walks_[w].first.at;
    const int64_t offset = window.at->offset_bytes - first.offset_bytes + columns;
    if (first.memory == window.at->memory && walks_[w].stride_bytes == strides &&
        walks_[w].first.type->dtype == window.type->dtype &&
        std::ranges::equal(first.slice_stride_bytes, window.at->slice_stride_bytes) &&
        std::in_range<int32_t>(offset))
      return RowPlace{static_cast<int32_t>(w), static_cast<int32_t>(offset), bf16};
  }
  if (walks_.size() == kMostRowPointers || !std::in_range<int32_t>(columns)) return {};
  walks_.push_back({window, strides});
  return RowPlace{static_cast<int32_t>(walks_.size()) - 1, static_cast<int32_t>(columns), bf16};
}

bool LoopNest::finish(size_t row_dims) {
  if (!merge_dims(row_dims)) return false;
  std::vector<bool> one_number;
  std::vector<int32_t> strides, ahead;
  for (const Walk& w : walks_) {
    const int64_t stride = w.stride_bytes.back(), to_next = stride_of_rows(w);
    if (stride != 0 && stride != dtype_size(w.first.type->dtype)) return false;
    if (!std::in_range<int32_t>(kRowsAhead * to_next)) return false;
    one_number.push_back(stride == 0);
    strides.push_back(static_cast<int32_t>(to_next));
    ahead.push_back(static_cast<int32_t>(rows_ahead(w)));
  }
  if (rows_.size() == 1) rows_[0].elements = shape_.back();
  for (Row& row : rows_) {
    row.loop.one_number = one_number;
    row.loop.stride_bytes = strides;
    row.loop.ahead_bytes = ahead;
    choose_streams(row.loop);
  }
  return true;
}

int64_t LoopNest::stride_of_rows(const Walk& walk) const {
  return shape_.size() > 1 ? walk.stride_bytes[shape_.size() - 2] : 0;
}

// Prefetch is needed for short rows with gaps between them, such as those of one head among others:
// the hardware prefetcher does not predict them.
int64_t LoopNest::rows_ahead(const Walk& walk) const {
  constexpr int64_t kShortBytes = 512;
  const int64_t row_bytes = shape_.back() * dtype_size(walk.first.type->dtype);
  const bool apart = stride_of_rows(walk) > row_bytes && walk.stride_bytes.back() != 0;
  return row_bytes <= kShortBytes && apart ? kRowsAhead * stride_of_rows(walk) : 0;
}

bool LoopNest::merge_dims(size_t row_dims) {
  std::vector<size_t> kept;  // outermost first
  Dims sizes;
  const size_t first_of_row = shape_.size() - row_dims;
  for (size_t d = 0; d < shape_.size(); ++d) {
    if (shape_[d] == 1) continue;
    const bool merges = !kept.empty() && (kept.back() >= first_of_row) == (d >= first_of_row) &&
                        std::ranges::all_of(walks_, [&](const Walk& w) {
                          return w.stride_bytes[kept.back()] == w.stride_bytes[d] * shape_[d];
                        });
    if (merges) {
      kept.back() = d;
      sizes[sizes.size() - 1] *= shape_[d];
    } else {
      kept.push_back(d);
      sizes.push_back(shape_[d]);
    }
  }
  // If the row's dims are given, they must form one row of more than one element.
  if (row_dims > 0 && (kept.empty() || kept.back() < first_of_row ||
                       (kept.size() > 1 && kept[kept.size() - 2] >= first_of_row)))
    return false;
  for (Walk& w : walks_) {
    Dims strides;
    for (const size_t d : kept) strides.push_back(w.stride_bytes[d]);
    if (kept.empty()) strides.push_back(0);
    w.stride_bytes = std::move(strides);
  }
  if (kept.empty()) sizes.push_back(1);  // one element
  shape_ = std::move(sizes);
  return true;
}

bool LoopNest::begins_at_vectors(const RowPlace& place) const {
  const auto whole = [](int64_t bytes) { return bytes % kVectorBytes == 0; };
  const Walk& walk = walks_[static_cast<size_t>(place.pointer)];
  for (size_t d = 0; d + 1 < walk.stride_bytes.size(); ++d)
    if (!whole(walk.stride_bytes[d])) return false;
  return whole(place.offset_bytes) && walk.stride_bytes.back() != 0 &&
         std::ranges::all_of(walk.first.at->slice_stride_bytes, whole);
}

void LoopNest::choose_streams(RowLoop& loop) const {
  for (RowLoop::Store& store : loop.stores) {
    const bool is_read_again = std::ranges::any_of(loop.inputs, [&](const RowPlace& place) {
      return place.pointer == store.place.pointer && place.offset_bytes == store.place.offset_bytes;
    });
    store.may_stream =
        store.may_stream && !is_read_again && !store.place.bf16 && begins_at_vectors(store.place);
    loop.streams = loop.streams || store.may_stream;
  }
}

bool LoopNest::streams() const {
  return std::ranges::any_of(rows_, [](const Row& row) { return row.loop.streams; });
}

}  // namespace shw::runtime::cpu
