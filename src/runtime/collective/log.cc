#include "runtime/collective/log.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace shw::runtime {

std::string_view collective_name(CollectiveKind kind) {
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

GroupName group_name(const Mesh& mesh, std::span<const uint8_t> axes) {
  std::string text;
  for (uint8_t axis : axes) text += (text.empty() ? "" : ",") + mesh.name(axis);
  GroupName name{};
  text.copy(name.data(), name.size() - 1);
  return name;
}

std::string to_string(const CollectiveRecord& record) {
  const CollectiveSpec& s = record.spec;
  std::string text(collective_name(s.kind));
  if (s.by_counts) text += "_v";
  if (reduces(s.kind)) text += "(" + std::string(reduce_op_name(s.op)) + ")";
  text += "[" + std::string(record.group.data()) + "] #" + std::to_string(record.number) + " of " +
          std::string(dtype_name(s.dtype));
  if (!s.by_counts) text += "[" + std::to_string(s.count) + "]";
  if (record.node >= 0) text += " for node " + std::to_string(record.node);
  return text;
}

Status counts_differ(const CollectiveRecord& record, int64_t from, int64_t sends, int64_t to,
                     int64_t expects) {
  return failed_precondition("the ranks diverged: rank " + std::to_string(from) + " sends " +
                             std::to_string(sends) + " elements to rank " + std::to_string(to) +
                             ", which expects " + std::to_string(expects) + ", in " +
                             to_string(record));
}

std::string seconds_text(Timeout timeout) {
  char text[32];
  const double seconds = std::chrono::duration<double>(timeout).count();
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

uint64_t CollectiveLog::dispatch(const CollectiveRecord& record) {
  std::lock_guard lock(mutex_);
  const uint64_t number = ++last_;
  ring_[number % kKept] = {number, record, false};
  return number;
}

void CollectiveLog::finish(uint64_t dispatched) {
  std::lock_guard lock(mutex_);
  Dispatched& d = ring_[dispatched % kKept];
  if (d.number == dispatched) d.finished = true;
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
    const Dispatched& d = ring_[(last_ - i) % kKept];
    if (i > 0) text += ", ";
    text += runtime::to_string(d.record);
    if (!d.finished) text += " (not finished)";
  }
  return text;
}

}  // namespace shw::runtime
