// Packs lifetimes one after another, each at the lowest offset that does not conflict with those
// placed before. What counts is the order:
//
//   1. Those first that are live at the fullest step, then those at the next fuller one, and so on;
//      of one step those first that hold the most bytes for the longest.
//   2. The largest first (greedy by size: Pisarchyk and Lee 2020), if 1 leaves gaps.
//   3. A search, if 2 does, too: when a lifetime does not end below a goal, it moves to a random
//      earlier place in the order, and the placement goes on from there. The goal is first the
//      fullest step, and then falls towards it with each order that reaches it.
//
// It is over when the arena is within kSlack of the fullest step. Placing is quadratic, so only the
// first kInOrder lifetimes are placed this way; the others go on top, in order of time, with a free
// list. A search, for the fullest step or from what the orders give, stops after kTests comparisons
// of two lifetimes: some 10 ms. Its random numbers are the same on all machines.
#include "passes/pack.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <utility>

#include "passes/placed_lives.h"

namespace shw {
namespace {

constexpr size_t kInOrder = 8192;
constexpr int64_t kSlack = 400;  // a 400th of it
constexpr int64_t kTests = 10'000'000;

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

// Places lifetimes in their order, and takes back what it placed.
class InOrder {
 public:
  InOrder(std::span<Life> lives, Monitor& monitor) : lives_(lives), monitor_(monitor) {}

  // Goes on until all are placed, or the next one does not end below `goal`.
  Status place(int64_t goal) {
    for (; next_ < lives_.size(); ++next_) {
      if (next_ % 64 == 0) SHW_RETURN_IF_ERROR(monitor_.poll());
      Life& life = lives_[next_];
      life.offset = placed_.lowest_gap(life);
      if (life.offset + life.bytes > goal) break;
      placed_.insert(life, static_cast<uint32_t>(next_));
    }
    return {};
  }
  bool all_placed() const { return next_ == lives_.size(); }
  void take_back(size_t from) {
    placed_.keep_below(static_cast<uint32_t>(from));
    next_ = from;
  }
  // The next one comes at this place in the order instead, which is not behind it.
  void move_next_to(size_t place) {
    const auto first = lives_.begin() + static_cast<ptrdiff_t>(place);
    const auto next = lives_.begin() + static_cast<ptrdiff_t>(next_);
    std::rotate(first, next, next + 1);
    take_back(place);
  }
  size_t next() const { return next_; }
  int64_t tests() const { return placed_.tests(); }

 private:
  std::span<Life> lives_;
  Monitor& monitor_;
  PlacedLives placed_;
  size_t next_ = 0;
};

int64_t top_of(std::span<const Life> lives) {
  int64_t top = 0;
  for (const Life& l : lives) top = std::max(top, l.offset + l.bytes);
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

// The size of the arena; kNone if the lifetimes do not all end below `goal`.
constexpr int64_t kNone = INT64_MAX;
Result<int64_t> place_in_order(std::span<Life> lives, int64_t goal, Monitor& monitor) {
  const size_t first = std::min(lives.size(), kInOrder);
  InOrder placing(lives.first(first), monitor);
  SHW_RETURN_IF_ERROR(placing.place(goal));
  if (!placing.all_placed()) return kNone;
  const int64_t top = place_by_time(lives.subspan(first), top_of(lives.first(first)));
  return top <= goal ? top : kNone;
}

std::vector<Life> fullest_first(const std::vector<Life>& lives, const std::vector<int64_t>& live) {
  const std::vector<int64_t> fullest = fullest_steps(lives, live);
  std::vector<uint32_t> order(lives.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t i) {
      const Life& l = lives[i];
      return std::pair(fullest[i], static_cast<double>(l.bytes) * (l.end - l.begin));
    };
    return key(a) > key(b);
  });
  std::vector<Life> sorted;
  for (uint32_t i : order) sorted.push_back(lives[i]);
  return sorted;
}

// Lowers `best`, the size of the arena of `lives`, towards `enough`. `order` is where it begins.
Result<int64_t> search(std::vector<Life> order, int64_t best, int64_t enough, int64_t max_tests,
                       std::vector<Life>& lives, Monitor& monitor) {
  std::mt19937 random(1);
  InOrder placing(order, monitor);
  while (best > enough && placing.tests() < max_tests) {
    const int64_t goal = std::max(enough, best - std::max<int64_t>((best - enough) / 4, 1));
    SHW_RETURN_IF_ERROR(placing.place(goal));
    if (placing.all_placed()) {
      best = top_of(order);
      lives = order;
      placing.take_back(0);
    } else {
      placing.move_next_to(random() % (placing.next() + 1));
    }
  }
  return best;
}

}  // namespace

Result<int64_t> pack(std::vector<Life>& lives, const std::vector<int64_t>& live, Monitor& monitor) {
  const int64_t peak = *std::ranges::max_element(live), enough = peak + peak / kSlack;
  std::vector<Life> by_size = lives;
  std::ranges::stable_sort(by_size, std::greater(), &Life::bytes);
  const std::vector<Life> order = fullest_first(lives, live);
  const bool searches = lives.size() <= kInOrder;
  // Most programs end here: an order that leaves gaps shows that soon.
  for (const std::vector<Life>* sorted : {&order, &std::as_const(by_size)}) {
    lives = *sorted;
    SHW_ASSIGN_OR_RETURN(const int64_t top, place_in_order(lives, enough, monitor));
    if (top != kNone) return top;
  }
  if (searches) {
    SHW_ASSIGN_OR_RETURN(const int64_t top,
                         search(order, enough + 1, enough, kTests, lives, monitor));
    if (top <= enough) return top;
  }
  lives = order;
  SHW_ASSIGN_OR_RETURN(int64_t best, place_in_order(lives, kNone, monitor));
  SHW_ASSIGN_OR_RETURN(const int64_t top, place_in_order(by_size, kNone, monitor));
  if (top < best) lives = std::move(by_size), best = top;
  if (!searches) return best;
  return search(order, best, enough, kTests, lives, monitor);
}

}  // namespace shw
