#include "runtime/cuda/plugin/underway.h"

#include <algorithm>

namespace shw::runtime::cuda {

bool Underway::is_oldest_over(const Driver& driver, uint32_t counted) const {
  const Collective& oldest = ring_[first_];
  if (oldest.is_in_graph) return static_cast<int32_t>(counted - oldest.count) >= 0;
  return driver.query_event(oldest.event) != kDriverNotReady;
}

Underway::Collective& Underway::next() {
  if (count_ == ring_.size()) {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(first_), ring_.end());
    first_ = 0;
    ring_.emplace_back();
  }
  return ring_[(first_ + count_) % ring_.size()];
}

void Underway::added() {
  if (count_++ == 0) since_ = Clock::now();
}

Status Underway::add(const Driver& driver, StreamHandle stream, uint64_t dispatched) {
  Collective& last = next();
  if (last.event == nullptr)
    SHW_RETURN_IF_ERROR(
        driver.check(driver.create_event(&last.event, kEventDisableTiming), "making a CUDA event"));
  SHW_RETURN_IF_ERROR(
      driver.check(driver.record_event(last.event, stream), "recording a CUDA event"));
  last.is_in_graph = false;
  last.dispatched = dispatched;
  added();
  return {};
}

void Underway::add_in_graph(const CollectiveRecord& record) {
  Collective& last = next();
  last.is_in_graph = true;
  last.count = ++launched_;
  last.dispatched = 0;
  last.record = record;
  added();
}

void Underway::log_oldest(CollectiveLog& log) {
  if (Collective& oldest = ring_[first_]; oldest.dispatched == 0)
    oldest.dispatched = log.dispatch(oldest.record);
}

void Underway::remove_oldest(CollectiveLog& log) {
  log_oldest(log);
  log.finish(ring_[first_].dispatched);
  first_ = (first_ + 1) % ring_.size();
  --count_;
  since_ = Clock::now();
}

void Underway::clear(uint32_t counted) {
  count_ = 0;
  launched_ = counted;
}

void Underway::destroy_events(const Driver& driver) {
  for (const Collective& c : ring_)
    if (c.event != nullptr) (void)driver.destroy_event(c.event);
  ring_.clear();
  first_ = count_ = 0;
}

}  // namespace shw::runtime::cuda
