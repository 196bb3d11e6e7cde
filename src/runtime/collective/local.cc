#include "runtime/collective/local.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/collective/group.h"
#include "runtime/collective/members.h"
#include "runtime/host_kernel.h"

namespace shw::runtime {
namespace {

// A rank's place in a group. After an abort the rank gets a place in a new group of the same ranks.
// The old group stays aborted for members that have not noticed yet.
struct Seat {
  std::string axes;  // mesh dims, outermost first, as bytes
  GroupName name{};
  int64_t first_rank = 0;  // smallest rank of the group; identifies it
  uint32_t ordinal = 0;    // index of the channel among the rank's channels on these axes
  int64_t member = 0;
  std::vector<int64_t> ranks;  // by member
  std::shared_ptr<Group> group;
  uint64_t num_collectives = 0;  // number dispatched in this group, one after another
  // Number in the log of the collective that waits for other members; 0: none does.
  uint64_t waits = 0;
};

class Hub final : public LocalHub, public std::enable_shared_from_this<Hub> {
 public:
  Hub(Mesh mesh, Timeout timeout) : mesh_(std::move(mesh)), timeout_(timeout) {
    for (int64_t r = 0; r < mesh_.num_ranks(); ++r)
      logs_.push_back(std::make_shared<CollectiveLog>());
  }
  std::unique_ptr<ChannelProvider> provider(int64_t rank) override;
  const Mesh& mesh() const { return mesh_; }
  Timeout timeout() const { return timeout_; }
  const std::shared_ptr<CollectiveLog>& log(int64_t rank) const {
    return logs_[static_cast<size_t>(rank)];
  }

  std::shared_ptr<Group> group(const Seat& seat, uint64_t epoch) {
    std::lock_guard lock(mutex_);
    std::erase_if(groups_, [](const auto& item) { return item.second.expired(); });
    std::weak_ptr<Group>& known = groups_[{epoch, seat.axes, seat.first_rank, seat.ordinal}];
    std::shared_ptr<Group> group = known.lock();
    if (group == nullptr) {
      std::vector<GroupMember> who;
      for (int64_t rank : seat.ranks) who.push_back({rank, log(rank)});
      group = std::make_shared<Group>(std::move(who), timeout_);
      if (const Status cause = cause_of(epoch); !cause.ok()) group->abort(cause);
      known = group;
    }
    return group;
  }

  // Ends epoch `epoch` for all ranks, including those that have not entered it yet.
  void abort(uint64_t epoch, const Status& cause) {
    std::vector<std::shared_ptr<Group>> doomed;
    {
      std::lock_guard lock(mutex_);
      for (auto& [key, weak] : groups_)
        if (auto group = weak.lock(); group != nullptr && std::get<0>(key) == epoch)
          doomed.push_back(std::move(group));
      if (!aborted_.try_emplace(epoch, cause).second) return;
      if (aborted_.size() > kKept) aborted_.erase(aborted_.begin());
    }
    for (const auto& group : doomed) group->abort(cause);
  }

  void close(const Status& cause) override {
    std::vector<std::shared_ptr<Group>> doomed;
    {
      std::lock_guard lock(mutex_);
      for (auto& [key, weak] : groups_)
        if (auto group = weak.lock(); group != nullptr) doomed.push_back(std::move(group));
      if (!closed_.ok()) return;
      closed_ = cause;
    }
    for (const auto& group : doomed) group->abort(cause);
  }

  // The error that ended the collectives of `epoch`; OK: none.
  Status status(uint64_t epoch) const {
    std::lock_guard lock(mutex_);
    return cause_of(epoch);
  }

 private:
  static constexpr size_t kKept = 64;  // ranks are at most one epoch apart

  Status cause_of(uint64_t epoch) const {  // under mutex_
    if (!closed_.ok()) return closed_;
    const auto it = aborted_.find(epoch);
    return it == aborted_.end() ? Status() : it->second;
  }

  const Mesh mesh_;
  const Timeout timeout_;
  std::vector<std::shared_ptr<CollectiveLog>> logs_;  // by rank
  mutable std::mutex mutex_;
  Status closed_;                       // OK: the hub is open
  std::map<uint64_t, Status> aborted_;  // by epoch
  std::map<std::tuple<uint64_t, std::string, int64_t, uint32_t>, std::weak_ptr<Group>> groups_;
};

// A rank's end of its group: dispatches collectives one after another.
class LocalEnd {
 public:
  LocalEnd(std::shared_ptr<Seat> seat, std::shared_ptr<CollectiveLog> log)
      : seat_(std::move(seat)), log_(std::move(log)) {}
  const Seat& seat() const { return *seat_; }
  Status run(const HostCollective& c, ReduceFn reduce) {
    const CollectiveRecord record = next(c);
    const uint64_t dispatched = log_->dispatch(record);
    Status status = seat_->group->meet(
        seat_->member, {record, reduce, c.input, c.output, c.send_offsets, c.receive_offsets});
    if (status.ok()) log_->finish(dispatched);
    return status;
  }
  // See HostWork::advance().
  Progress advance(const HostCollective& c, ReduceFn reduce, Waker& waker, Status& result) {
    Progress progress;
    if (seat_->waits == 0) {
      const CollectiveRecord record = next(c);
      seat_->waits = log_->dispatch(record);
      progress =
          seat_->group->arrive(seat_->member, {record, reduce, c.input, c.output}, waker, result);
    } else {
      progress = seat_->group->go_on(seat_->member, result);
    }
    if (progress == Progress::kWaits) return progress;
    if (result.ok()) log_->finish(seat_->waits);
    seat_->waits = 0;
    return progress;
  }

 private:
  CollectiveRecord next(const HostCollective& c) {
    return {++seat_->num_collectives, c.spec, c.node, seat_->name};
  }

  std::shared_ptr<Seat> seat_;
  std::shared_ptr<CollectiveLog> log_;
};

class LocalCollective final : public HostKernel {
 public:
  LocalCollective(const LocalEnd& end, const CollectiveSpec& spec, ReduceFn reduce)
      : end_(end), spec_(spec), reduce_(reduce) {
    set_never_blocks();
  }
  Status compute(void* const* buffers) override {
    return end_.run({spec_, origin.node, buffers[0], buffers[1]}, reduce_);
  }
  Progress try_compute(void* const* buffers, Waker& waker, Status& result) override {
    return end_.advance({spec_, origin.node, buffers[0], buffers[1]}, reduce_, waker, result);
  }

 private:
  LocalEnd end_;
  CollectiveSpec spec_;
  ReduceFn reduce_;
};

class LocalChannel final : public Channel {
 public:
  explicit LocalChannel(LocalEnd end) : end_(std::move(end)) {}
  int64_t member() const override { return end_.seat().member; }
  int64_t size() const override { return static_cast<int64_t>(end_.seat().ranks.size()); }
  Result<std::unique_ptr<PreparedKernel>> prepare(const CollectiveSpec& spec) override {
    SHW_ASSIGN_OR_RETURN(const ReduceFn reduce, reduction_of(spec));
    return std::unique_ptr<PreparedKernel>(std::make_unique<LocalCollective>(end_, spec, reduce));
  }
  Status run(const HostCollective& collective) override {
    SHW_ASSIGN_OR_RETURN(const ReduceFn reduce, reduction_of(collective.spec));
    return end_.run(collective, reduce);
  }

 private:
  LocalEnd end_;
};

class LocalProvider final : public ChannelProvider {
 public:
  LocalProvider(std::shared_ptr<Hub> hub, int64_t rank)
      : hub_(std::move(hub)),
        rank_(rank),
        gone_(Code::kAborted, "rank " + std::to_string(rank) + " has left the job") {}
  // No rank may wait for this rank any more; groups without it continue.
  ~LocalProvider() override {
    for (const auto& seat : seats_) seat->group->abort(gone_);
  }
  int64_t rank() const override { return rank_; }
  const Mesh& mesh() const override { return hub_->mesh(); }

  Result<std::unique_ptr<Channel>> channel(std::span<const uint8_t> axes) override {
    auto seat = std::make_shared<Seat>();
    seat->axes.assign(axes.begin(), axes.end());
    seat->name = group_name(mesh(), axes);
    SHW_ASSIGN_OR_RETURN(seat->ranks, group_ranks(mesh(), axes, rank_));
    seat->member = std::ranges::find(seat->ranks, rank_) - seat->ranks.begin();
    seat->first_rank = std::ranges::min(seat->ranks);
    std::lock_guard lock(mutex_);
    seat->ordinal =
        static_cast<uint32_t>(std::count_if(seats_.begin(), seats_.end(), [&](const auto& other) {
          return other->axes == seat->axes;
        }));
    seat->group = hub_->group(*seat, epoch_);
    seats_.push_back(seat);
    return std::unique_ptr<Channel>(
        std::make_unique<LocalChannel>(LocalEnd(std::move(seat), hub_->log(rank_))));
  }

  Timeout ask_within() const override { return hub_->timeout() / 8; }
  Status async_status() const override {
    std::lock_guard lock(mutex_);
    for (const auto& seat : seats_) seat->group->look_at_the_clock(seat->member);
    return hub_->status(epoch_);
  }

  void abort(const Status& cause) override {
    uint64_t epoch;
    {
      std::lock_guard lock(mutex_);
      epoch = epoch_;
    }
    hub_->abort(epoch,
                Status(cause.code(), "rank " + std::to_string(rank_) + ": " + cause.message()));
  }

  void reset() override {
    std::lock_guard lock(mutex_);
    ++epoch_;
    hub_->log(rank_)->clear();
    for (const auto& seat : seats_) {
      seat->group = hub_->group(*seat, epoch_);
      seat->num_collectives = 0;
    }
  }

 private:
  std::shared_ptr<Hub> hub_;
  int64_t rank_;
  const Status gone_;  // created early: the destructor must not allocate
  mutable std::mutex mutex_;
  // Ranks that have reset equally often are in the same epoch. An abort applies to one epoch, so an
  // abort from a late rank does not end runs of ranks that have already reset.
  uint64_t epoch_ = 0;
  std::vector<std::shared_ptr<Seat>> seats_;  // for all channels ever made: ordinals depend on it
};

std::unique_ptr<ChannelProvider> Hub::provider(int64_t rank) {
  return std::make_unique<LocalProvider>(shared_from_this(), rank);
}

}  // namespace

std::shared_ptr<LocalHub> LocalHub::create(Mesh mesh, Timeout timeout) {
  return std::make_shared<Hub>(std::move(mesh), timeout);
}

}  // namespace shw::runtime
