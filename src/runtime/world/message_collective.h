// Collectives between processes, made of rounds of messages.
//
// Results have the same bits as in one process: members' blocks are reduced in the order of member
// numbers (collective/reduce.h), not in the order in which messages arrive.
#pragma once
#include "runtime/collective/reduce.h"
#include "runtime/world/rounds.h"

namespace shw::runtime {

// One collective over the members that `rounds` connects. `sources`: scratch, one element per
// member.
class MessageCollective {
 public:
  // `call` is the collective that `record` describes.
  MessageCollective(const CollectiveRecord& record, const HostCollective& call, ReduceFn reduce,
                    Rounds& rounds, RoundWatcher& watcher, std::vector<const void*>& sources);
  Status run();

  // The size of the largest message that it sends.
  static int64_t payload_bytes(const CollectiveSpec& spec);

 private:
  Status all_gather();
  Status all_to_all();
  Status all_to_all_v();
  Status permute();
  Status reduce_scatter();
  Status all_reduce_by_all();
  Status all_reduce_by_parts();

  const std::byte* in(int64_t element) const { return input_ + element * size_; }
  std::byte* out(int64_t element) const { return output_ + element * size_; }
  void copy(int64_t to, const void* from, int64_t elements) const;
  // Reduces the received blocks and `own`, this member's block, into the output from `to` on.
  void reduce_into(int64_t to, const void* own, int64_t elements);
  // The number of elements in one message. A larger tensor is sent in several messages.
  int64_t piece() const { return std::max<int64_t>(1, rounds_.capacity() / size_); }
  Status round() { return rounds_.run(record_, watcher_); }

  const CollectiveRecord& record_;
  const HostCollective& call_;
  ReduceFn reduce_;
  Rounds& rounds_;
  RoundWatcher& watcher_;
  std::vector<const void*>& sources_;
  const int64_t count_, size_, members_, me_;
  const std::byte* const input_;
  std::byte* const output_;
};

}  // namespace shw::runtime
