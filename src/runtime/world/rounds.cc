#include "runtime/world/rounds.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace shw::runtime {

struct Rounds::Header {
  uint64_t number;
  int64_t count, node;
  uint32_t round;
  uint8_t kind, op, dtype, by_counts;
};

namespace {

// Waits between polls: it first yields, then sleeps for intervals that double. Many ranks may share
// few cores, and the rank that is waited for needs one.
class Backoff {
 public:
  void reset() { looks_ = 0; }
  void pause() {
    constexpr int kYields = 32, kDoublings = 5, kLooksEach = 8;
    if (++looks_ <= kYields) return std::this_thread::yield();
    const int doublings = std::min((looks_ - kYields) / kLooksEach, kDoublings);
    std::this_thread::sleep_for(std::chrono::microseconds(20) * (1 << doublings));
  }
  // Whether it has slept long enough to check the clock and whether a rank has stopped.
  bool is_idle() const { return looks_ % 8 == 0; }

 private:
  int looks_ = 0;
};

}  // namespace

Rounds::Rounds(Transport& transport, std::vector<int64_t> ranks, int64_t me, int32_t tag)
    : transport_(transport),
      ranks_(std::move(ranks)),
      me_(me),
      tag_(tag),
      links_(ranks_.size()),
      missing_(ranks_.size()) {
  static_assert(sizeof(Header) <= kHeaderBytes);
}

Rounds::~Rounds() {
  bool in_use = false;
  for (Link& link : links_) {
    if (link.receiving != 0) transport_.cancel(&link.receiving);
    int64_t bytes = 0;
    if (link.sending != 0) (void)transport_.test(&link.sending, &bytes);
    in_use |= is_open(link);
  }
  // A hanging rank may still read or write this memory, so it is leaked on purpose.
  if (in_use) (void)staging_.release();
}

void Rounds::reserve(int64_t payload_bytes) {
  constexpr int64_t kLine = 64;
  const int64_t want = std::min((payload_bytes + kLine - 1) / kLine * kLine, kMaxPayload);
  if (want <= capacity_ && staging_ != nullptr) return;
  const int64_t slot = kHeaderBytes + want;
  staging_ = std::make_unique<std::byte[]>(static_cast<size_t>(2 * size() * slot));
  slot_ = slot;
  capacity_ = want;
}

void Rounds::put(int64_t member, const void* payload, int64_t bytes) {
  if (member == me_) return;
  same_for_all_ = false;
  Link& link = links_[static_cast<size_t>(member)];
  link.sends = link.receives = true;
  link.bytes = bytes;
  if (bytes > 0) std::memcpy(outgoing(member) + kHeaderBytes, payload, static_cast<size_t>(bytes));
}

void Rounds::put_for_all(const void* payload, int64_t bytes) {
  same_for_all_ = true;
  for (Link& link : links_) {
    link.sends = link.receives = true;
    link.bytes = bytes;
  }
  if (bytes > 0) std::memcpy(outgoing(me_) + kHeaderBytes, payload, static_cast<size_t>(bytes));
}

void Rounds::skip(int64_t member) {
  Link& link = links_[static_cast<size_t>(member)];
  link.sends = link.receives = false;
}

void Rounds::pass(int64_t to, const void* payload, int64_t bytes, int64_t from) {
  same_for_all_ = false;
  for (int64_t m = 0; m < size(); ++m) skip(m);
  put(to, payload, bytes);
  links_[static_cast<size_t>(to)].receives = false;
  links_[static_cast<size_t>(from)].receives = true;
}

void Rounds::set_counts(int64_t member, int64_t sends, int64_t expects) {
  links_[static_cast<size_t>(member)].sends_count = sends;
  links_[static_cast<size_t>(member)].expects_count = expects;
}

Status Rounds::start(const CollectiveRecord& record) {
  const CollectiveSpec& spec = record.spec;
  round_ = record.number == number_ ? round_ + 1 : 0;
  number_ = record.number;
  Header header{record.number,
                spec.count,
                record.node,
                round_,
                static_cast<uint8_t>(spec.kind),
                static_cast<uint8_t>(spec.op),
                static_cast<uint8_t>(spec.dtype),
                static_cast<uint8_t>(spec.by_counts)};
  for (int64_t m = 0; m < size(); ++m) {
    Link& link = links_[static_cast<size_t>(m)];
    missing_[static_cast<size_t>(m)] = m != me_ && (link.sends || link.receives);
    if (m == me_ || !link.receives) continue;
    SHW_RETURN_IF_ERROR(transport_.receive(ranks_[static_cast<size_t>(m)], tag_, incoming(m), slot_,
                                           &link.receiving));
  }
  for (int64_t m = 0; m < size(); ++m) {
    Link& link = links_[static_cast<size_t>(m)];
    if (m == me_ || !link.sends) continue;
    if (spec.by_counts) header.count = link.sends_count;
    std::byte* slot = outgoing(same_for_all_ ? me_ : m);
    std::memcpy(slot, &header, sizeof header);
    SHW_RETURN_IF_ERROR(transport_.send(ranks_[static_cast<size_t>(m)], tag_, slot,
                                        kHeaderBytes + link.bytes, &link.sending));
  }
  return {};
}

Status Rounds::check(int64_t member, const CollectiveRecord& record, RoundWatcher& watcher) const {
  Header theirs;
  std::memcpy(&theirs, incoming(member), sizeof theirs);
  CollectiveSpec expected = record.spec;
  if (expected.by_counts) expected.count = links_[static_cast<size_t>(member)].expects_count;
  CollectiveSpec spec{static_cast<CollectiveKind>(theirs.kind), static_cast<ReduceOp>(theirs.op),
                      static_cast<Dtype>(theirs.dtype), theirs.count};
  spec.by_counts = theirs.by_counts != 0;
  if (theirs.number == record.number && theirs.round == round_ && same_collective(spec, expected))
    return {};
  return watcher.diverged(member, {theirs.number, spec, theirs.node, record.group}, expected.count);
}

Result<bool> Rounds::progress(const CollectiveRecord& record, RoundWatcher& watcher) {
  bool moved = false;
  for (int64_t m = 0; m < size(); ++m) {
    Link& link = links_[static_cast<size_t>(m)];
    int64_t bytes = 0;
    if (link.receiving != 0) {
      SHW_RETURN_IF_ERROR(transport_.test(&link.receiving, &bytes));
      if (link.receiving == 0) {
        SHW_RETURN_IF_ERROR(check(m, record, watcher));
        moved = true;
      }
    }
    if (link.sending != 0) {
      SHW_RETURN_IF_ERROR(transport_.test(&link.sending, &bytes));
      moved |= link.sending == 0;
    }
    missing_[static_cast<size_t>(m)] = is_open(link);
  }
  return moved;
}

Status Rounds::run(const CollectiveRecord& record, RoundWatcher& watcher) {
  SHW_RETURN_IF_ERROR(start(record));
  Backoff backoff;
  while (true) {
    SHW_ASSIGN_OR_RETURN(const bool moved, progress(record, watcher));
    if (std::find(missing_.begin(), missing_.end(), true) == missing_.end()) return {};
    if (moved) {
      backoff.reset();
      continue;
    }
    backoff.pause();
    if (backoff.is_idle()) SHW_RETURN_IF_ERROR(watcher.still_waiting(missing_));
  }
}

}  // namespace shw::runtime
