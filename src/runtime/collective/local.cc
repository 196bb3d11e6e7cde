#include "runtime/collective/local.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/collective/group.h"
#include "runtime/host_kernel.h"

namespace shw::runtime {
namespace {

// A rank's place in a group. After an abort the rank gets a place in a new group of the same ranks:
// the old one stays aborted for whoever has not noticed yet.
struct Seat {
  std::string axes;        // mesh dims, outermost first, as bytes
  int64_t first_rank = 0;  // smallest rank of the group: names it
  uint32_t ordinal = 0;    // the rank's how-many-th channel along these axes
  int64_t member = 0, size = 1;
  std::shared_ptr<Group> group;
};

class Hub final : public LocalHub, public std::enable_shared_from_this<Hub> {
 public:
  explicit Hub(Mesh mesh) : mesh_(std::move(mesh)) {}
  std::unique_ptr<ChannelProvider> provider(int64_t rank) override;
  const Mesh& mesh() const { return mesh_; }

  std::shared_ptr<Group> group(const Seat& seat, uint64_t epoch) {
    std::lock_guard lock(mutex_);
    std::erase_if(groups_, [](const auto& item) { return item.second.expired(); });
    std::weak_ptr<Group>& known = groups_[{epoch, seat.axes, seat.first_rank, seat.ordinal}];
    std::shared_ptr<Group> group = known.lock();
    if (group == nullptr) {
      group = std::make_shared<Group>(seat.size);
      if (epoch < live_epoch_) group->abort(abort_cause_);
      known = group;
    }
    return group;
  }

  // Ends epoch `epoch` for everybody.
  void abort(uint64_t epoch, const Status& cause) {
    std::vector<std::shared_ptr<Group>> doomed;
    {
      std::lock_guard lock(mutex_);
      if (epoch < live_epoch_) return;
      live_epoch_ = epoch + 1;
      abort_cause_ = cause;
      for (auto& [key, weak] : groups_)
        if (auto group = weak.lock(); group != nullptr && std::get<0>(key) <= epoch)
          doomed.push_back(std::move(group));
    }
    for (const auto& group : doomed) group->abort(cause);
  }

  uint64_t live_epoch() const {
    std::lock_guard lock(mutex_);
    return live_epoch_;
  }

 private:
  const Mesh mesh_;
  mutable std::mutex mutex_;
  uint64_t live_epoch_ = 0;  // what is older has been aborted
  Status abort_cause_;
  std::map<std::tuple<uint64_t, std::string, int64_t, uint32_t>, std::weak_ptr<Group>> groups_;
};

class LocalCollective final : public HostKernel {
 public:
  LocalCollective(std::shared_ptr<const Seat> seat, const CollectiveSpec& spec, ReduceFn reduce)
      : seat_(std::move(seat)), spec_(spec), reduce_(reduce) {}
  Status compute(void* const* buffers) override {
    return seat_->group->meet(seat_->member, {&spec_, reduce_, buffers[0], buffers[1]});
  }

 private:
  std::shared_ptr<const Seat> seat_;
  CollectiveSpec spec_;
  ReduceFn reduce_;
};

class LocalChannel final : public Channel {
 public:
  explicit LocalChannel(std::shared_ptr<const Seat> seat) : seat_(std::move(seat)) {}
  int64_t member() const override { return seat_->member; }
  int64_t size() const override { return seat_->size; }
  Result<std::unique_ptr<PreparedKernel>> prepare(const CollectiveSpec& spec) override {
    ReduceFn reduce = nullptr;
    if (spec.kind == CollectiveKind::kAllReduce || spec.kind == CollectiveKind::kReduceScatter) {
      SHW_ASSIGN_OR_RETURN(reduce, reduce_function(spec.op, spec.dtype));
    }
    return std::unique_ptr<PreparedKernel>(std::make_unique<LocalCollective>(seat_, spec, reduce));
  }

 private:
  std::shared_ptr<const Seat> seat_;
};

class LocalProvider final : public ChannelProvider {
 public:
  LocalProvider(std::shared_ptr<Hub> hub, int64_t rank)
      : hub_(std::move(hub)),
        rank_(rank),
        gone_(Code::kAborted, "rank " + std::to_string(rank) + " has left the job") {}
  // Nobody may wait for this rank any more; groups without it go on.
  ~LocalProvider() override {
    for (const auto& seat : seats_) seat->group->abort(gone_);
  }
  int64_t rank() const override { return rank_; }
  const Mesh& mesh() const override { return hub_->mesh(); }

  Result<std::unique_ptr<Channel>> channel(std::span<const uint8_t> axes) override {
    auto seat = std::make_shared<Seat>();
    seat->axes.assign(axes.begin(), axes.end());
    seat->first_rank = rank_;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int axis = axes[i];
      if (axis >= mesh().rank() || std::count(axes.begin(), axes.end(), axes[i]) != 1)
        return invalid_argument("the axes of a group are distinct dims of the mesh " +
                                mesh().to_string());
      int64_t step = 1;  // between neighbours along `axis`
      for (int d = axis + 1; d < mesh().rank(); ++d) step *= mesh().size(d);
      const int64_t coordinate = mesh().coordinate(rank_, axis);
      seat->first_rank -= coordinate * step;
      seat->member = seat->member * mesh().size(axis) + coordinate;
      seat->size *= mesh().size(axis);
    }
    std::lock_guard lock(mutex_);
    seat->ordinal =
        static_cast<uint32_t>(std::count_if(seats_.begin(), seats_.end(), [&](const auto& other) {
          return other->axes == seat->axes;
        }));
    seat->group = hub_->group(*seat, epoch_);
    seats_.push_back(seat);
    return std::unique_ptr<Channel>(std::make_unique<LocalChannel>(std::move(seat)));
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
    const uint64_t live = hub_->live_epoch();
    if (epoch_ == live) return;
    epoch_ = live;
    for (const auto& seat : seats_) seat->group = hub_->group(*seat, epoch_);
  }

 private:
  std::shared_ptr<Hub> hub_;
  int64_t rank_;
  const Status gone_;  // made in time: the destructor must not run out of memory
  std::mutex mutex_;
  uint64_t epoch_ = 0;
  std::vector<std::shared_ptr<Seat>> seats_;  // of all channels ever made: ordinals count on it
};

std::unique_ptr<ChannelProvider> Hub::provider(int64_t rank) {
  return std::make_unique<LocalProvider>(shared_from_this(), rank);
}

}  // namespace

std::shared_ptr<LocalHub> LocalHub::create(Mesh mesh) {
  return std::make_shared<Hub>(std::move(mesh));
}

}  // namespace shw::runtime
