// The messages of a group. In a round every member exchanges one message with every other member,
// or only some pairs do, or each member sends to one member and receives from one. All collectives
// consist of rounds (message_collective.cc).
//
// Messages are sent from and received in staging memory of fixed size, not in the tensors. So a
// rank that has given up waiting may free its tensors, even while the message of a late rank is
// still arriving.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/collective/log.h"
#include "runtime/world/transport.h"

namespace shw::runtime {

// Called during a round, to end the wait or to report a mismatch.
class RoundWatcher {
 public:
  // Called repeatedly while no message arrives. An error ends the round. `missing`: the members
  // whose messages have not arrived.
  virtual Status still_waiting(const std::vector<bool>& missing) = 0;
  // A member runs another collective. Or it runs the same collective by counts, but sends
  // `theirs.spec.count` elements where `expected` are expected.
  virtual Status diverged(int64_t member, const CollectiveRecord& theirs, int64_t expected) = 0;

 protected:
  ~RoundWatcher() = default;
};

class Rounds {
 public:
  static constexpr int64_t kMaxPayload = 256 << 10;

  // `ranks`: the rank of each member. `transport` must outlive this object.
  Rounds(Transport& transport, std::vector<int64_t> ranks, int64_t me, int32_t tag);
  ~Rounds();
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // Raises the capacity to `payload_bytes`, at most kMaxPayload. Call between rounds.
  void reserve(int64_t payload_bytes);
  int64_t capacity() const { return capacity_; }
  int64_t size() const { return static_cast<int64_t>(ranks_.size()); }
  int64_t me() const { return me_; }
  const std::vector<int64_t>& ranks() const { return ranks_; }

  // Set the payload of the next round: for one member, or for all.
  void put(int64_t member, const void* payload, int64_t bytes);
  void put_for_all(const void* payload, int64_t bytes);
  // The next round exchanges no message with the member; the member must make the same call.
  void skip(int64_t member);
  // The next round only sends to `to` and receives from `from`. Either may be this member itself,
  // which needs no message.
  void pass(int64_t to, const void* payload, int64_t bytes, int64_t from);
  // For a collective by counts, before its first round: how many elements this member sends to
  // `member` in total, and how many it expects. The first message of `member` shows whether it
  // agrees.
  void set_counts(int64_t member, int64_t sends, int64_t expects);
  // Runs the round, which belongs to collective `record`.
  Status run(const CollectiveRecord& record, RoundWatcher& watcher);
  // The payload that `member` sent in the last round.
  const std::byte* got(int64_t member) const { return incoming(member) + kHeaderBytes; }

 private:
  static constexpr int64_t kHeaderBytes = 64;
  struct Header;
  struct Link {  // to one member
    Transport::Request sending = 0, receiving = 0;
    int64_t bytes = 0;                           // size of the payload to send
    bool sends = false, receives = false;        // in the next round
    int64_t sends_count = 0, expects_count = 0;  // set_counts()
  };
  std::byte* outgoing(int64_t member) const { return staging_.get() + 2 * member * slot_; }
  std::byte* incoming(int64_t member) const { return outgoing(member) + slot_; }
  Status start(const CollectiveRecord& record);
  Status check(int64_t member, const CollectiveRecord& record, RoundWatcher& watcher) const;
  // Tests every open request once. Returns whether one of them completed.
  Result<bool> progress(const CollectiveRecord& record, RoundWatcher& watcher);
  bool is_open(const Link& link) const { return link.sending != 0 || link.receiving != 0; }

  Transport& transport_;
  const std::vector<int64_t> ranks_;
  const int64_t me_;
  const int32_t tag_;
  bool same_for_all_ = false;
  int64_t capacity_ = 0, slot_ = kHeaderBytes;
  std::unique_ptr<std::byte[]> staging_;  // per member: a slot to send and one to receive
  std::vector<Link> links_;
  std::vector<bool> missing_;
  uint32_t round_ = 0;  // within the collective
  uint64_t number_ = 0;
};

}  // namespace shw::runtime
