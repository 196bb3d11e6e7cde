// A group's messages: in a round every member sends one message to every other and receives one
// from each; or only some pairs do; or each sends to one and receives from one. All collectives are
// made of rounds (message_collective.cc).
//
// Messages go through staging memory of fixed size, not through the tensors: a rank that has given
// up waiting may free its tensors while a message of a late rank is still being written.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/collective/log.h"
#include "runtime/world/transport.h"

namespace shw::runtime {

// What a round waits beside messages for.
class RoundWatcher {
 public:
  // Called from time to time while nothing comes. An error ends the round. `missing`: the members
  // whose messages are not here.
  virtual Status still_waiting(const std::vector<bool>& missing) = 0;
  // A member is at another collective, or, in the same one by counts, it sends
  // `theirs.spec.count` elements and not `expected`.
  virtual Status diverged(int64_t member, const CollectiveRecord& theirs, int64_t expected) = 0;

 protected:
  ~RoundWatcher() = default;
};

class Rounds {
 public:
  static constexpr int64_t kMaxPayload = 256 << 10;

  // `ranks`: by member. `transport` must outlive this object.
  Rounds(Transport& transport, std::vector<int64_t> ranks, int64_t me, int32_t tag);
  ~Rounds();
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // Makes room for payloads of so many bytes, or kMaxPayload. Between rounds.
  void reserve(int64_t payload_bytes);
  int64_t capacity() const { return capacity_; }
  int64_t size() const { return static_cast<int64_t>(ranks_.size()); }
  int64_t me() const { return me_; }
  const std::vector<int64_t>& ranks() const { return ranks_; }

  // What the next round sends: to one member, or to all of them.
  void put(int64_t member, const void* payload, int64_t bytes);
  void put_for_all(const void* payload, int64_t bytes);
  // The next round neither sends to the member nor receives from it; the member says the same.
  void skip(int64_t member);
  // The next round sends to `to` and receives from `from`, and nothing else. Either may be this
  // member, which needs no message.
  void pass(int64_t to, const void* payload, int64_t bytes, int64_t from);
  // In a collective by counts, before its first round: how many elements go to the member in all,
  // and how many are expected from it. Its first message tells whether it agrees.
  void set_counts(int64_t member, int64_t sends, int64_t expects);
  // Does the round. `record` says which collective it belongs to.
  Status run(const CollectiveRecord& record, RoundWatcher& watcher);
  // What came from `member` in the last round.
  const std::byte* got(int64_t member) const { return incoming(member) + kHeaderBytes; }

 private:
  static constexpr int64_t kHeaderBytes = 64;
  struct Header;
  struct Link {  // to one member
    Transport::Request sending = 0, receiving = 0;
    int64_t bytes = 0;                           // of the payload that is sent
    bool sends = false, receives = false;        // in the next round
    int64_t sends_count = 0, expects_count = 0;  // set_counts()
  };
  std::byte* outgoing(int64_t member) const { return staging_.get() + 2 * member * slot_; }
  std::byte* incoming(int64_t member) const { return outgoing(member) + slot_; }
  Status start(const CollectiveRecord& record);
  Status check(int64_t member, const CollectiveRecord& record, RoundWatcher& watcher) const;
  // One look at every open request. Whether something came or went.
  Result<bool> progress(const CollectiveRecord& record, RoundWatcher& watcher);
  bool is_open(const Link& link) const { return link.sending != 0 || link.receiving != 0; }

  Transport& transport_;
  const std::vector<int64_t> ranks_;
  const int64_t me_;
  const int32_t tag_;
  bool same_for_all_ = false;
  int64_t capacity_ = 0, slot_ = kHeaderBytes;
  std::unique_ptr<std::byte[]> staging_;  // per member a slot to send from and one to receive into
  std::vector<Link> links_;
  std::vector<bool> missing_;
  uint32_t round_ = 0;  // of the collective
  uint64_t number_ = 0;
};

}  // namespace shw::runtime
