#include "runtime/collective/group.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <thread>

namespace shw::runtime {
namespace {

constexpr int64_t kPieceBytes = 128 << 10;  // fits a second-level cache together with its copies
// Less than this is done by the last member alone: waking a thread costs about as much as copying
// this far. [Empirical] 2-core virtual machine, tests/bench.
constexpr int64_t kAloneBytes = 256 << 10;

constexpr size_t kShown = 4;  // collectives of a rank in a message

const std::byte* at(const void* p, int64_t bytes) {
  return static_cast<const std::byte*>(p) + bytes;
}
std::byte* at(void* p, int64_t bytes) { return static_cast<std::byte*>(p) + bytes; }

}  // namespace

Group::Group(std::vector<GroupMember> who, Timeout timeout)
    : who_(std::move(who)),
      timeout_(timeout),
      members_(who_.size()),
      came_to_(who_.size()),
      inputs_(who_.size()),
      outputs_(who_.size()) {}

Status Group::meet(int64_t member, const Contribution& contribution) {
  std::unique_lock lock(mutex_);
  if (!abort_cause_.ok()) return abort_cause_;
  const auto m = static_cast<size_t>(member);
  members_[m] = contribution;
  inputs_[m] = contribution.input;
  outputs_[m] = contribution.output;
  const uint64_t meeting = finished_ + 1;  // nobody arrives for the next one before this one ends
  came_to_[m] = meeting;
  if (++arrived_ == size()) {
    arrived_ = 0;
    open();
  }
  const auto met = [&] { return opened_ == meeting || finished_ >= meeting || !abort_cause_.ok(); };
  if (timeout_ <= Timeout::zero()) {
    changed_.wait(lock, met);
  } else if (!changed_.wait_for(lock, timeout_, met)) {
    Status late(Code::kDeadlineExceeded, "a rank is late");  // short: not on the heap
    try {
      late = nobody_came(member);
    } catch (const std::bad_alloc&) {  // told in fewer words
    }
    abort_locked(late);
    return late;
  }
  if (opened_ < meeting) return abort_cause_;
  if (finished_ < meeting) {
    lock.unlock();
    work();
    lock.lock();
    changed_.wait(lock, [&] { return finished_ >= meeting; });
  }
  return verdict_;
}

void Group::abort(const Status& cause) {
  std::lock_guard lock(mutex_);
  abort_locked(cause);
}

void Group::abort_locked(const Status& cause) {
  if (abort_cause_.ok()) {
    try {
      abort_cause_ = Status(Code::kAborted, "stopped with the other ranks: " + cause.message());
    } catch (const std::bad_alloc&) {                           // who waits is woken all the same
      abort_cause_ = Status(Code::kAborted, "a rank is gone");  // short: not on the heap
    }
  }
  changed_.notify_all();
}

Status Group::nobody_came(int64_t member) const {
  const auto me = static_cast<size_t>(member);
  std::string text = "rank " + std::to_string(who_[me].rank) + " waited " + seconds_text(timeout_) +
                     " in " + to_string(members_[me].record);
  const char* separator = ": ";
  for (size_t m = 0; m < who_.size(); ++m) {
    if (came_to_[m] == came_to_[me]) continue;
    text += separator + ("rank " + std::to_string(who_[m].rank)) + " has not come, it dispatched " +
            who_[m].log->to_string(kShown);
    separator = "; ";
  }
  return Status(Code::kDeadlineExceeded, text);
}

Status Group::check_agreement() const {
  for (size_t m = 1; m < members_.size(); ++m)
    if (!same_collective(members_[m].record.spec, members_[0].record.spec))
      return failed_precondition("the ranks diverged: rank " + std::to_string(who_[0].rank) +
                                 " dispatched " + who_[0].log->to_string(kShown) + "; rank " +
                                 std::to_string(who_[m].rank) + " dispatched " +
                                 who_[m].log->to_string(kShown));
  return {};
}

void Group::open() {
  ++opened_;
  try {
    verdict_ = check_agreement();
  } catch (const std::bad_alloc&) {
    verdict_ = Status(Code::kFailedPrecondition, "ranks diverged");  // short: not on the heap
  }
  if (!verdict_.ok()) {
    finished_ = opened_;
    changed_.notify_all();
    return;
  }
  const CollectiveSpec& spec = members_[0].record.spec;
  const int64_t size_bytes = dtype_size(spec.dtype);
  pieces_.elements = std::max<int64_t>(1, kPieceBytes / size_bytes / size());
  pieces_.blocks = spec.kind == CollectiveKind::kAllReduce ? 1 : size();
  pieces_.per_block = std::max<int64_t>(1, (spec.count + pieces_.elements - 1) / pieces_.elements);
  next_piece_.store(0, std::memory_order_relaxed);
  pieces_left_.store(pieces_.count(), std::memory_order_relaxed);

  const int64_t of_each = spec.kind == CollectiveKind::kPermute ? 1 : size();
  const int64_t moved_bytes = pieces_.blocks * of_each * spec.count * size_bytes;
  if (moved_bytes <= kAloneBytes) {
    for (int64_t p = 0; p < pieces_.count(); ++p) do_piece(p);
    finished_ = opened_;
    changed_.notify_all();
    return;
  }
  const int64_t helpers = std::min<int64_t>(size(), std::thread::hardware_concurrency()) - 1;
  for (int64_t i = 0; i < helpers; ++i) changed_.notify_one();
}

void Group::work() {
  while (true) {
    const int64_t piece = next_piece_.fetch_add(1, std::memory_order_relaxed);
    if (piece >= pieces_.count()) return;
    do_piece(piece);
    // The last one to finish has, through this counter, everybody else's writes.
    if (pieces_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      {
        std::lock_guard lock(mutex_);
        finished_ = opened_;
      }
      changed_.notify_all();
    }
  }
}

void Group::do_piece(int64_t piece) {
  const CollectiveSpec& spec = members_[0].record.spec;
  const int64_t block = piece / pieces_.per_block;
  const int64_t first = piece % pieces_.per_block * pieces_.elements;
  const int64_t count = std::min(pieces_.elements, spec.count - first);
  if (count <= 0) return;
  const int64_t size_bytes = dtype_size(spec.dtype);
  const auto bytes = static_cast<size_t>(count * size_bytes);
  const int64_t within = (block * spec.count + first) * size_bytes;  // of a tensor [n, count]
  switch (spec.kind) {
    case CollectiveKind::kAllGather:
      for (void* output : outputs_)
        std::memcpy(at(output, within), at(inputs_[static_cast<size_t>(block)], first * size_bytes),
                    bytes);
      return;
    case CollectiveKind::kReduceScatter:
      return members_[0].reduce({inputs_.data(), size(), block * spec.count + first,
                                 &outputs_[static_cast<size_t>(block)], 1, first, count});
    case CollectiveKind::kAllReduce:
      return members_[0].reduce(
          {inputs_.data(), size(), first, outputs_.data(), size(), first, count});
    case CollectiveKind::kAllToAll:
      for (int64_t from = 0; from < size(); ++from)
        std::memcpy(
            at(outputs_[static_cast<size_t>(block)], (from * spec.count + first) * size_bytes),
            at(inputs_[static_cast<size_t>(from)], within), bytes);
      return;
    case CollectiveKind::kPermute: {
      const auto source =
          static_cast<size_t>(members_[static_cast<size_t>(block)].record.spec.source);
      std::memcpy(at(outputs_[static_cast<size_t>(block)], first * size_bytes),
                  at(inputs_[source], first * size_bytes), bytes);
      return;
    }
    case CollectiveKind::kNone:
      return;
  }
}

}  // namespace shw::runtime
