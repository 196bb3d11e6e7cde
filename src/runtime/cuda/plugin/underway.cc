#include "runtime/cuda/plugin/underway.h"

#include <algorithm>

namespace shw::runtime::cuda {

Status Underway::add(const Driver& driver, StreamHandle stream, uint64_t dispatched) {
  if (count_ == ring_.size()) {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(first_), ring_.end());
    first_ = 0;
    ring_.emplace_back();
    const DriverError error = driver.create_event(&ring_.back().event, kEventDisableTiming);
    if (error != 0) ring_.pop_back();
    SHW_RETURN_IF_ERROR(driver.check(error, "making a CUDA event"));
  }
  Collective& last = ring_[(first_ + count_) % ring_.size()];
  SHW_RETURN_IF_ERROR(
      driver.check(driver.record_event(last.event, stream), "recording a CUDA event"));
  last.dispatched = dispatched;
  if (count_++ == 0) since_ = Clock::now();
  return {};
}

void Underway::remove_oldest() {
  first_ = (first_ + 1) % ring_.size();
  --count_;
  since_ = Clock::now();
}

void Underway::destroy_events(const Driver& driver) {
  for (const Collective& c : ring_) (void)driver.destroy_event(c.event);
  ring_.clear();
  first_ = count_ = 0;
}

}  // namespace shw::runtime::cuda
