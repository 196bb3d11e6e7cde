#include "strict/context.h"

#include <chrono>
#include <thread>

#include "strict/queue.h"

namespace shw::strict {

ThreadState& this_thread() {
  thread_local ThreadState state;
  return state;
}

Status Context::enter(const char* call) {
  if (this_thread().in_callback)
    lose(failed_precondition(std::string(call) + " was called from a stream's callback"));
  return status();
}

Status Context::enter_and_wait(const char* call) {
  if (Capture* capture = this_thread().capture; capture != nullptr && capture->broken.empty())
    capture->broken = std::string(call) + " was called in a capture";
  return enter(call);
}

void Context::lose(Status error) {
  std::lock_guard lock(mutex_);
  if (lost_) return;
  error_ = std::move(error);
  lost_ = true;
}

Status Context::status() const {
  if (!lost_) return {};
  std::lock_guard lock(mutex_);
  return error_;
}

void Context::delay() {
  if (options_.delay_percent == 0) return;
  std::chrono::microseconds time{0};
  {
    std::lock_guard lock(mutex_);
    if (static_cast<int>(random_() % 100) < options_.delay_percent)
      time = std::chrono::microseconds(random_() % 300);
  }
  if (time.count() > 0) std::this_thread::sleep_for(time);
}

bool Context::launch_fails() { return launches_.fetch_add(1) == options_.failing_launch; }

bool Context::allocation_fails() {
  return allocations_.fetch_add(1) == options_.failing_allocation;
}

}  // namespace shw::strict
