#include "recompute/max_flow.h"

#include <algorithm>

namespace shw {

uint32_t MaxFlow::add_node() {
  first_.push_back(kNone);
  return static_cast<uint32_t>(first_.size() - 1);
}

void MaxFlow::add_edge(uint32_t from, uint32_t to, int64_t capacity) {
  edges_.push_back({to, first_[from], capacity});
  first_[from] = static_cast<uint32_t>(edges_.size() - 1);
  edges_.push_back({from, first_[to], 0});
  first_[to] = static_cast<uint32_t>(edges_.size() - 1);
}

// Levels count from the sink: nodes without a level after the last round cannot reach it.
bool MaxFlow::find_levels(uint32_t source, uint32_t sink) {
  level_.assign(first_.size(), kNone);
  std::vector<uint32_t> queue{sink};
  level_[sink] = 0;
  for (size_t i = 0; i < queue.size(); ++i)
    for (uint32_t e = first_[queue[i]]; e != kNone; e = edges_[e].next) {
      const uint32_t from = edges_[e].to;
      if (level_[from] != kNone || edges_[e ^ 1].room == 0) continue;
      level_[from] = level_[queue[i]] + 1;
      queue.push_back(from);
    }
  return level_[source] != kNone;
}

void MaxFlow::push(const std::vector<uint32_t>& path) {
  int64_t room = kInfinite;
  for (uint32_t e : path) room = std::min(room, edges_[e].room);
  for (uint32_t e : path) {
    edges_[e].room -= room;
    edges_[e ^ 1].room += room;
  }
}

// Pushes flow along paths of falling levels until none is left. A loop, not a recursion: a path can
// have thousands of edges.
void MaxFlow::fill_levels(uint32_t source, uint32_t sink) {
  at_ = first_;
  std::vector<uint32_t> path;
  for (uint32_t node = source;;) {
    if (node == sink) {
      push(path);
      size_t full = 0;  // continue from the first edge that is now saturated
      while (edges_[path[full]].room > 0) ++full;
      node = edges_[path[full] ^ 1].to;
      path.resize(full);
      continue;
    }
    uint32_t& e = at_[node];
    while (e != kNone && (edges_[e].room == 0 || level_[edges_[e].to] == kNone ||
                          level_[edges_[e].to] + 1 != level_[node]))
      e = edges_[e].next;
    if (e != kNone) {
      path.push_back(e);
      node = edges_[e].to;
      continue;
    }
    if (path.empty()) return;
    node = edges_[path.back() ^ 1].to;
    at_[node] = edges_[at_[node]].next;
    path.pop_back();
  }
}

std::vector<uint8_t> MaxFlow::sink_side(uint32_t source, uint32_t sink) {
  while (find_levels(source, sink)) fill_levels(source, sink);
  std::vector<uint8_t> side;
  for (uint32_t level : level_) side.push_back(level != kNone);
  return side;
}

}  // namespace shw
