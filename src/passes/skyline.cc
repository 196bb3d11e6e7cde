#include "passes/skyline.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "support/stable_sort.h"

namespace shw {

Skyline::Skyline(std::span<const Life> lives) {
  uint32_t end = 0;
  for (uint32_t i = 0; i < lives.size(); ++i) {
    blocks_.push_back({lives[i].begin, lives[i].end, i, lives[i].bytes, 0});
    end = std::max(end, lives[i].end);
  }
  sort_stably(blocks_, {}, &Block::begin);
  uint32_t block = 0;
  for (uint32_t step = 0; step <= end; ++step) {
    while (block < blocks_.size() && blocks_[block].begin < step) ++block;
    first_at_.push_back(block);
  }
}

Result<bool> Skyline::place(std::span<const double> keys, int64_t max_tests,
                            std::vector<int64_t>& offsets, Monitor& monitor) {
  const int64_t last_test = tests_ + max_tests;
  for (Block& b : blocks_) b.key = keys[b.life];
  offsets.assign(blocks_.size(), 0);
  next_.resize(blocks_.size() + 1);
  std::iota(next_.begin(), next_.end(), 0u);
  groups_.resize((blocks_.size() + kGroup - 1) / kGroup);
  for (uint32_t g = 0; g < groups_.size(); ++g) sum_up(g);
  parts_ = {{0, static_cast<uint32_t>(first_at_.size()) - 1, 0, kNone, kNone}};
  lows_.clear();
  push(0);
  for (size_t left = blocks_.size(); left > 0;) {
    const Low low = lows_.front();
    Part& part = parts_[low.part];
    if (part.begin == part.end || part.begin != low.begin || part.height != low.height) {
      std::pop_heap(lows_.begin(), lows_.end());
      lows_.pop_back();
      continue;
    }
    const uint32_t found = largest_within(part);
    if (found == kNone) {
      raise(low.part);
      continue;
    }
    offsets[blocks_[found].life] = low.height;
    next_[found] = found + 1;
    sum_up(found / kGroup);
    put(low.part, blocks_[found]);
    if (--left % 64 == 0) SHW_RETURN_IF_ERROR(monitor.poll());
    if (tests_ > last_test) return false;
  }
  return true;
}

uint32_t Skyline::unplaced_from(uint32_t block) {
  while (next_[block] != block) block = next_[block] = next_[next_[block]];
  return block;
}

void Skyline::sum_up(uint32_t group) {
  const uint32_t begin = group * kGroup;
  const auto end = std::min(begin + kGroup, static_cast<uint32_t>(blocks_.size()));
  Group sum{UINT32_MAX, -std::numeric_limits<double>::infinity()};
  for (uint32_t b = begin; b < end; ++b) {
    if (next_[b] != b) continue;
    sum.earliest_end = std::min(sum.earliest_end, blocks_[b].end);
    sum.largest_key = std::max(sum.largest_key, blocks_[b].key);
  }
  groups_[group] = sum;
}

uint32_t Skyline::largest_within(const Part& part) {
  uint32_t found = kNone;
  double key = -std::numeric_limits<double>::infinity();
  const uint32_t end = first_at_[part.end];
  for (uint32_t b = unplaced_from(first_at_[part.begin]); b < end; b = unplaced_from(b)) {
    ++tests_;
    const Group& group = groups_[b / kGroup];
    if (group.earliest_end > part.end || group.largest_key <= key) {
      b = std::min(end, (b / kGroup + 1) * kGroup);
      continue;
    }
    if (blocks_[b].end <= part.end && (found == kNone || blocks_[b].key > key)) {
      found = b;
      key = blocks_[b].key;
    }
    ++b;
  }
  return found;
}

void Skyline::push(uint32_t part) {
  lows_.push_back({parts_[part].height, parts_[part].begin, part});
  std::push_heap(lows_.begin(), lows_.end());
}

uint32_t Skyline::add_behind(uint32_t part, uint32_t begin, uint32_t end, int64_t height) {
  const auto added = static_cast<uint32_t>(parts_.size());
  const uint32_t behind = parts_[part].behind;
  parts_.push_back({begin, end, height, part, behind});
  parts_[part].behind = added;
  if (behind != kNone) parts_[behind].before = added;
  push(added);
  return added;
}

// Places the block on a part, which keeps its height before and after the block's steps.
void Skyline::put(uint32_t part, const Block& block) {
  const Part was = parts_[part];
  const int64_t top = was.height + block.bytes;
  uint32_t raised = part;
  if (was.begin < block.begin) {
    parts_[part].end = block.begin;
    raised = add_behind(part, block.begin, block.end, top);
  } else {
    parts_[part].end = block.end;
    parts_[part].height = top;
    push(part);
  }
  if (block.end < was.end) add_behind(raised, block.end, was.end, was.height);
}

void Skyline::raise(uint32_t part) {
  const auto height_of = [&](uint32_t p) { return p == kNone ? INT64_MAX : parts_[p].height; };
  const uint32_t before = parts_[part].before;
  parts_[part].height = std::min(height_of(before), height_of(parts_[part].behind));
  if (height_of(parts_[part].behind) == parts_[part].height) swallow_behind(part);
  if (height_of(before) == parts_[part].height) {
    swallow_behind(before);
    part = before;
  }
  push(part);
}

void Skyline::swallow_behind(uint32_t part) {
  Part& gone = parts_[parts_[part].behind];
  parts_[part].end = gone.end;
  parts_[part].behind = gone.behind;
  if (gone.behind != kNone) parts_[gone.behind].before = part;
  gone.end = gone.begin;
}

}  // namespace shw
