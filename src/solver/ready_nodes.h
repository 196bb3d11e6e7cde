// Distributes the nodes of a sweep to several threads. A node is ready when its neighbours that
// precede it in the sweep are done. Every such order gives bitwise the same result as the
// sequential sweep: each node reads only what these neighbours wrote, and writes where no other
// node does.
//
// As in other task-graph schedulers, a counter for each node holds the number of neighbours that it
// waits for. A thread continues with a node that it has just made ready, whose messages are in its
// cache. Other ready nodes are in a heap, ordered by their place in the sweep.
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

  // Takes the first ready node; kNone: all remaining nodes wait for nodes in progress.
  uint32_t take();
  // Marks a node as done. Of the nodes that become ready, returns one to continue with, and adds
  // the others to those that take() returns.
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
