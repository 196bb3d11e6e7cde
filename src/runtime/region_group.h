// A group of ranks as the body of a manual region uses it: collectives that are called, and return
// when they are done.
//
// Buffers are in host memory and dense, counts are of elements, blocks of several members lie in
// the order of their numbers. The buffers of a call do not overlap; those of all_reduce may be the
// same. All members call the same collectives with the same counts, types and reductions in the
// same order. An error ends the run on every rank: the body returns it.
#pragma once
#include <memory>
#include <vector>

#include "runtime/channel.h"

namespace shw::runtime {

class RegionGroup {
 public:
  // `channel` outlives this object. `node`: of the graph, for messages; -1: none.
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

  // The first error since it was last asked for: of bodies that cannot hand it on.
  Status take_error();
  // Takes an error of a call that did not get here for one of a call. Returns it.
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
