#include "passes/eject_lives.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "support/stable_sort.h"

namespace shw {
namespace {

// The work of an ejection for each lifetime that meets the one to be placed, in lifetimes passed
// over.
constexpr size_t kOfEjection = 4;

class Ejection {
 public:
  Ejection(std::span<const Life> lives, int64_t arena_bytes, EjectionCost cost, uint32_t seed)
      : lives_(lives), arena_bytes_(arena_bytes), random_(seed) {
    for (const Life& l : lives) {
      const double area = static_cast<double>(l.bytes) * (l.end - l.begin);
      areas_.push_back(area);
      costs_.push_back(cost == EjectionCost::kArea ? area : std::sqrt(area));
    }
    prices_ = costs_;
    is_out_.resize(lives.size(), 0);
  }

  Result<bool> run(std::vector<int64_t>& offsets, int64_t& max_tests, Monitor& monitor) {
    begin_with(offsets);
    while (!out_.empty()) {
      SHW_RETURN_IF_ERROR(monitor.poll());
      if (max_tests <= 0 || monitor.improve_until.passed()) return false;
      const uint32_t life = out_.back();
      out_.pop_back();
      find_meeting(lives_[life], by_offset_, meeting_);
      max_tests -= static_cast<int64_t>(by_offset_.size() + meeting_.size());
      int64_t offset = lowest_gap(lives_[life].bytes);
      if (offset < 0) {
        prices_[life] += costs_[life];
        find_meeting(lives_[life], by_top_, meeting_by_top_);
        max_tests -= static_cast<int64_t>(by_offset_.size() + kOfEjection * meeting_.size());
        offset = least_ejection(lives_[life].bytes);
        eject(offset, offset + lives_[life].bytes);
      }
      put(life, offset);
    }
    offsets = std::move(offsets_);
    return true;
  }

 private:
  struct Placed {  // small: most of the time is spent passing over these
    uint32_t begin, end, life;
  };
  int64_t offset_of(uint32_t life) const { return offsets_[life]; }
  int64_t top_of(uint32_t life) const { return offsets_[life] + lives_[life].bytes; }

  void begin_with(const std::vector<int64_t>& offsets) {
    offsets_ = offsets;
    for (uint32_t i = 0; i < lives_.size(); ++i) {
      if (top_of(i) > arena_bytes_)
        out_.push_back(i);
      else
        by_offset_.push_back({lives_[i].begin, lives_[i].end, i});
    }
    by_top_ = by_offset_;
    sort_stably(by_offset_, {}, [&](const Placed& p) { return offset_of(p.life); });
    sort_stably(by_top_, {}, [&](const Placed& p) { return top_of(p.life); });
    largest_last(0);
  }
  // Sorts the unplaced lifetimes from this position on; the last one is placed next.
  void largest_last(size_t from) {
    std::span<uint32_t> those = std::span(out_).subspan(from);
    sort_stably(those, {}, [&](uint32_t i) { return areas_[i]; });
  }

  // Written without branches, for speed.
  static void find_meeting(const Life& life, const std::vector<Placed>& all,
                           std::vector<uint32_t>& meeting) {
    meeting.resize(all.size() + 1);
    uint32_t* next = meeting.data();
    for (const Placed& p : all) {
      *next = p.life;
      next += static_cast<size_t>(p.begin < life.end) & static_cast<size_t>(life.begin < p.end);
    }
    meeting.resize(static_cast<size_t>(next - meeting.data()));
  }
  // The offset of the lowest large enough gap between those that meet the lifetime; -1: there is
  // none.
  int64_t lowest_gap(int64_t bytes) const {
    int64_t top = 0;
    for (const uint32_t i : meeting_) {
      if (offset_of(i) - top >= bytes) return top;
      top = std::max(top, top_of(i));
    }
    return arena_bytes_ - top >= bytes ? top : -1;
  }

  // The offset with the cheapest ejections. Candidates are the ends of the arena and the places
  // next to a lifetime that meets this one. Those to eject begin below its top and do not end below
  // its offset.
  int64_t least_ejection(int64_t bytes) {
    const size_t all = meeting_.size();
    double begun = 0, ended = 0, least = HUGE_VAL;
    size_t next_begin = 0, next_end = 0, under = 0, above = 0;
    int64_t found = 0;
    uint32_t num_equal = 0;
    const auto attempt = [&](int64_t offset) {
      if (offset < 0 || offset + bytes > arena_bytes_) return;
      for (; next_begin < all && offset_of(meeting_[next_begin]) < offset + bytes; ++next_begin)
        begun += prices_[meeting_[next_begin]];
      for (; next_end < all && top_of(meeting_by_top_[next_end]) <= offset; ++next_end)
        ended += prices_[meeting_by_top_[next_end]];
      const double price = begun - ended;
      if (price > least * (1 + kRounding)) return;
      num_equal = price < least * (1 - kRounding) ? 1 : num_equal + 1;
      if (random_() % num_equal != 0) return;
      least = std::min(least, price);
      found = offset;
    };
    attempt(0);
    while (under < all || above < all) {  // in the order of offsets
      const int64_t below = under < all ? offset_of(meeting_[under]) - bytes : INT64_MAX;
      const int64_t on_top = above < all ? top_of(meeting_by_top_[above]) : INT64_MAX;
      below <= on_top ? ++under : ++above;
      attempt(std::min(below, on_top));
    }
    attempt(arena_bytes_ - bytes);
    return found;
  }
  void eject(int64_t offset, int64_t top) {
    const size_t first = out_.size();
    for (const uint32_t i : meeting_)
      if (offset_of(i) < top && top_of(i) > offset) {
        out_.push_back(i);
        is_out_[i] = 1;
      }
    for (std::vector<Placed>* placed : {&by_offset_, &by_top_})
      std::erase_if(*placed, [&](const Placed& p) { return is_out_[p.life] != 0; });
    for (size_t k = first; k < out_.size(); ++k) is_out_[out_[k]] = 0;
    largest_last(first);
  }
  void put(uint32_t life, int64_t offset) {
    const Placed placed{lives_[life].begin, lives_[life].end, life};
    offsets_[life] = offset;
    by_offset_.insert(std::ranges::upper_bound(by_offset_, offset, {},
                                               [&](const Placed& p) { return offset_of(p.life); }),
                      placed);
    by_top_.insert(std::ranges::upper_bound(by_top_, top_of(life), {},
                                            [&](const Placed& p) { return top_of(p.life); }),
                   placed);
  }

  static constexpr double kRounding = 1e-9;  // of sums of prices
  const std::span<const Life> lives_;
  const int64_t arena_bytes_;
  std::mt19937 random_;
  std::vector<double> areas_, costs_, prices_;      // by lifetime; a price grows by its cost
  std::vector<int64_t> offsets_;                    // by lifetime, of those that are placed
  std::vector<Placed> by_offset_, by_top_;          // all that are placed
  std::vector<uint32_t> meeting_, meeting_by_top_;  // those that meet the one to be placed
  std::vector<uint32_t> out_;                       // a stack
  std::vector<uint8_t> is_out_;                     // by lifetime: whether it is being ejected
};

}  // namespace

Result<bool> eject_lives(std::span<const Life> lives, int64_t arena_bytes, EjectionCost cost,
                         uint32_t seed, int64_t& max_tests, std::vector<int64_t>& offsets,
                         Monitor& monitor) {
  return Ejection(lives, arena_bytes, cost, seed).run(offsets, max_tests, monitor);
}

}  // namespace shw
