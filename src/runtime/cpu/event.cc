#include "runtime/cpu/event.h"

#include <algorithm>

#include "runtime/cpu/device.h"

namespace shw::runtime::cpu {

// A waiting thread first announces itself and then checks the counter. The thread that completes a
// record first changes the counter and then looks for waiting threads. All these operations are
// sequentially consistent, so at least one of the two threads sees the other. An event that nobody
// waits for needs no lock.

CpuEvent::CpuEvent(const EventOptions& options)
    : Event(cpu_device_class()), timing_(options.timing) {}

const CpuEvent* CpuEvent::cast(const Event& event) {
  return &event.device_class() == &cpu_device_class() ? static_cast<const CpuEvent*>(&event)
                                                      : nullptr;
}

void CpuEvent::complete(uint64_t record) {
  if (timing_)
    reached_at_ns_.store(
        std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1),
        std::memory_order_relaxed);
  completed_.store(record, std::memory_order_seq_cst);
  if (waiting_.load(std::memory_order_seq_cst) > 0) tell();
}

void CpuEvent::tell() const {
  {
    const std::lock_guard lock(mutex_);
    for (Waiter** w = &streams_; *w != nullptr;) {
      if (!done((*w)->record)) {
        w = &(*w)->next;
        continue;
      }
      Waker& waker = *(*w)->waker;
      *w = (*w)->next;
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      waker.wake();
    }
  }
  changed_.notify_all();
}

bool CpuEvent::add(Waiter& waiter) const {
  const std::lock_guard lock(mutex_);
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  if (done(waiter.record)) {
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  waiter.next = streams_;
  streams_ = &waiter;
  return true;
}

void CpuEvent::remove(const Waiter& waiter) const {
  const std::lock_guard lock(mutex_);
  for (Waiter** w = &streams_; *w != nullptr; w = &(*w)->next)
    if (*w == &waiter) {
      *w = waiter.next;
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
}

void CpuEvent::await(uint64_t record) const {
  if (done(record)) return;
  std::unique_lock lock(mutex_);
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  changed_.wait(lock, [&] { return done(record); });
  waiting_.fetch_sub(1, std::memory_order_relaxed);
}

bool CpuEvent::wait_for(std::chrono::nanoseconds limit) const {
  const uint64_t record = last_record();
  if (done(record)) return true;
  // A longer limit than a century would overflow the clock.
  constexpr std::chrono::nanoseconds kForever = std::chrono::hours(24 * 365 * 100);
  std::unique_lock lock(mutex_);
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  const bool reached =
      changed_.wait_for(lock, std::min(limit, kForever), [&] { return done(record); });
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return reached;
}

Result<std::chrono::nanoseconds> CpuEvent::time_since(const Event& earlier) const {
  const CpuEvent* start = cast(earlier);
  if (start == nullptr || !start->timing_ || !timing_)
    return invalid_argument("time is measured between two events of one backend made with timing");
  const auto was_reached = [](const CpuEvent& e) { return e.last_record() > 0 && e.query(); };
  if (!was_reached(*start) || !was_reached(*this))
    return failed_precondition("one of the events has not been reached yet");
  return std::chrono::nanoseconds(reached_at_ns_.load(std::memory_order_relaxed) -
                                  start->reached_at_ns_.load(std::memory_order_relaxed));
}

}  // namespace shw::runtime::cpu
