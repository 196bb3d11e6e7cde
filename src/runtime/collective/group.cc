#include "runtime/collective/group.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "runtime/collective/past_caches.h"

namespace shw::runtime {
namespace {

constexpr int64_t kPieceBytes = 128 << 10;  // fits in a second-level cache together with its copies
// Smaller amounts of work, in bytes, are done by the last member alone: waking a thread costs about
// as much as copying this many bytes. [Empirical] 2-core virtual machine, tests/bench.
constexpr int64_t kAloneBytes = 256 << 10;

// Results of at least this many bytes do not stay in the caches until they are read.
constexpr int64_t kLargeBytes = 2 << 20;

constexpr int64_t kLine = 64;  // bytes

constexpr size_t kShown = 4;  // collectives per rank in a message

const std::byte* at(const void* p, int64_t bytes) {
  return static_cast<const std::byte*>(p) + bytes;
}
std::byte* at(void* p, int64_t bytes) { return static_cast<std::byte*>(p) + bytes; }

}  // namespace

Group::Group(std::vector<GroupMember> who, Timeout timeout)
    : who_(std::move(who)),
      timeout_(timeout),
      members_(who_.size()),
      places_(who_.size()),
      inputs_(who_.size()),
      outputs_(who_.size()) {}

Progress Group::arrive(int64_t member, const Contribution& contribution, Waker& waker,
                       Status& result) {
  std::unique_lock lock(mutex_);
  if (!abort_cause_.ok()) {
    result = abort_cause_;
    return Progress::kDone;
  }
  const auto m = static_cast<size_t>(member);
  members_[m] = contribution;
  inputs_[m] = contribution.input;
  outputs_[m] = contribution.output;
  Place& place = places_[m];
  place.came_to = finished_ + 1;  // no member arrives at the next meeting before this one ends
  place.waker = &waker;
  if (timeout_ > Timeout::zero()) place.came_at = std::chrono::steady_clock::now();
  if (++arrived_ < size()) return Progress::kWaits;
  arrived_ = 0;
  open(member);
  lock.unlock();
  return go_on(member, result);
}

Progress Group::go_on(int64_t member, Status& result) {
  Place& place = places_[static_cast<size_t>(member)];
  std::unique_lock lock(mutex_);
  if (opened_ == place.came_to && finished_ < place.came_to) {
    lock.unlock();
    work();
    lock.lock();
  }
  if (finished_ >= place.came_to) return leave(place, verdict_, result);
  if (opened_ == place.came_to) return Progress::kWaits;  // others are still working
  if (!place.late.ok()) return leave(place, std::exchange(place.late, Status()), result);
  if (!abort_cause_.ok()) return leave(place, abort_cause_, result);
  return Progress::kWaits;
}

Progress Group::leave(Place& place, Status verdict, Status& result) {
  place.waker = nullptr;
  result = std::move(verdict);
  return Progress::kDone;
}

namespace {

// The waker of a thread that blocks.
class Sleeper final : public Waker {
 public:
  void wake() noexcept override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_one();
  }
  void sleep(Timeout limit) {
    std::unique_lock lock(mutex_);
    const auto is_woken = [&] { return woken_; };
    if (limit > Timeout::zero())
      changed_.wait_for(lock, limit, is_woken);
    else
      changed_.wait(lock, is_woken);
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
};

}  // namespace

Status Group::meet(int64_t member, const Contribution& contribution) {
  Sleeper sleeper;
  Status result;
  Progress progress = arrive(member, contribution, sleeper, result);
  while (progress == Progress::kWaits) {
    sleeper.sleep(timeout_);
    look_at_the_clock(member);
    progress = go_on(member, result);
  }
  return result;
}

void Group::look_at_the_clock(int64_t member) {
  if (timeout_ <= Timeout::zero()) return;
  const std::lock_guard lock(mutex_);
  Place& place = places_[static_cast<size_t>(member)];
  if (place.waker == nullptr || opened_ >= place.came_to || !abort_cause_.ok() ||
      std::chrono::steady_clock::now() - place.came_at < timeout_)
    return;
  place.late = Status(Code::kDeadlineExceeded, "a rank is late");  // short: not on the heap
  try {
    place.late = nobody_came(member);
  } catch (const std::bad_alloc&) {  // keep the short text
  }
  abort_locked(place.late);
}

void Group::abort(const Status& cause) {
  std::lock_guard lock(mutex_);
  abort_locked(cause);
}

void Group::abort_locked(const Status& cause) {
  if (abort_cause_.ok()) {
    try {
      abort_cause_ = Status(Code::kAborted, "stopped with the other ranks: " + cause.message());
    } catch (const std::bad_alloc&) {  // waiting members are woken in any case
      abort_cause_ = Status(Code::kAborted, "a rank is gone");  // short: not on the heap
    }
  }
  wake_all();
}

void Group::wake_all() const {
  for (const Place& place : places_)
    if (place.waker != nullptr) place.waker->wake();
}

Status Group::nobody_came(int64_t member) const {
  const auto me = static_cast<size_t>(member);
  std::string text = "rank " + std::to_string(who_[me].rank) + " waited " + seconds_text(timeout_) +
                     " in " + to_string(members_[me].record);
  const char* separator = ": ";
  for (size_t m = 0; m < who_.size(); ++m) {
    if (places_[m].came_to == places_[me].came_to) continue;
    text += separator + ("rank " + std::to_string(who_[m].rank)) +
            " has not arrived: it has dispatched " + who_[m].log->to_string(kShown);
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
  return members_[0].record.spec.by_counts ? check_counts() : Status();
}

// Checks that each member expects from every other member as many elements as that one sends.
Status Group::check_counts() const {
  const auto count = [](const int64_t* offsets, size_t m) { return offsets[m + 1] - offsets[m]; };
  for (size_t from = 0; from < members_.size(); ++from)
    for (size_t to = 0; to < members_.size(); ++to) {
      const int64_t sends = count(members_[from].send_offsets, to);
      const int64_t expects = count(members_[to].receive_offsets, from);
      if (sends != expects)
        return counts_differ(members_[to].record, who_[from].rank, sends, who_[to].rank, expects);
    }
  return {};
}

// Called by the last member to arrive.
void Group::open(int64_t member) {
  ++opened_;
  try {
    verdict_ = check_agreement();
  } catch (const std::bad_alloc&) {
    verdict_ = Status(Code::kFailedPrecondition, "ranks diverged");  // short: not on the heap
  }
  if (!verdict_.ok()) return finish();
  const int64_t moved_bytes = cut();
  next_piece_.store(0, std::memory_order_relaxed);
  pieces_left_.store(pieces_.count(), std::memory_order_relaxed);
  if (moved_bytes <= kAloneBytes) {
    for (int64_t p = 0; p < pieces_.count(); ++p) do_piece(p);
    return finish();
  }
  int64_t helpers = std::min<int64_t>(size(), std::thread::hardware_concurrency()) - 1;
  for (size_t m = 0; m < places_.size() && helpers > 0; ++m) {
    if (m == static_cast<size_t>(member)) continue;
    places_[m].waker->wake();
    --helpers;
  }
}

void Group::finish() {
  finished_ = opened_;
  wake_all();
}

int64_t Group::cut() {
  const CollectiveSpec& spec = members_[0].record.spec;
  const int64_t size_bytes = dtype_size(spec.dtype);
  const bool of_one = spec.by_counts || spec.kind == CollectiveKind::kPermute;
  const int64_t sources = of_one ? 1 : size();  // number of sources or results per piece
  // Pieces have whole cache lines, wherever they start.
  pieces_.elements = std::max<int64_t>(
      kLine, kPieceBytes / size_bytes / (spec.by_counts ? 1 : size()) / kLine * kLine);
  pieces_.blocks = spec.kind == CollectiveKind::kAllReduce ? 1 : size();
  int64_t longest = spec.count, moved = pieces_.blocks * sources * spec.count;
  if (spec.by_counts)  // a block is what a member receives
    for (const Contribution& receiver : members_) {
      longest = std::max(longest, receiver.receive_offsets[members_.size()]);
      moved += receiver.receive_offsets[members_.size()];
    }
  const bool of_all =
      spec.kind == CollectiveKind::kAllGather || spec.kind == CollectiveKind::kAllToAll;
  pieces_.past_caches =
      (of_all && !spec.by_counts ? size() : 1) * longest * size_bytes >= kLargeBytes;
  pieces_.per_block = std::max<int64_t>(1, (longest + pieces_.elements - 1) / pieces_.elements);
  return moved * size_bytes;
}

void Group::work() {
  while (true) {
    const int64_t piece = next_piece_.fetch_add(1, std::memory_order_relaxed);
    if (piece >= pieces_.count()) return;
    do_piece(piece);
    if (pieces_.past_caches) fence_past_caches();
    // This counter makes the writes of all threads visible to the last one to finish.
    if (pieces_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const std::lock_guard lock(mutex_);
      finish();
    }
  }
}

void Group::do_piece(int64_t piece) {
  const CollectiveSpec& spec = members_[0].record.spec;
  const int64_t block = piece / pieces_.per_block;
  const int64_t first = piece % pieces_.per_block * pieces_.elements;
  if (spec.by_counts) return deliver(static_cast<size_t>(block), first, first + pieces_.elements);
  const int64_t count = std::min(pieces_.elements, spec.count - first);
  if (count <= 0) return;
  const int64_t size_bytes = dtype_size(spec.dtype);
  const int64_t bytes = count * size_bytes;
  // Offset in a tensor [n, count].
  const int64_t within = (block * spec.count + first) * size_bytes;
  switch (spec.kind) {
    case CollectiveKind::kAllGather:
      return copy_to_all(within, at(inputs_[static_cast<size_t>(block)], first * size_bytes),
                         bytes);
    case CollectiveKind::kReduceScatter:
      return members_[0].reduce({inputs_.data(), size(), block * spec.count + first,
                                 &outputs_[static_cast<size_t>(block)], 1, first, count,
                                 pieces_.past_caches});
    case CollectiveKind::kAllReduce:
      return members_[0].reduce({inputs_.data(), size(), first, outputs_.data(), size(), first,
                                 count, pieces_.past_caches});
    case CollectiveKind::kAllToAll:
      for (int64_t from = 0; from < size(); ++from)
        copy(at(outputs_[static_cast<size_t>(block)], (from * spec.count + first) * size_bytes),
             at(inputs_[static_cast<size_t>(from)], within), bytes);
      return;
    case CollectiveKind::kPermute: {
      const auto source =
          static_cast<size_t>(members_[static_cast<size_t>(block)].record.spec.source);
      return copy(at(outputs_[static_cast<size_t>(block)], first * size_bytes),
                  at(inputs_[source], first * size_bytes), bytes);
    }
    case CollectiveKind::kNone:
      return;
  }
}

void Group::copy(std::byte* to, const std::byte* from, int64_t bytes) const {
  (pieces_.past_caches ? copy_past_caches : copy_through_caches)(to, from,
                                                                 static_cast<size_t>(bytes));
}

void Group::copy_to_all(int64_t offset, const std::byte* from, int64_t bytes) const {
  const int64_t step = pieces_.past_caches ? static_cast<int64_t>(kPastCachesBlock) : bytes;
  for (int64_t begin = 0; begin < bytes; begin += step)
    for (void* output : outputs_)
      copy(at(output, offset + begin), from + begin, std::min(step, bytes - begin));
}

// For a collective by counts: copies elements `first` to `end` of the data that member `to`
// receives, from the members that send them.
void Group::deliver(size_t to, int64_t first, int64_t end) const {
  const Contribution& receiver = members_[to];
  const int64_t size_bytes = dtype_size(receiver.record.spec.dtype);
  for (size_t from = 0; from < members_.size(); ++from) {
    const int64_t* offsets = receiver.receive_offsets + from;
    const int64_t begin = std::max(first, offsets[0]);
    const int64_t count = std::min(end, offsets[1]) - begin;
    if (count <= 0) continue;
    const int64_t sent_from = members_[from].send_offsets[to] + begin - offsets[0];
    copy(at(receiver.output, begin * size_bytes), at(members_[from].input, sent_from * size_bytes),
         count * size_bytes);
  }
}

}  // namespace shw::runtime
