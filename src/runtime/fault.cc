#include "runtime/fault.h"

#include <algorithm>

namespace shw::runtime {

void Fault::raise(Status error) noexcept {
  std::lock_guard lock(mutex_);
  if (raised_.load(std::memory_order_relaxed)) return;
  error_ = std::move(error);
  raised_.store(true, std::memory_order_release);
  for (Listener* listener : listeners_) listener->on_fault();
}

void Fault::raise_late(Status error) noexcept {
  if (raised()) return;
  if (const Witness* witness = witness_.load()) witness->add_to(error);
  raise(std::move(error));
}

void Fault::set_witness(const Witness* witness) { witness_ = witness; }

Status Fault::status() const {
  if (!raised()) return {};
  std::lock_guard lock(mutex_);
  return error_;
}

void Fault::clear() {
  std::lock_guard lock(mutex_);
  error_ = {};
  raised_.store(false, std::memory_order_release);
}

void Fault::add_listener(Listener* listener) {
  std::lock_guard lock(mutex_);
  listeners_.push_back(listener);
}

void Fault::remove_listener(Listener* listener) {
  std::lock_guard lock(mutex_);
  listeners_.erase(std::remove(listeners_.begin(), listeners_.end(), listener), listeners_.end());
}

}  // namespace shw::runtime
