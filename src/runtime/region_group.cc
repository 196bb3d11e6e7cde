#include "runtime/region_group.h"

#include <string>
#include <utility>

namespace shw::runtime {
namespace {

constexpr int64_t kMostElements = INT64_MAX / 16;  // so that the number of bytes does not overflow

Status check_buffer(const void* buffer, int64_t elements) {
  if (elements == 0 || buffer != nullptr) return {};
  return invalid_argument("a buffer of " + std::to_string(elements) + " elements is missing");
}

}  // namespace

RegionGroup::RegionGroup(Channel& channel, int64_t node)
    : channel_(channel),
      node_(node),
      send_offsets_(static_cast<size_t>(channel.size()) + 1),
      receive_offsets_(send_offsets_.size()) {}

Status RegionGroup::all_gather(const void* send, void* receive, int64_t count, Dtype dtype) {
  return run({CollectiveKind::kAllGather, ReduceOp::kSum, dtype, count}, send, receive);
}

Status RegionGroup::all_to_all(const void* send, void* receive, int64_t count, Dtype dtype) {
  return run({CollectiveKind::kAllToAll, ReduceOp::kSum, dtype, count}, send, receive);
}

Status RegionGroup::reduce_scatter(const void* send, void* receive, int64_t count, Dtype dtype,
                                   ReduceOp op) {
  return run({CollectiveKind::kReduceScatter, op, dtype, count}, send, receive);
}

Status RegionGroup::all_reduce(const void* send, void* receive, int64_t count, Dtype dtype,
                               ReduceOp op) {
  return run({CollectiveKind::kAllReduce, op, dtype, count}, send, receive);
}

Status RegionGroup::run(const CollectiveSpec& spec, const void* send, void* receive) {
  if (spec.count < 0 || spec.count > kMostElements / size())
    return keep(invalid_argument("a count of elements is " + std::to_string(spec.count)));
  Status status = check_buffer(send, spec.count);
  if (status.ok()) status = check_buffer(receive, spec.count);
  if (status.ok()) status = channel_.run({spec, node_, send, receive});
  return keep(std::move(status));
}

Status RegionGroup::all_to_all_v(const void* send, const int64_t* send_counts, void* receive,
                                 const int64_t* receive_counts, Dtype dtype) {
  Status status = set_offsets(send_counts, send, send_offsets_);
  if (status.ok()) status = set_offsets(receive_counts, receive, receive_offsets_);
  if (!status.ok()) return keep(std::move(status));
  if (send_counts[member()] != receive_counts[member()])
    return keep(invalid_argument("this member sends " + std::to_string(send_counts[member()]) +
                                 " elements to itself, and expects " +
                                 std::to_string(receive_counts[member()])));
  CollectiveSpec spec{CollectiveKind::kAllToAll, ReduceOp::kSum, dtype};
  spec.by_counts = true;
  return keep(
      channel_.run({spec, node_, send, receive, send_offsets_.data(), receive_offsets_.data()}));
}

Status RegionGroup::set_offsets(const int64_t* counts, const void* buffer,
                                std::vector<int64_t>& offsets) const {
  if (counts == nullptr) return invalid_argument("counts are missing");
  for (int64_t m = 0; m < size(); ++m) {
    const int64_t before = offsets[static_cast<size_t>(m)];
    if (counts[m] < 0 || counts[m] > kMostElements - before)
      return invalid_argument("the count of elements of member " + std::to_string(m) + " is " +
                              std::to_string(counts[m]));
    offsets[static_cast<size_t>(m) + 1] = before + counts[m];
  }
  return check_buffer(buffer, offsets.back());
}

Status RegionGroup::keep(Status status) {
  if (error_.ok()) error_ = status;
  return status;
}

Status RegionGroup::take_error() { return std::exchange(error_, Status()); }

}  // namespace shw::runtime
