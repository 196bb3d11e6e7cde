#include "runtime/run_monitor.h"

#include <algorithm>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace shw::runtime {
namespace {

// The polling interval for errors that the device does not report by itself.
constexpr std::chrono::milliseconds kLookAgain{50};

// Calls `make`; if memory runs out, returns RESOURCE_EXHAUSTED instead.
template <class F>
Status without_throwing(F&& make) noexcept {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "out of memory");  // stored without the heap
  }
}

}  // namespace

Status RunSignal::run(void* const*) noexcept {
  monitor->reached_end(number);
  return {};
}

RunMonitor::RunMonitor(Watched watched)
    : watch_(std::move(watched)), ask_within_(watch_.provider.ask_within()) {}

Result<std::unique_ptr<RunMonitor>> RunMonitor::create(Watched watched) {
  std::unique_ptr<RunMonitor> monitor(new RunMonitor(std::move(watched)));
  monitor->watch_.fault.add_listener(monitor.get());
  try {
    monitor->thread_ = std::thread([m = monitor.get()] { m->serve(); });
  } catch (const std::system_error& e) {
    return Status(Code::kResourceExhausted, std::string("no thread for an executor: ") + e.what());
  }
  return monitor;
}

RunMonitor::~RunMonitor() {
  stop();
  watch_.fault.remove_listener(this);
}

void RunMonitor::stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void RunMonitor::submitted(uint64_t run) {
  {
    std::lock_guard lock(mutex_);
    if (!has_run()) began_ = Clock::now();
    submitted_ = run;
    if (!must_finish() && !must_poll()) return;  // the run's end will wake the thread
  }
  changed_.notify_one();
}

void RunMonitor::reached_end(uint64_t run) noexcept {
  if (watch_.fault.raised()) return;  // the results of the run are lost
  {
    std::lock_guard lock(mutex_);
    reached_ = run;
  }
  changed_.notify_one();
}

void RunMonitor::on_fault() noexcept {
  { std::lock_guard lock(mutex_); }
  changed_.notify_one();
}

void RunMonitor::wait_until_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return !has_run() && !must_abort(); });
}

void RunMonitor::forget_fault() {
  {
    std::lock_guard lock(mutex_);
    aborted_ = false;
  }
  changed_.notify_one();  // a new fault may already have been raised
}

void RunMonitor::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    wait_for_work(lock);
    if (must_abort()) {
      lock.unlock();
      const bool aborted = abort_channels();
      lock.lock();
      aborted_ = aborted;
    } else if (must_finish()) {
      const uint64_t run = finished_ + 1;
      lock.unlock();
      finish(run);
      lock.lock();
      finished_ = run;
      began_ = Clock::now();
    } else if (has_run()) {
      lock.unlock();
      look_for_errors();
      look_at_the_clock();
      lock.lock();
      continue;
    } else if (stopping_) {
      return;
    }
    idle_.notify_all();
  }
}

void RunMonitor::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [&] { return must_abort() || must_finish() || (stopping_ && !has_run()); };
  const auto may_look = [&] { return has_work() || has_run(); };
  const bool asks = ask_within_.count() > 0;
  if (has_run())
    changed_.wait_for(lock, asks ? std::min<Clock::duration>(kLookAgain, ask_within_) : kLookAgain,
                      has_work);
  // submitted() need not wake the thread: it wakes soon enough to notice the run.
  else if (asks)
    changed_.wait_for(lock, ask_within_, may_look);
  else
    changed_.wait(lock, may_look);
}

bool RunMonitor::abort_channels() noexcept {
  try {
    watch_.provider.abort(watch_.fault.status());
    return true;
  } catch (const std::bad_alloc&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return false;  // the caller tries again, once memory is available
  }
}

void RunMonitor::finish(uint64_t run) {
  RunSlot& slot = watch_.slots[run % watch_.slots.size()];
  Status result = result_of(run, slot);
  slot.dependencies.clear();
  slot.buffers.clear();
  watch_.timeline.finish(run, std::move(result));
}

Status RunMonitor::result_of(uint64_t run, const RunSlot& slot) {
  const auto has_reached = [&] {
    std::lock_guard lock(mutex_);
    return reached_ >= run;
  };
  // The run failed. It is over when none of its work is left on the device.
  if (!has_reached())
    for (const Event* event : slot.last_events)
      while (!event->wait_for(kLookAgain)) {
      }
  if (has_reached()) {
    bool good = true;
    for (const Completion& c : slot.dependencies) {
      const Status s = without_throwing([&] { return c.wait(); });
      if (s.ok()) continue;
      good = false;
      watch_.fault.raise(without_throwing([&] {
        return Status(Code::kAborted, "a run that this one waits for failed: " + s.message());
      }));
    }
    if (!watch_.prompt_errors) {
      look_for_errors();
      good &= !watch_.fault.raised();
    }
    if (good) return {};
  }
  return without_throwing([&] { return watch_.fault.status(); });
}

void RunMonitor::look_for_errors() {
  for (const Stream* stream : watch_.streams)
    if (Status s = without_throwing([&] { return stream->status(); }); !s.ok())
      watch_.fault.raise_late(std::move(s));
  const Status job = without_throwing([&] { return watch_.provider.async_status(); });
  if (!job.ok())  // whatever the error was elsewhere, this rank was stopped
    watch_.fault.raise(without_throwing([&] { return Status(Code::kAborted, job.message()); }));
}

void RunMonitor::look_at_the_clock() {
  if (watch_.time_limit.count() <= 0 || Clock::now() - began_ < watch_.time_limit) return;
  watch_.fault.raise(without_throwing([&] {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(watch_.time_limit);
    return Status(Code::kDeadlineExceeded, "a run has not ended after " +
                                               std::to_string(ms.count()) + " ms, its time limit");
  }));
}

}  // namespace shw::runtime
