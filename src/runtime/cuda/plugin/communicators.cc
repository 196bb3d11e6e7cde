#include "runtime/cuda/plugin/communicators.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>

#include "runtime/collective/members.h"
#include "runtime/cuda/plugin/host_stream.h"

namespace shw::runtime::cuda {
namespace {

constexpr std::chrono::milliseconds kLookAgain{2};  // polling interval while errors may occur
constexpr size_t kInMessages = 8;                   // collectives that an error lists

// Calls `work`, turning exhausted memory into a status, and makes sure that the lock is held
// afterwards.
template <class F>
Status without_throwing(std::unique_lock<std::mutex>& lock, F&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    if (!lock.owns_lock()) lock.lock();
    return Status(Code::kResourceExhausted, "out of memory");  // stored without the heap
  }
}

uint32_t counted(const Group& group) {
  return std::atomic_ref(*group.counted).load(std::memory_order_acquire);
}

}  // namespace

Result<std::shared_ptr<Communicators>> Communicators::create(
    std::shared_ptr<Context> context, std::shared_ptr<ChannelProvider> control, Timeout timeout) {
  std::shared_ptr<Communicators> made(
      new Communicators(std::move(context), std::move(control), timeout));
  SHW_ASSIGN_OR_RETURN(made->nccl_, open_nccl(made->context_->options().folder));
  made->registration_ = open_nccl_registration(made->context_->options().folder);
  SHW_RETURN_IF_ERROR(made->context_->load(programs(DeviceProgram::progress)));
  SHW_RETURN_IF_ERROR(made->start());
  made->context_->registered().attach(made->registration_, made);
  return made;
}

Status Communicators::start() {
  std::vector<uint8_t> axes;
  for (int d = 0; d < mesh().rank(); ++d) axes.push_back(static_cast<uint8_t>(d));
  SHW_ASSIGN_OR_RETURN(auto channel, control_->channel(axes));
  num_ranks_ = channel->size();
  member_ = channel->member();
  SHW_ASSIGN_OR_RETURN(exchange_,
                       channel->prepare({CollectiveKind::kAllGather, ReduceOp::kSum, Dtype::kU8,
                                         static_cast<int64_t>(sizeof(NcclId))}));
  try {
    thread_ = std::thread([this] { serve(); });
  } catch (const std::system_error& e) {
    return Status(Code::kResourceExhausted,
                  std::string("no thread for the communicators of a rank: ") + e.what());
  }
  return {};
}

Communicators::~Communicators() {
  if (thread_.joinable()) {
    bool is_building;
    {
      std::lock_guard lock(mutex_);
      is_stopping_ = true;
      is_building = is_building_;
    }
    changed_.notify_all();
    // Only an abort ends the exchange of ids. A rank that still waits for this one would wait for
    // ever.
    if (is_building) control_->abort(Status(Code::kAborted, "the rank has left the job"));
    thread_.join();
  }
  const Current current(*context_);
  std::unique_lock lock(mutex_);
  end_all(lock);
  for (const auto& group : groups_) {
    group->underway.destroy_events(context_->driver());
    (void)context_->driver().free_host(group->counted);
  }
}

Result<std::shared_ptr<Group>> Communicators::add_group(std::span<const uint8_t> axes) {
  auto group = std::make_shared<Group>();
  SHW_ASSIGN_OR_RETURN(const std::vector<int64_t> ranks, group_ranks(mesh(), axes, rank()));
  group->name = group_name(mesh(), axes);
  group->first_rank = std::ranges::min(ranks);
  group->member = std::ranges::find(ranks, rank()) - ranks.begin();
  group->size = static_cast<int64_t>(ranks.size());
  void* counter = nullptr;
  {
    const Current current(*context_);
    SHW_RETURN_IF_ERROR(context_->driver().check(
        context_->driver().allocate_host(&counter, sizeof *group->counted,
                                         kHostMemoryPortable | kHostMemoryMapped),
        "memory to count collectives"));
  }
  group->counted = new (counter) unsigned{0};
  {
    std::lock_guard lock(mutex_);
    groups_.push_back(group);
    ending_.reserve(groups_.size() + 1);
  }
  changed_.notify_all();
  return group;
}

void Communicators::abort(const Status& cause) {
  control_->abort(cause);
  {
    std::lock_guard lock(mutex_);
    must_look_ = true;
  }
  changed_.notify_all();
}

Status Communicators::async_status() const {
  if (Status s = control_->async_status(); !s.ok()) return {Code::kAborted, s.message()};
  std::lock_guard lock(mutex_);
  return failure_;
}

void Communicators::reset() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !is_building_ && !is_ending_; });
  const Current current(*context_);
  is_ending_ = true;
  end_all(lock);
  control_->reset();
  failure_ = {};
  is_ending_ = must_look_ = false;
  log_.clear();
  for (const auto& group : groups_) group->underway.clear(counted(*group));
  lock.unlock();
  changed_.notify_all();
}

Status Communicators::wait_until_ready(std::unique_lock<std::mutex>& lock, const Group& group) {
  changed_.wait(lock,
                [&] { return group.communicator != nullptr || !failure_.ok() || is_stopping_; });
  if (group.communicator != nullptr) return {};
  return {Code::kAborted, failure_.ok() ? "the job ends" : failure_.message()};
}

// An error of another rank reaches this one first through NCCL, which does not name the rank. A
// moment later it arrives through the job, with the cause.
Status Communicators::with_cause(std::unique_lock<std::mutex>& lock, Status status) {
  constexpr std::chrono::milliseconds kMoment{500}, kPause{1};
  if (status.code() != Code::kAborted) return status;
  const Clock::time_point until = Clock::now() + kMoment;
  lock.unlock();
  Status job = control_->async_status();
  for (; job.ok() && Clock::now() < until; job = control_->async_status())
    std::this_thread::sleep_for(kPause);
  lock.lock();
  return job.ok() ? status : Status(Code::kAborted, job.message());
}

// A communicator may accept a collective in the background, and uses the stream until it is done.
// The first collective connects ranks, and therefore waits for them.
Status Communicators::wait_until_put(std::unique_lock<std::mutex>& lock, const Group& group) {
  const Clock::time_point since = Clock::now();
  while (true) {
    if (group.communicator == nullptr) return {Code::kAborted, failure_.message()};
    NcclError error = kNcclSuccess;
    SHW_RETURN_IF_ERROR(nccl_.check(nccl_.async_error(group.communicator, &error), "a collective"));
    if (error != kNcclInProgress) return with_cause(lock, nccl_.check(error, "a collective"));
    if (timeout_.count() > 0 && Clock::now() - since > timeout_)
      return {Code::kDeadlineExceeded,
              "NCCL has not taken a collective after " + seconds_text(timeout_) + " on rank " +
                  std::to_string(rank()) + "; dispatched: " + log_.to_string(kInMessages)};
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

CollectiveRecord Communicators::numbered(Group& group, const CollectiveRecord& record) {
  CollectiveRecord result = record;
  result.number = ++group.num_collectives;
  result.group = group.name;
  return result;
}

Status Communicators::watch(Group& group, const CollectiveRecord& record, StreamHandle stream) {
  const Current current(*context_);
  SHW_RETURN_IF_ERROR(
      group.underway.add(context_->driver(), stream, log_.dispatch(numbered(group, record))));
  changed_.notify_all();
  return {};
}

bool Communicators::must_build() const {
  return failure_.ok() && !is_ending_ && std::ranges::any_of(groups_, [](const auto& group) {
           return group->communicator == nullptr;
         });
}

bool Communicators::is_watching() const {
  if (!failure_.ok() || is_ending_) return false;
  return must_look_ || !std::ranges::all_of(
                           groups_, [](const auto& group) { return group->underway.is_empty(); });
}

// One step of the thread's work, or a wait for work.
Status Communicators::work(std::unique_lock<std::mutex>& lock) {
  if (must_build()) {
    is_building_ = true;
    Status status = build(lock);
    is_building_ = false;
    changed_.notify_all();
    return status;
  }
  if (!is_watching()) {
    changed_.wait(lock, [&] { return is_stopping_ || must_build() || is_watching(); });
    return {};
  }
  if (!must_look_) changed_.wait_for(lock, kLookAgain);
  if (!is_watching()) return {};  // reset in the meantime
  must_look_ = false;
  return look_for_errors();
}

void Communicators::serve() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    Status status = without_throwing(lock, [&] { return work(lock); });
    if (status.ok() || is_stopping_) continue;
    // From here on a reset waits, so that it comes after the abort. Otherwise the next job would be
    // aborted.
    is_building_ = false;
    is_ending_ = true;
    status = without_throwing(lock, [&] { return with_cause(lock, std::move(status)); });
    if (status.code() == Code::kDeadlineExceeded) add_silent_ranks(lock, status);
    failure_ = status;
    changed_.notify_all();
    const Current current(*context_);
    end_all(lock);
    lock.unlock();
    end_job(status);
    lock.lock();
    is_ending_ = false;
    changed_.notify_all();
  }
}

void Communicators::add_silent_ranks(std::unique_lock<std::mutex>& lock, Status& status) noexcept {
  lock.unlock();
  try {
    status = Status(status.code(), status.message() + control_->silent_ranks());
  } catch (const std::bad_alloc&) {
    // Out of memory: report the time-out without details.
  }
  lock.lock();
}

// Informs the other ranks, unless they already know.
void Communicators::end_job(const Status& cause) noexcept {
  try {
    if (control_->async_status().ok()) control_->abort(cause);
  } catch (const std::bad_alloc&) {
    // Out of memory: the executor's monitor, which learns of the failure, informs them.
  }
}

// According to NCCL, an abort ends the work on the device at once, and then waits
// for two things: for the graphs that contain collectives of the communicator; and for device
// memory, which becomes free once no work of another communicator waits for a rank. So the graphs
// are destroyed first, which the driver allows while they run, and all communicators are aborted
// together. The lock is released meanwhile for threads that want to launch or destroy a graph.
void Communicators::end_all(std::unique_lock<std::mutex>& lock) {
  ++generation_;
  for (const auto& graph : graphs_)
    (void)context_->driver().destroy_graph_exec(std::exchange(graph->exec, nullptr));
  graphs_.clear();
  for (const auto& group : groups_) {
    if (group->communicator != nullptr) ending_.push_back(group->communicator);
    group->communicator = nullptr;
    group->num_collectives = 0;
    group->registered.clear();
    group->registered_at = 0;
  }
  if (all_ != nullptr) ending_.push_back(all_);
  all_ = nullptr;
  if (ending_.empty()) return;
  lock.unlock();
  (void)nccl_.begin_group();
  for (const NcclCommunicator c : ending_) (void)nccl_.abort(c);
  (void)nccl_.end_group();
  lock.lock();
  ending_.clear();
}

Result<NcclId> Communicators::exchange_id() {
  NcclId mine{};
  if (member_ == 0)
    SHW_RETURN_IF_ERROR(nccl_.check(nccl_.make_id(&mine), "making an id for communicators"));
  std::vector<NcclId> all(static_cast<size_t>(num_ranks_));
  std::vector<std::byte> workspace(static_cast<size_t>(exchange_->workspace_bytes()) + 1);
  void* const buffers[] = {&mine, all.data(), workspace.data()};
  HostStream now;
  exchange_->launch(now, buffers);
  SHW_RETURN_IF_ERROR(now.result);
  return all[0];
}

// Waits while NCCL makes a communicator, until the job ends or a rank is late.
Status Communicators::finish_init(std::unique_lock<std::mutex>& lock,
                                  NcclCommunicator communicator) {
  const Clock::time_point since = Clock::now();
  while (true) {
    NcclError error = kNcclSuccess;
    SHW_RETURN_IF_ERROR(
        nccl_.check(nccl_.async_error(communicator, &error), "making a communicator"));
    if (error != kNcclInProgress) return nccl_.check(error, "making a communicator");
    if (timeout_.count() > 0 && Clock::now() - since > timeout_)
      return {Code::kDeadlineExceeded, "NCCL has not connected rank " + std::to_string(rank()) +
                                           " with the others after " + seconds_text(timeout_)};
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const Status job = control_->async_status();
    lock.lock();
    if (!job.ok()) return {Code::kAborted, job.message()};
    if (is_stopping_) return {Code::kAborted, "the job ends"};
  }
}

Status Communicators::join_all(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  const auto id = exchange_id();
  lock.lock();
  if (!id.ok()) return id.status();
  NcclConfig config;
  SHW_RETURN_IF_ERROR(nccl_.check(
      nccl_.join(&all_, static_cast<int>(num_ranks_), *id, static_cast<int>(member_), &config),
      "making the communicator of all ranks"));
  return finish_init(lock, all_);
}

// Every rank splits in the same order, because all ranks run the same program.
Status Communicators::split(std::unique_lock<std::mutex>& lock, Group& group) {
  NcclConfig config;
  NcclCommunicator made = nullptr;
  SHW_RETURN_IF_ERROR(nccl_.check(nccl_.split(all_, static_cast<int>(group.first_rank),
                                              static_cast<int>(group.member), &made, &config),
                                  "splitting a communicator"));
  // The communicator of all ranks is busy with the split, too.
  Status status = finish_init(lock, all_);
  if (status.ok()) status = finish_init(lock, made);
  if (!status.ok()) {
    (void)nccl_.abort(made);
    return status;
  }
  group.communicator = made;
  changed_.notify_all();
  return {};
}

Status Communicators::build(std::unique_lock<std::mutex>& lock) {
  const Current current(*context_);
  if (all_ == nullptr) SHW_RETURN_IF_ERROR(join_all(lock));
  for (size_t i = 0; i < groups_.size(); ++i) {  // more may be added in the meantime
    const std::shared_ptr<Group> group = groups_[i];
    if (group->communicator == nullptr) SHW_RETURN_IF_ERROR(split(lock, *group));
  }
  return {};
}

Status Communicators::look_for_errors() {
  if (const Status job = control_->async_status(); !job.ok())
    return {Code::kAborted, job.message()};
  for (const auto& group : groups_) {
    if (group->communicator == nullptr) continue;
    NcclError error = kNcclSuccess;
    SHW_RETURN_IF_ERROR(
        nccl_.check(nccl_.async_error(group->communicator, &error), "a communicator"));
    if (Status s = nccl_.check(error, "a communicator failed"); !s.ok())
      return {s.code(), s.message() + "; dispatched: " + log_.to_string(kInMessages)};
  }
  return look_at_the_clock();
}

Status Communicators::look_at_the_clock() {
  const Current current(*context_);
  for (const auto& group : groups_) {
    Underway& underway = group->underway;
    while (!underway.is_empty() && underway.is_oldest_over(context_->driver(), counted(*group)))
      underway.remove_oldest(log_);
    if (!underway.is_empty()) underway.log_oldest(log_);
  }
  for (const auto& group : groups_) {
    const Underway& underway = group->underway;
    if (!underway.is_empty() && timeout_.count() > 0 && Clock::now() - underway.since() > timeout_)
      return {Code::kDeadlineExceeded,
              "a collective has not ended after " + seconds_text(timeout_) + " on rank " +
                  std::to_string(rank()) + "; dispatched: " + log_.to_string(kInMessages)};
  }
  return {};
}

}  // namespace shw::runtime::cuda
