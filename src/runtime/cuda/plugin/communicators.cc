#include "runtime/cuda/plugin/communicators.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "runtime/collective/members.h"
#include "runtime/cuda/plugin/host_stream.h"

namespace shw::runtime::cuda {
namespace {

constexpr std::chrono::milliseconds kLookAgain{2};  // while something may go wrong
constexpr size_t kInMessages = 8;                   // collectives that an error lists

}  // namespace

Result<std::shared_ptr<Communicators>> Communicators::create(
    std::shared_ptr<Context> context, std::shared_ptr<ChannelProvider> control, Timeout timeout) {
  std::shared_ptr<Communicators> made(
      new Communicators(std::move(context), std::move(control), timeout));
  SHW_ASSIGN_OR_RETURN(made->nccl_, open_nccl(made->context_->options().folder));
  SHW_RETURN_IF_ERROR(made->start());
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
  const Current current(*context_);
  for (Watched& w : watched_)
    SHW_RETURN_IF_ERROR(context_->driver().check(
        context_->driver().create_event(&w.event, kEventDisableTiming), "making a CUDA event"));
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
    // The exchange of ids ends only so. Whoever still waits for this rank waits in vain.
    if (is_building) control_->abort(Status(Code::kAborted, "the rank has left the job"));
    thread_.join();
  }
  const Current current(*context_);
  end_all();
  for (const Watched& w : watched_)
    if (w.event != nullptr) (void)context_->driver().destroy_event(w.event);
}

Result<std::shared_ptr<Seat>> Communicators::add_seat(std::span<const uint8_t> axes) {
  auto seat = std::make_shared<Seat>();
  SHW_ASSIGN_OR_RETURN(const std::vector<int64_t> ranks, group_ranks(mesh(), axes, rank()));
  seat->name = group_name(mesh(), axes);
  seat->first_rank = std::ranges::min(ranks);
  seat->member = std::ranges::find(ranks, rank()) - ranks.begin();
  seat->size = static_cast<int64_t>(ranks.size());
  {
    std::lock_guard lock(mutex_);
    seats_.push_back(seat);
  }
  changed_.notify_all();
  return seat;
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
  changed_.wait(lock, [&] { return !is_building_; });
  const Current current(*context_);
  end_all();
  control_->reset();
  failure_ = {};
  must_look_ = false;
  log_.clear();
  for (Watched& w : watched_) w.dispatched = 0;
  lock.unlock();
  changed_.notify_all();
}

Status Communicators::wait_until_ready(std::unique_lock<std::mutex>& lock, const Seat& seat) {
  changed_.wait(lock,
                [&] { return seat.communicator != nullptr || !failure_.ok() || is_stopping_; });
  if (seat.communicator != nullptr) return {};
  return {Code::kAborted, failure_.ok() ? "the job ends" : failure_.message()};
}

// A communicator may take a collective in the background; the stream is its own until then.
Status Communicators::wait_until_put(std::unique_lock<std::mutex>& lock, const Seat& seat) {
  while (true) {
    if (seat.communicator == nullptr) return {Code::kAborted, failure_.message()};
    NcclError error = kNcclSuccess;
    SHW_RETURN_IF_ERROR(nccl_.check(nccl_.async_error(seat.communicator, &error), "a collective"));
    if (error != kNcclInProgress) return nccl_.check(error, "a collective");
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

Status Communicators::watch(const CollectiveRecord& record, StreamHandle stream) {
  const uint64_t dispatched = log_.dispatch(record);
  const auto free = std::ranges::find(watched_, uint64_t{0}, &Watched::dispatched);
  if (free == watched_.end()) return {};
  const Current current(*context_);
  SHW_RETURN_IF_ERROR(context_->driver().check(context_->driver().record_event(free->event, stream),
                                               "recording a CUDA event"));
  free->dispatched = dispatched;
  free->since = Clock::now();
  changed_.notify_all();
  return {};
}

bool Communicators::must_build() const {
  return failure_.ok() && std::ranges::any_of(seats_, [](const auto& seat) {
           return seat->communicator == nullptr;
         });
}

bool Communicators::is_watching() const {
  return must_look_ ||
         std::ranges::any_of(watched_, [](const Watched& w) { return w.dispatched != 0; });
}

// One piece of work of the thread, or a wait for some.
Status Communicators::work(std::unique_lock<std::mutex>& lock) {
  if (must_build()) {
    is_building_ = true;
    Status status = build(lock);
    is_building_ = false;
    changed_.notify_all();
    return status;
  }
  if (!is_watching() || !failure_.ok()) {
    changed_.wait(lock,
                  [&] { return is_stopping_ || must_build() || (is_watching() && failure_.ok()); });
    return {};
  }
  if (!must_look_) changed_.wait_for(lock, kLookAgain);
  must_look_ = false;
  return look_for_errors();
}

void Communicators::serve() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    Status status;
    try {
      status = work(lock);
    } catch (const std::bad_alloc&) {
      if (!lock.owns_lock()) lock.lock();
      is_building_ = false;
      status = Status(Code::kResourceExhausted, "out of memory");  // stored without the heap
    }
    if (status.ok() || is_stopping_) continue;
    failure_ = status;
    const Current current(*context_);
    end_all();
    changed_.notify_all();
    lock.unlock();
    end_job(status);
    lock.lock();
  }
}

// Tells the other ranks, unless they know.
void Communicators::end_job(const Status& cause) noexcept {
  try {
    if (control_->async_status().ok()) control_->abort(cause);
  } catch (const std::bad_alloc&) {
    // The monitor of the executor, which learns of the failure, tells them.
  }
}

void Communicators::end_all() {
  for (const auto& seat : seats_)
    if (seat->communicator != nullptr) {
      (void)nccl_.abort(seat->communicator);
      seat->communicator = nullptr;
      seat->num_collectives = 0;
    }
  if (all_ != nullptr) (void)nccl_.abort(all_);
  all_ = nullptr;
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

// Waits while NCCL makes a communicator, unless the job ends.
Status Communicators::finish_init(std::unique_lock<std::mutex>& lock,
                                  NcclCommunicator communicator) {
  while (true) {
    NcclError error = kNcclSuccess;
    SHW_RETURN_IF_ERROR(
        nccl_.check(nccl_.async_error(communicator, &error), "making a communicator"));
    if (error != kNcclInProgress) return nccl_.check(error, "making a communicator");
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

// Every rank splits in the same order, as programs are the same on every rank.
Status Communicators::split(std::unique_lock<std::mutex>& lock, Seat& seat) {
  NcclConfig config;
  NcclCommunicator made = nullptr;
  SHW_RETURN_IF_ERROR(nccl_.check(nccl_.split(all_, static_cast<int>(seat.first_rank),
                                              static_cast<int>(seat.member), &made, &config),
                                  "splitting a communicator"));
  // The one of all is busy with the split, too.
  Status status = finish_init(lock, all_);
  if (status.ok()) status = finish_init(lock, made);
  if (!status.ok()) {
    (void)nccl_.abort(made);
    return status;
  }
  seat.communicator = made;
  changed_.notify_all();
  return {};
}

Status Communicators::build(std::unique_lock<std::mutex>& lock) {
  const Current current(*context_);
  if (all_ == nullptr) SHW_RETURN_IF_ERROR(join_all(lock));
  for (size_t i = 0; i < seats_.size(); ++i) {  // more may come meanwhile
    const std::shared_ptr<Seat> seat = seats_[i];
    if (seat->communicator == nullptr) SHW_RETURN_IF_ERROR(split(lock, *seat));
  }
  return {};
}

Status Communicators::look_for_errors() {
  if (const Status job = control_->async_status(); !job.ok())
    return {Code::kAborted, job.message()};
  for (const auto& seat : seats_) {
    if (seat->communicator == nullptr) continue;
    NcclError error = kNcclSuccess;
    SHW_RETURN_IF_ERROR(
        nccl_.check(nccl_.async_error(seat->communicator, &error), "a communicator"));
    if (Status s = nccl_.check(error, "a communicator failed"); !s.ok())
      return {s.code(), s.message() + "; dispatched: " + log_.to_string(kInMessages)};
  }
  return look_at_the_clock();
}

Status Communicators::look_at_the_clock() {
  const Current current(*context_);
  for (Watched& w : watched_) {
    if (w.dispatched == 0) continue;
    if (context_->driver().query_event(w.event) != kDriverNotReady) {
      log_.finish(w.dispatched);
      w.dispatched = 0;
    } else if (timeout_.count() > 0 && Clock::now() - w.since > timeout_) {
      return {Code::kDeadlineExceeded,
              "a collective has not ended after " + seconds_text(timeout_) + " on rank " +
                  std::to_string(rank()) + "; dispatched: " + log_.to_string(kInMessages)};
    }
  }
  return {};
}

}  // namespace shw::runtime::cuda
