// plan-memory: assigns every scratch storage an offset in a single arena.
//
// A storage is live from the first step that touches it until all steps that touch it are known to
// be complete, on every stream. What a collective reads is thus live until the compute stream has
// waited for it. Storages with disjoint lifetimes may share bytes.
//
// Large storages are placed first, each at the lowest offset that does not conflict with those
// placed before (greedy by size: Pisarchyk and Lee 2020). This is quadratic, so only the largest
// kBySize storages are placed this way; the others go on top, in order of time, with a free list.
// If that leaves gaps at the peak step, a second attempt places buffers that are live at fuller
// steps first, which fills the peak step without gaps; the better result is kept. If the program
// has a limit of scratch that gaps alone exceed, more orders are tried. Storages that entries leave
// for later entries lie in a separate session arena.
#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "passes/lifetimes.h"
#include "passes/pass.h"

namespace shw {
namespace {

constexpr size_t kBySize = 8192;
// How often an order is tried again with what did not fit in front.
constexpr int kPromotions = 3;

int64_t padded(const Program& p, int64_t bytes) {
  return (bytes + p.alignment - 1) / p.alignment * p.alignment;
}

// For each lifetime, the maximum number of live bytes at any of its steps. Uses maxima over 1, 2,
// 4, … steps.
std::vector<int64_t> fullest_steps(const std::vector<Life>& lives,
                                   const std::vector<int64_t>& live) {
  std::vector<std::vector<int64_t>> most{live};
  for (size_t width = 1; 2 * width <= live.size(); width *= 2) {
    const std::vector<int64_t>& last = most.back();
    std::vector<int64_t> next(last.size() - width);
    for (size_t i = 0; i < next.size(); ++i) next[i] = std::max(last[i], last[i + width]);
    most.push_back(std::move(next));
  }
  std::vector<int64_t> fullest;
  for (const Life& l : lives) {
    const uint32_t steps = std::max(l.end - l.begin, 1u);
    const auto row = static_cast<size_t>(std::bit_width(steps) - 1);
    fullest.push_back(std::max(most[row][l.begin], most[row][l.begin + steps - (1u << row)]));
  }
  return fullest;
}

// Placed lifetimes in order of offset, stored in runs so that an insertion moves few of them.
class Placed {
 public:
  Placed() : runs_(1) {}

  void insert(const Life& life) {
    const auto before = [](int64_t offset, const Life& l) { return offset < l.offset; };
    const auto next = std::upper_bound(
        runs_.begin() + 1, runs_.end(), life.offset,
        [](int64_t offset, const std::vector<Life>& run) { return offset < run.front().offset; });
    std::vector<Life>& run = *std::prev(next);
    run.insert(std::upper_bound(run.begin(), run.end(), life.offset, before), life);
    if (run.size() < kRun) return;
    const auto half = run.begin() + kRun / 2;
    std::vector<Life> upper(half, run.end());
    run.erase(half, run.end());
    runs_.insert(next, std::move(upper));
  }

  // The lowest offset at which `life` fits.
  int64_t lowest_gap(const Life& life) const {
    int64_t free_from = 0;
    for (const std::vector<Life>& run : runs_)
      for (const Life& other : run) {
        if (!life.meets(other)) continue;
        if (other.offset - free_from >= life.bytes) return free_from;
        free_from = std::max(free_from, other.offset + other.bytes);
      }
    return free_from;
  }

 private:
  static constexpr size_t kRun = 128;
  std::vector<std::vector<Life>> runs_;  // only the first may be empty
};

Result<int64_t> place_low(std::span<Life> lives, Monitor& monitor) {
  Placed placed;
  int64_t top = 0;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (i % 64 == 0) SHW_RETURN_IF_ERROR(monitor.poll());
    Life& life = lives[i];
    life.offset = placed.lowest_gap(life);
    top = std::max(top, life.offset + life.bytes);
    placed.insert(life);
  }
  return top;
}

// The free bytes, as disjoint, non-adjacent ranges.
class FreeList {
 public:
  explicit FreeList(int64_t bottom) : top_(bottom) {}
  int64_t take(int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) {
      const int64_t offset = top_;
      top_ += bytes;
      return offset;
    }
    const auto [size, offset] = *fit;
    remove(offset, size);
    if (size > bytes) add(offset + bytes, size - bytes);
    return offset;
  }
  void give(int64_t offset, int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      const auto [o, s] = *next;
      remove(o, s);
      bytes += s;
    }
    next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
      const auto [o, s] = *std::prev(next);
      remove(o, s);
      offset = o;
      bytes += s;
    }
    add(offset, bytes);
  }
  int64_t top() const { return top_; }

 private:
  void add(int64_t offset, int64_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  void remove(int64_t offset, int64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }
  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (bytes, offset)
  int64_t top_;
};

int64_t place_by_time(std::span<Life> lives, int64_t bottom) {
  std::vector<uint32_t> by_begin(lives.size()), by_end(lives.size());
  std::iota(by_begin.begin(), by_begin.end(), 0u);
  by_end = by_begin;
  std::stable_sort(by_begin.begin(), by_begin.end(),
                   [&](uint32_t a, uint32_t b) { return lives[a].begin < lives[b].begin; });
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](uint32_t a, uint32_t b) { return lives[a].end < lives[b].end; });
  FreeList free(bottom);
  size_t ended = 0;
  for (uint32_t i : by_begin) {
    for (; ended < by_end.size() && lives[by_end[ended]].end <= lives[i].begin; ++ended)
      if (const Life& l = lives[by_end[ended]]; l.bytes > 0 && l.begin < l.end)
        free.give(l.offset, l.bytes);
    lives[i].offset =
        lives[i].bytes > 0 && lives[i].begin < lives[i].end ? free.take(lives[i].bytes) : bottom;
  }
  return free.top();
}

// Places the lifetimes in the given order.
Result<int64_t> assign_offsets(std::span<Life> lives, Monitor& monitor) {
  const size_t large = std::min(lives.size(), kBySize);
  SHW_ASSIGN_OR_RETURN(const int64_t bottom, place_low(lives.first(large), monitor));
  return place_by_time(lives.subspan(large), bottom);
}

// Orders lifetimes by their peak step, fullest first; within a step the order is kept.
std::vector<Life> fullest_first(const std::vector<Life>& lives, const std::vector<int64_t>& live) {
  const std::vector<int64_t> fullest = fullest_steps(lives, live);
  std::vector<uint32_t> order(lives.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater(), [&](uint32_t i) { return fullest[i]; });
  std::vector<Life> sorted;
  for (uint32_t i : order) sorted.push_back(lives[i]);
  return sorted;
}

struct Arena {
  std::vector<Life> lives;  // with their offsets
  int64_t top;
};

// Under a limit, gaps would make a placement slower. Activations are nested like brackets, so that
// among buffers that are live at equally full steps, the older ones belong below. What then lies
// above `enough` goes first in the next attempt.
Status close_gaps(const std::vector<int64_t>& live, int64_t enough,
                  const std::vector<Life>& by_bytes, Arena& best, Monitor& monitor) {
  const auto older = [](const Life& a, const Life& b) { return a.begin < b.begin; };
  const auto longer = [](const Life& a, const Life& b) {
    return a.end - a.begin > b.end - b.begin;
  };
  for (const auto& goes_first : {+older, +longer}) {
    std::vector<Life> lives = by_bytes;
    std::ranges::stable_sort(lives, goes_first);
    lives = fullest_first(lives, live);
    for (int promotions = 0; best.top > enough && promotions <= kPromotions; ++promotions) {
      SHW_ASSIGN_OR_RETURN(const int64_t top, assign_offsets(lives, monitor));
      if (top < best.top) best = {lives, top};
      std::stable_partition(lives.begin(), lives.end(),
                            [&](const Life& l) { return l.offset + l.bytes > enough; });
    }
  }
  return {};
}

// Places them one after another: all are live when the entry that writes them ends.
uint32_t place_session(Program& p) {
  uint32_t changed = 0;
  int64_t top = 0;
  for (ProgramStorage& s : p.storages) {
    if (s.kind != StorageKind::kSession) continue;
    changed += s.offset_bytes != top;
    s.offset_bytes = top;
    top += padded(p, s.bytes);
  }
  changed += p.session_bytes != top;
  p.session_bytes = top;
  return changed;
}

Result<uint32_t> run(Program& p, Monitor& monitor) {
  Arena arena{lives_of(p), 0};
  const std::vector<int64_t> live = live_bytes(arena.lives, p.steps.size());
  const int64_t peak = *std::ranges::max_element(live);
  std::ranges::stable_sort(arena.lives, std::greater(), &Life::bytes);
  const std::vector<Life> by_bytes = arena.lives;
  SHW_ASSIGN_OR_RETURN(arena.top, assign_offsets(arena.lives, monitor));
  if (arena.top > peak) {
    std::vector<Life> others = fullest_first(by_bytes, live);
    SHW_ASSIGN_OR_RETURN(const int64_t top, assign_offsets(others, monitor));
    if (top < arena.top) arena = {std::move(others), top};
  }
  // A limit of 0 asks for the least.
  const int64_t limit = p.arena_limit_bytes == 0 ? peak : p.arena_limit_bytes;
  if (arena.top > limit && peak <= limit)
    SHW_RETURN_IF_ERROR(close_gaps(live, limit, by_bytes, arena, monitor));

  uint32_t changed = place_session(p);
  for (const Life& l : arena.lives) {
    int64_t& offset = p.storages[StorageId{l.storage}].offset_bytes;
    changed += offset != l.offset;
    offset = l.offset;
  }
  changed += p.arena_bytes != arena.top || p.live_peak_bytes != peak;
  p.arena_bytes = arena.top;
  p.live_peak_bytes = peak;
  return changed;
}

}  // namespace

extern const PassDef kPlanMemory;
constinit const PassDef kPlanMemory = {"plan-memory",
                                       "Gives every scratch storage its place in one arena.", run};

}  // namespace shw
