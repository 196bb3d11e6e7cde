#include "runtime/world/message_job.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>

#include "runtime/collective/members.h"
#include "runtime/host_kernel.h"
#include "runtime/world/message_collective.h"
#include "runtime/world/patience.h"

namespace shw::runtime {

Status stopped_with_others(const std::string& cause) {
  return Status(Code::kAborted, "stopped with the other ranks: " + cause);
}

uint32_t MessageJob::epoch() const {
  std::lock_guard lock(mutex_);
  return epoch_;
}

Status MessageJob::cause() const {
  std::lock_guard lock(mutex_);
  return cause_;
}

bool MessageJob::stop(uint32_t epoch, const Status& cause) {
  std::lock_guard lock(mutex_);
  if (epoch > epoch_) to_come_.try_emplace(epoch, cause);
  if (epoch != epoch_ || stopped_.load(std::memory_order_relaxed)) return false;
  cause_ = cause;
  stopped_.store(true, std::memory_order_release);
  return true;
}

void MessageJob::stop_for_good(const Status& cause) {
  std::lock_guard lock(mutex_);
  for_good_ = true;
  if (stopped_.load(std::memory_order_relaxed)) return;
  cause_ = cause;
  stopped_.store(true, std::memory_order_release);
}

void MessageJob::begin_next_epoch() {
  std::lock_guard lock(mutex_);
  ++epoch_;
  log_.clear();
  if (for_good_) return;
  const auto it = to_come_.find(epoch_);
  cause_ = it == to_come_.end() ? Status() : it->second;
  stopped_.store(!cause_.ok(), std::memory_order_release);
  to_come_.erase(to_come_.begin(), to_come_.upper_bound(epoch_));
}

namespace {

// The state of one group of one job that its channel's collectives share. They run one after
// another.
class Lane final : private RoundWatcher {
 public:
  Lane(std::shared_ptr<MessageWorldLinks> world, std::shared_ptr<MessageJob> job,
       std::vector<int64_t> ranks, const GroupName& name, uint64_t number)
      : world_(std::move(world)),
        job_(std::move(job)),
        ranks_(std::move(ranks)),
        me_(std::ranges::find(ranks_, job_->rank()) - ranks_.begin()),
        name_(name),
        number_(number),
        sources_(ranks_.size()),
        patience_(*world_, job_->number()) {
    renew();
  }

  const std::vector<int64_t>& ranks() const { return ranks_; }
  int64_t me() const { return me_; }

  void reserve(int64_t payload_bytes) {
    payload_bytes_ = std::max(payload_bytes_, payload_bytes);
    rounds_->reserve(payload_bytes_);
  }

  // Makes the connections of the job's current epoch.
  void renew() {
    // Tags encode job, group and epoch. Numbers that recur after a wrap-around belong to jobs and
    // epochs that ended long before.
    constexpr uint64_t kFirst = 16, kGroups = 64, kEpochs = 1024;
    const uint64_t tag = (job_->number() * kGroups + number_) * kEpochs + job_->epoch() % kEpochs;
    const auto range = static_cast<uint64_t>(world_->transport().max_tag()) - kFirst;
    rounds_.emplace(world_->transport(), ranks_, me_, static_cast<int32_t>(kFirst + tag % range));
    rounds_->reserve(payload_bytes_);
    num_collectives_ = 0;
  }

  Status run(const HostCollective& call, ReduceFn reduce) {
    const CollectiveRecord record{++num_collectives_, call.spec, call.node, name_};
    const uint64_t dispatched = job_->log().dispatch(record);
    if (job_->stopped()) return job_->cause();
    record_ = &record;
    patience_.begin();
    left_since_ = {};
    MessageCollective collective(record, call, reduce, *rounds_, *this, sources_);
    Status status = collective.run();
    if (status.ok()) job_->log().finish(dispatched);
    return status;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string i_dispatched() const {
    return "rank " + std::to_string(job_->rank()) + " dispatched " +
           job_->log().to_string(kShownCollectives);
  }

  Status still_waiting(const std::vector<bool>& missing) override {
    if (job_->stopped()) return job_->cause();
    SHW_RETURN_IF_ERROR(check_left(missing, Clock::now()));
    return patience_.is_over() ? late(missing) : Status();
  }

  // A rank that left may have sent the expected message just before, so it gets a moment to arrive.
  Status check_left(const std::vector<bool>& missing, Clock::time_point now) {
    constexpr std::chrono::milliseconds kMoment{500};
    for (size_t m = 0; m < missing.size(); ++m) {
      if (!missing[m] || !job_->has_left(ranks_[m])) continue;
      if (left_since_ == Clock::time_point()) left_since_ = now;
      if (now - left_since_ < kMoment) return {};
      return Status(Code::kAborted,
                    "rank " + std::to_string(ranks_[m]) + " has left the job; " + i_dispatched());
    }
    left_since_ = {};
    return {};
  }

  // Reports all ranks, not only the missing ones, because these may be waiting for a third rank
  // that is dead.
  Status late(const std::vector<bool>& missing) {
    const auto answers = patience_.answers();
    std::string text = "rank " + std::to_string(job_->rank()) + " waited " +
                       seconds_text(world_->timeout()) + " in " + to_string(*record_);
    const char* separator = ": ";
    for (int64_t rank = 0; rank < world_->transport().size(); ++rank) {
      if (rank == job_->rank()) continue;
      const auto answer = answers.find(rank);
      const auto member = std::ranges::find(ranks_, rank);
      const bool awaited =
          member != ranks_.end() && missing[static_cast<size_t>(member - ranks_.begin())];
      if (answer != answers.end() && !awaited) continue;
      text += separator + ("rank " + std::to_string(rank));
      if (answer == answers.end())
        text += kDoesNotAnswer;
      else if (answer->second.empty())
        text += " has left the job";
      else
        text += " has not arrived: it has dispatched " + answer->second;
      separator = "; ";
    }
    return Status(Code::kDeadlineExceeded, text);
  }

  Status diverged(int64_t member, const CollectiveRecord& theirs, int64_t expected) override {
    const int64_t rank = ranks_[static_cast<size_t>(member)];
    CollectiveSpec spec = theirs.spec;
    spec.count = 0;
    if (spec.by_counts && theirs.number == record_->number && same_collective(spec, record_->spec))
      return counts_differ(*record_, rank, theirs.spec.count, job_->rank(), expected);
    constexpr std::chrono::seconds kMoment{1};
    const auto answers = world_->answers(world_->ask(job_->number()), kMoment);
    const auto answer = answers.find(rank);
    return failed_precondition(
        "the ranks diverged: " + i_dispatched() + "; rank " + std::to_string(rank) +
        " dispatched " +
        (answer == answers.end() || answer->second.empty() ? to_string(theirs) : answer->second));
  }

  const std::shared_ptr<MessageWorldLinks> world_;
  const std::shared_ptr<MessageJob> job_;
  const std::vector<int64_t> ranks_;  // by member
  const int64_t me_;
  const GroupName name_;
  const uint64_t number_;         // number of the group in the job
  uint64_t num_collectives_ = 0;  // number dispatched in this epoch
  int64_t payload_bytes_ = 0;
  std::optional<Rounds> rounds_;
  std::vector<const void*> sources_;
  // For the collective that is running.
  const CollectiveRecord* record_ = nullptr;
  Patience patience_;
  Clock::time_point left_since_;
};

Status run_on(Lane& lane, const HostCollective& call, ReduceFn reduce) noexcept {
  try {
    return lane.run(call, reduce);
  } catch (const std::bad_alloc&) {                   // only messages of errors allocate
    return Status(Code::kAborted, "a rank is gone");  // short: not on the heap
  }
}

class MessageKernel final : public HostKernel {
 public:
  MessageKernel(std::shared_ptr<Lane> lane, const CollectiveSpec& spec, ReduceFn reduce)
      : lane_(std::move(lane)), spec_(spec), reduce_(reduce) {}
  Status compute(void* const* buffers) noexcept override {
    return run_on(*lane_, {spec_, origin.node, buffers[0], buffers[1]}, reduce_);
  }

 private:
  std::shared_ptr<Lane> lane_;
  CollectiveSpec spec_;
  ReduceFn reduce_;
};

class MessageChannel final : public Channel {
 public:
  explicit MessageChannel(std::shared_ptr<Lane> lane) : lane_(std::move(lane)) {}
  int64_t member() const override { return lane_->me(); }
  int64_t size() const override { return static_cast<int64_t>(lane_->ranks().size()); }
  Result<std::unique_ptr<PreparedKernel>> prepare(const CollectiveSpec& spec) override {
    SHW_ASSIGN_OR_RETURN(const ReduceFn reduce, reduction_of(spec));
    lane_->reserve(MessageCollective::payload_bytes(spec));
    return std::unique_ptr<PreparedKernel>(std::make_unique<MessageKernel>(lane_, spec, reduce));
  }
  Status run(const HostCollective& call) override {
    SHW_ASSIGN_OR_RETURN(const ReduceFn reduce, reduction_of(call.spec));
    // Sizes differ between calls, and all members must have equal capacity.
    lane_->reserve(Rounds::kMaxPayload);
    return run_on(*lane_, call, reduce);
  }

 private:
  std::shared_ptr<Lane> lane_;
};

class MessageProvider final : public ChannelProvider {
 public:
  MessageProvider(std::shared_ptr<MessageWorldLinks> world, std::shared_ptr<MessageJob> job,
                  Mesh mesh)
      : world_(std::move(world)), job_(std::move(job)), mesh_(std::move(mesh)) {}
  ~MessageProvider() override {
    try {
      world_->tell_left(job_->number());
    } catch (const std::bad_alloc&) {  // the others will time out
    }
  }
  int64_t rank() const override { return job_->rank(); }
  const Mesh& mesh() const override { return mesh_; }

  Result<std::unique_ptr<Channel>> channel(std::span<const uint8_t> axes) override {
    constexpr size_t kMost = 64;  // as many groups as tags can distinguish
    SHW_ASSIGN_OR_RETURN(std::vector<int64_t> ranks, group_ranks(mesh_, axes, rank()));
    if (lanes_.size() == kMost)
      return Status(Code::kResourceExhausted,
                    "a program between processes has at most 64 groups of ranks");
    lanes_.push_back(std::make_shared<Lane>(world_, job_, std::move(ranks), group_name(mesh_, axes),
                                            lanes_.size()));
    return std::unique_ptr<Channel>(std::make_unique<MessageChannel>(lanes_.back()));
  }

  std::string silent_ranks() override {
    constexpr std::chrono::milliseconds kMoment{500};
    return world_->silent_text(world_->answers(world_->ask(job_->number()), kMoment));
  }
  void abort(const Status& cause) override {
    try {
      const uint32_t epoch = job_->epoch();
      const std::string text = "rank " + std::to_string(rank()) + ": " + cause.message();
      if (job_->stop(epoch, stopped_with_others(text)))
        world_->tell_abort(job_->number(), epoch, text);
    } catch (const std::bad_alloc&) {  // this rank stops because of its own fault
    }
  }

  void give_up(const Status& cause) override { abort(cause); }

  void reset() override {
    job_->begin_next_epoch();
    for (const auto& lane : lanes_) lane->renew();
  }

  Status async_status() const override { return job_->cause(); }

 private:
  std::shared_ptr<MessageWorldLinks> world_;
  std::shared_ptr<MessageJob> job_;
  Mesh mesh_;
  std::vector<std::shared_ptr<Lane>> lanes_;
};

}  // namespace

std::unique_ptr<ChannelProvider> message_provider(std::shared_ptr<MessageWorldLinks> world,
                                                  std::shared_ptr<MessageJob> job, Mesh mesh) {
  return std::make_unique<MessageProvider>(std::move(world), std::move(job), std::move(mesh));
}

}  // namespace shw::runtime
