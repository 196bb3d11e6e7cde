// A group of ranks, for the body of a manual region. The collectives are blocking calls.
//
// Buffers are dense and in host memory, counts are in elements, and blocks of several members are
// ordered by member number. The buffers of a call must not overlap, except that all_reduce may be
// in place. All members must make the same calls with the same counts, types and reductions in the
// same order. An error ends the run on every rank; the body must return it.
#pragma once
#include <memory>
#include <vector>

#include "runtime/channel.h"

namespace shw::runtime {

class RegionGroup {
 public:
  // `channel` must outlive this object. `node`: the graph node, for messages; -1: none.
  RegionGroup(Channel& channel, int64_t node);
  int64_t size() const { return channel_.size(); }
  int64_t member() const { return channel_.member(); }

  // `count`: what this member contributes; all members receive all contributions.
  Status all_gather(const void* send, void* receive, int64_t count, Dtype dtype);
  // `count`: what this member sends to each, and receives from each.
  Status all_to_all(const void* send, void* receive, int64_t count, Dtype dtype);
  // Counts by member; what this member sends to itself it also receives from itself.
  Status all_to_all_v(const void* send, const int64_t* send_counts, void* receive,
                      const int64_t* receive_counts, Dtype dtype);
  // `count`: what this member receives. It sends as much for each member.
  Status reduce_scatter(const void* send, void* receive, int64_t count, Dtype dtype, ReduceOp op);
  Status all_reduce(const void* send, void* receive, int64_t count, Dtype dtype, ReduceOp op);

  // Returns the first error since the last call and clears it. For bodies that cannot return a
  // Status.
  Status take_error();
  // Records an error of a call that was rejected before it reached this object, as if it came from
  // the call. Returns the error.
  Status keep(Status status);

 private:
  Status run(const CollectiveSpec& spec, const void* send, void* receive);
  Status set_offsets(const int64_t* counts, const void* buffer,
                     std::vector<int64_t>& offsets) const;

  Channel& channel_;
  const int64_t node_;
  std::vector<int64_t> send_offsets_, receive_offsets_;
  Status error_;
};

}  // namespace shw::runtime
