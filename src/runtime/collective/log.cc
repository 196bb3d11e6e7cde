#include "runtime/collective/log.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace shw::runtime {
namespace {

std::string_view kind_name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kNone:
      return "nothing";
    case CollectiveKind::kAllGather:
      return "all_gather";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kAllReduce:
      return "all_reduce";
    case CollectiveKind::kAllToAll:
      return "all_to_all";
    case CollectiveKind::kPermute:
      return "collective_permute";
  }
  return "?";
}

}  // namespace

std::string to_string(const CollectiveRecord& record) {
  const CollectiveSpec& s = record.spec;
  std::string text(kind_name(s.kind));
  if (s.kind == CollectiveKind::kAllReduce || s.kind == CollectiveKind::kReduceScatter)
    text += "(" + std::string(reduce_op_name(s.op)) + ")";
  text += " #" + std::to_string(record.number) + " of " + std::string(dtype_name(s.dtype)) + "[" +
          std::to_string(s.count) + "]";
  if (record.node >= 0) text += " for node " + std::to_string(record.node);
  return text;
}

std::string seconds_text(Timeout timeout) {
  char text[32];
  const double seconds = std::chrono::duration<double>(timeout).count();
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

CollectiveRecord CollectiveLog::dispatch(const CollectiveSpec& spec, int64_t node) {
  std::lock_guard lock(mutex_);
  const uint64_t number = ++last_;
  return ring_[number % kKept] = {number, spec, node, false};
}

void CollectiveLog::finish(uint64_t number) {
  std::lock_guard lock(mutex_);
  CollectiveRecord& record = ring_[number % kKept];
  if (record.number == number) record.finished = true;
}

void CollectiveLog::clear() {
  std::lock_guard lock(mutex_);
  last_ = 0;
  ring_ = {};
}

std::string CollectiveLog::to_string(size_t most) const {
  std::lock_guard lock(mutex_);
  if (last_ == 0) return "no collective yet";
  std::string text;
  for (uint64_t i = 0; i < std::min<uint64_t>({most, kKept, last_}); ++i) {
    const CollectiveRecord& record = ring_[(last_ - i) % kKept];
    if (i > 0) text += ", ";
    text += runtime::to_string(record);
    if (!record.finished) text += " (not finished)";
  }
  return text;
}

}  // namespace shw::runtime
