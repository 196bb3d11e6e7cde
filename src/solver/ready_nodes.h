// The nodes of a sweep that may be processed now, for several threads: those whose neighbours in
// front of them in the sweep are done. Any order that keeps to this leaves what the sweep in order
// leaves, bit by bit: each node reads what these neighbours left, and writes where nobody else
// does.
//
// Counters of what a node waits for, as in any scheduler of task graphs. A thread goes on with a
// node that it has just made ready, whose messages are in its cache; others wait in a heap by their
// place in the sweep.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <span>
#include <vector>

#include "solver/trws_kernel.h"

namespace shw::solver {

class ReadyNodes {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  ReadyNodes(std::span<const TrwsNode> nodes, const TrwsArc* arcs, int64_t step);

  // The first that is ready; kNone: the others wait for what threads are processing.
  uint32_t take();
  // What has become ready with this node: one is returned, to go on with, the others can be taken.
  uint32_t finish(uint32_t node);
  bool is_over() const { return left_.load(std::memory_order_acquire) == 0 || stopped_; }
  void stop() { stopped_ = true; }

 private:
  uint32_t place_of(uint32_t node) const { return step_ > 0 ? node : last_ - node; }
  void add(uint32_t node);

  const std::span<const TrwsNode> nodes_;
  const TrwsArc* const arcs_;
  const int64_t step_;
  const uint32_t last_;                                 // node
  std::unique_ptr<std::atomic<uint32_t>[]> waits_for_;  // neighbours, by node
  std::atomic<uint32_t> left_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> places_;
  std::atomic<uint32_t> num_places_ = 0;
};

}  // namespace shw::solver
