#include "solver/ready_nodes.h"

namespace shw::solver {

ReadyNodes::ReadyNodes(std::span<const TrwsNode> nodes, const TrwsArc* arcs, int64_t step)
    : nodes_(nodes),
      arcs_(arcs),
      step_(step),
      last_(static_cast<uint32_t>(nodes.size()) - 1),
      waits_for_(new std::atomic<uint32_t>[nodes.size()]),
      left_(static_cast<uint32_t>(nodes.size())) {
  std::vector<uint32_t> places;
  places.reserve(nodes.size());  // adding needs no memory, so it cannot fail
  for (uint32_t place = 0; place < nodes.size(); ++place) {
    const uint32_t v = place_of(place);
    const auto [first, end] = nodes[v].done(step);
    waits_for_[v].store(end - first, std::memory_order_relaxed);
    if (first == end) places.push_back(place);
  }
  num_places_ = static_cast<uint32_t>(places.size());
  places_ = decltype(places_)(std::greater<>(), std::move(places));
}

uint32_t ReadyNodes::take() {
  if (num_places_.load(std::memory_order_relaxed) == 0) return kNone;
  const std::lock_guard lock(mutex_);
  if (places_.empty()) return kNone;
  const uint32_t place = places_.top();
  places_.pop();
  num_places_.store(static_cast<uint32_t>(places_.size()), std::memory_order_relaxed);
  return place_of(place);
}

void ReadyNodes::add(uint32_t node) {
  const std::lock_guard lock(mutex_);
  places_.push(place_of(node));
  num_places_.store(static_cast<uint32_t>(places_.size()), std::memory_order_relaxed);
}

uint32_t ReadyNodes::finish(uint32_t node) {
  const auto [first, end] = nodes_[node].to_come(step_);
  uint32_t next = kNone;
  for (uint32_t a = first; a < end; ++a) {
    const uint32_t other = arcs_[a].other;
    if (waits_for_[other].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    if (next == kNone)
      next = other;
    else
      add(other);
  }
  left_.fetch_sub(1, std::memory_order_acq_rel);
  return next;
}

}  // namespace shw::solver
