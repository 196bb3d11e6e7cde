#include "runtime/timeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace shw::runtime {

void Timeline::expect_run() {
  std::lock_guard lock(mutex_);
  if (failures_.size() == failures_.capacity())
    failures_.reserve(2 * failures_.size() + done_.size());
}

void Timeline::finish(uint64_t run, Status status) noexcept {
  std::list<Listener> ended;
  Code code;
  {
    std::lock_guard lock(mutex_);
    finished_ = run;
    if (!status.ok()) {
      if (!failures_.empty() && failures_.back().last + 1 == run &&
          failures_.back().status.message() == status.message())
        failures_.back().last = run;
      else
        failures_.push_back({run, run, std::move(status)});
    }
    for (auto it = listeners_.begin(); it != listeners_.end();) {
      const auto next = std::next(it);
      if (it->run <= run) ended.splice(ended.end(), listeners_, it);
      it = next;
    }
    code = code_locked(run);
  }
  changed_.notify_all();
  for (const Listener& listener : ended) listener.told(code);
}

void Timeline::tell_end(uint64_t run, std::function<void(Code)> told) {
  Code code;
  {
    std::lock_guard lock(mutex_);
    if (finished_ < run) {
      listeners_.push_back({run, std::move(told)});
      return;
    }
    code = code_locked(run);
  }
  told(code);
}

bool Timeline::finished(uint64_t run) const {
  std::lock_guard lock(mutex_);
  return finished_ >= run;
}

Code Timeline::code(uint64_t run) const {
  std::lock_guard lock(mutex_);
  return code_locked(run);
}

Status Timeline::wait(uint64_t run) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return finished_ >= run; });
  return status_locked(run);
}

bool Timeline::wait_for(uint64_t run, std::chrono::nanoseconds limit) const {
  std::unique_lock lock(mutex_);
  // A longer limit than a century would overflow the clock.
  constexpr std::chrono::nanoseconds kForever = std::chrono::hours(24 * 365 * 100);
  return changed_.wait_for(lock, std::min(limit, kForever), [&] { return finished_ >= run; });
}

Code Timeline::code_locked(uint64_t run) const {
  for (auto it = failures_.rbegin(); it != failures_.rend() && it->last >= run; ++it)
    if (it->first <= run) return it->status.code();
  return Code::kOk;
}

Status Timeline::status_locked(uint64_t run) const {
  for (auto it = failures_.rbegin(); it != failures_.rend() && it->last >= run; ++it)
    if (it->first <= run) return it->status;
  return {};
}

}  // namespace shw::runtime
