#include "passes/in_order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <utility>

#include "passes/placed_lives.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

// For each lifetime, the maximum number of live bytes at any of its steps. Uses maxima over 1, 2,
// 4, … steps.
std::vector<int64_t> fullest_steps(std::span<const Life> lives, const std::vector<int64_t>& live) {
  std::vector<std::vector<int64_t>> most{live};
  for (size_t width = 1; 2 * width <= live.size(); width *= 2) {
    const std::vector<int64_t>& last = most.back();
    std::vector<int64_t> next(last.size() - width);
    for (size_t i = 0; i < next.size(); ++i) next[i] = std::max(last[i], last[i + width]);
    most.push_back(std::move(next));
  }
  std::vector<int64_t> fullest;
  for (const Life& l : lives) {
    const uint32_t steps = l.end - l.begin;
    const auto row = static_cast<size_t>(std::bit_width(steps) - 1);
    fullest.push_back(std::max(most[row][l.begin], most[row][l.begin + steps - (1u << row)]));
  }
  return fullest;
}

// Of one step those first that hold the most bytes for the longest.
std::vector<uint32_t> fullest_first(std::span<const Life> lives, const std::vector<int64_t>& live) {
  const std::vector<int64_t> fullest = fullest_steps(lives, live);
  std::vector<uint32_t> order(lives.size());
  std::iota(order.begin(), order.end(), 0u);
  sort_stably(order, [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t i) {
      const Life& l = lives[i];
      return std::pair(fullest[i], static_cast<double>(l.bytes) * (l.end - l.begin));
    };
    return key(a) > key(b);
  });
  return order;
}

// Places lifetimes in their order, and takes back what it placed.
class InOrder {
 public:
  InOrder(std::span<const Life> lives, std::vector<uint32_t> order, std::span<const Life> fixed)
      : lives_(lives), order_(std::move(order)), offsets_(lives.size()) {
    for (const Life& life : fixed) placed_.insert(life, 0);
  }

  // Goes on until all are placed, or the next one does not end below `goal`.
  Status place(int64_t goal, Monitor& monitor) {
    for (; next_ < order_.size(); ++next_) {
      if (next_ % 64 == 0) SHW_RETURN_IF_ERROR(monitor.poll());
      Life life = lives_[order_[next_]];
      life.offset = placed_.lowest_gap(life);
      if (life.offset + life.bytes > goal) break;
      placed_.insert(life, static_cast<uint32_t>(next_) + 1);
      offsets_[order_[next_]] = life.offset;
    }
    return {};
  }
  bool all_placed() const { return next_ == order_.size(); }
  void take_back(size_t from) {
    placed_.keep_below(static_cast<uint32_t>(from) + 1);
    next_ = from;
  }
  // The next one comes at this place in the order instead, which is not behind it.
  void move_next_to(size_t place) {
    const auto first = order_.begin() + static_cast<ptrdiff_t>(place);
    const auto next = order_.begin() + static_cast<ptrdiff_t>(next_);
    std::rotate(first, next, next + 1);
    take_back(place);
  }
  size_t next() const { return next_; }
  int64_t tests() const { return placed_.tests(); }
  const std::vector<int64_t>& offsets() const { return offsets_; }

 private:
  const std::span<const Life> lives_;
  std::vector<uint32_t> order_;
  std::vector<int64_t> offsets_;  // by lifetime
  PlacedLives placed_;
  size_t next_ = 0;
};

int64_t top_of(std::span<const Life> lives, const std::vector<int64_t>& offsets) {
  int64_t top = 0;
  for (size_t i = 0; i < lives.size(); ++i) top = std::max(top, offsets[i] + lives[i].bytes);
  return top;
}

}  // namespace

Result<Placing> search_in_order(std::span<const Life> lives, const std::vector<int64_t>& live,
                                int64_t bytes, int64_t goal, int64_t max_tests,
                                std::vector<int64_t>& offsets, Monitor& monitor,
                                std::span<const Life> fixed) {
  std::mt19937 random(1);
  InOrder placing(lives, fullest_first(lives, live), fixed);
  while (bytes > goal && placing.tests() < max_tests) {
    const int64_t wanted = std::max(goal, bytes - std::max<int64_t>((bytes - goal) / 4, 1));
    SHW_RETURN_IF_ERROR(placing.place(wanted, monitor));
    if (placing.all_placed()) {
      bytes = top_of(lives, placing.offsets());
      offsets = placing.offsets();
      placing.take_back(0);
    } else {
      placing.move_next_to(random() % (placing.next() + 1));
    }
  }
  return Placing{bytes, placing.tests()};
}

}  // namespace shw
