// Packs lifetimes in several ways, one after another, until the arena is within kSlack of the
// fullest step, which no arena can be smaller than, and within the limit if that step is:
//
//   1. Onto a skyline (skyline.h) by four rules: the longest first; the largest product of length
//      and bytes; two rules in between. One of these is enough for most programs.
//   2. Starting from the arena of each rule, takes out the lifetimes that end above the goal and
//      places them again, ejecting others that are in the way (eject_lives.h).
//   3. Onto a skyline again, by the rule of the best arena so far with random changes of the keys,
//      but only of lifetimes near those that end above the goal. After kPatience changes without
//      success it starts again from another rule.
//   4. The second way again for longer, also from the best arena, unless the arena is only too
//      large for the limit.
//
// Work bounds 2 to 4: they take some 40, 50 and 500 ms, and the last takes three times as long for
// kLong. If a first skyline would take too long, as for hundreds of thousands of lifetimes, a free
// list places them in order of time. Arenas are the same on all machines, because random numbers
// are, and keys use only sums, products and square roots. At Monitor::improve_until the best one so
// far is taken.
#include "passes/pack.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "passes/eject_lives.h"
#include "passes/skyline.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

constexpr int64_t kSlack = 340;  // a 340th of it
// Work in compared lifetimes; placing one counts as 64 comparisons.
constexpr int64_t kEffort = 18'000'000, kOfPlacing = 64;
constexpr int64_t kMaxTests = 200'000'000;  // for the first arena
// Work of ejection: per lifetime in the first attempts, then in total; kTightTests is the total for
// the final program.
constexpr int64_t kTestsOfOne = 5000, kEjectionTests = 20'000'000, kTightTests = 300'000'000;
constexpr int64_t kLongTests = 1'000'000'000;  // in place of kTightTests
constexpr uint32_t kPatience = 40;             // failed changes before it restarts by another rule
constexpr uint32_t kNear = 100;                // a 100th of all steps is near

// The free bytes, as disjoint, non-adjacent ranges.
class FreeList {
 public:
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
  int64_t top_ = 0;
};

std::vector<int64_t> offsets_by_time(std::span<const Life> lives) {
  std::vector<uint32_t> by_begin(lives.size());
  std::iota(by_begin.begin(), by_begin.end(), 0u);
  std::vector<uint32_t> by_end = by_begin;
  sort_stably(by_begin, {}, [&](uint32_t i) { return lives[i].begin; });
  sort_stably(by_end, {}, [&](uint32_t i) { return lives[i].end; });
  std::vector<int64_t> offsets(lives.size());
  FreeList free;
  auto ended = by_end.begin();
  for (uint32_t i : by_begin) {
    for (; ended != by_end.end() && lives[*ended].end <= lives[i].begin; ++ended)
      free.give(offsets[*ended], lives[*ended].bytes);
    offsets[i] = free.take(lives[i].bytes);
  }
  return offsets;
}

std::vector<uint32_t> ending_above(std::span<const Life> lives, const std::vector<int64_t>& offsets,
                                   int64_t goal) {
  std::vector<uint32_t> above;
  for (uint32_t i = 0; i < lives.size(); ++i)
    if (offsets[i] + lives[i].bytes > goal) above.push_back(i);
  return above;
}

// The keys of lifetimes: of several that could be placed, the one with the largest key is.
class Keys {
 public:
  Keys(std::span<const Life> lives, int64_t peak) : lives_(lives) {
    for (const Life& l : lives) {
      steps_ = std::max(steps_, l.end);
      shares_.push_back(static_cast<double>(l.bytes) / (static_cast<double>(peak) + 1));
    }
    keys_.resize(lives.size());
  }
  const std::vector<double>& get() const { return keys_; }
  void set(const std::vector<double>& keys) { keys_ = keys; }

  static constexpr uint32_t kRules = 4;
  void set_all(uint32_t rule) {
    for (size_t i = 0; i < keys_.size(); ++i) keys_[i] = key(i, rule);
  }
  // Changes a tenth of the keys of lifetimes near those that end above the goal.
  void change(const std::vector<int64_t>& offsets, int64_t goal) {
    const auto rule = static_cast<uint32_t>(random_() % kRules);
    const double most = random() * random();
    const std::vector<StepWindow> where =
        windows_around(lives_, ending_above(lives_, offsets, goal), steps_ / kNear);
    for (size_t i = 0; i < keys_.size(); ++i) {
      const auto holds = [&](const StepWindow& w) {
        return lives_[i].begin >= w.begin && lives_[i].end <= w.end;
      };
      if (std::ranges::any_of(where, holds) && random_() % 10 == 0)
        keys_[i] = key(i, rule) * (1 + most * random());
    }
  }

 private:
  double key(size_t i, uint32_t rule) const {
    const double length = lives_[i].end - lives_[i].begin, share = shares_[i];
    switch (rule) {
      case 0:
        return length + share;
      case 1:
        return length * share;
      case 2:
        return length * std::sqrt(share);
      default:
        return length * std::sqrt(std::sqrt(share));
    }
  }
  double random() { return random_() * 0x1p-32; }  // in [0, 1)

  std::span<const Life> lives_;
  std::vector<double> shares_;  // of the fullest step's bytes
  uint32_t steps_ = 0;
  std::vector<double> keys_;
  std::mt19937 random_{1};
};

struct Arena {
  std::vector<int64_t> offsets;
  int64_t bytes = INT64_MAX;
  double above = HUGE_VAL;  // bytes above the goal, of all lifetimes together
};

void measure(Arena& arena, std::span<const Life> lives, int64_t goal) {
  arena.bytes = 0;
  arena.above = 0;
  for (size_t i = 0; i < lives.size(); ++i) {
    const int64_t top = arena.offsets[i] + lives[i].bytes;
    arena.bytes = std::max(arena.bytes, top);
    arena.above += static_cast<double>(std::max<int64_t>(top - goal, 0));
  }
}

// Finds better and better arenas; best_ is the best so far.
class Packer {
 public:
  // `goal`: the size that is small enough.
  Packer(std::span<const Life> lives, int64_t peak, int64_t goal, Monitor& monitor)
      : lives_(lives), goal_(goal), monitor_(monitor), skyline_(lives), keys_(lives, peak) {}

  Status by_rules() {
    for (uint32_t rule = 0; rule < Keys::kRules && !is_done(); ++rule) {
      keys_.set_all(rule);
      SHW_RETURN_IF_ERROR(place(rule == 0 ? kMaxTests : kEffort));
    }
    if (!best_.offsets.empty()) return {};
    best_.offsets = offsets_by_time(lives_);
    measure(best_, lives_, goal_);
    gives_up_ = true;
    return {};
  }
  Status by_changes() {
    const auto placed = static_cast<int64_t>(lives_.size()) * kOfPlacing;
    uint32_t begun = 1, in_vain = 0;
    for (int64_t n = 0; !is_done() && n * placed + skyline_.tests() < kEffort; ++n) {
      if (in_vain == kPatience) {
        from_ = {};
        keys_.set_all(begun++ % Keys::kRules);
      } else {
        keys_.change(from_.offsets, goal_);
      }
      const double above = from_.above;
      SHW_RETURN_IF_ERROR(place(kEffort));
      in_vain = from_.above < above ? 0 : in_vain + 1;
    }
    return {};
  }
  // Starts from the best arena and from that of each rule. The time that ejection needs differs
  // much between them, so each gets a little time first, then more.
  Status eject(int64_t max_tests) {
    struct From {
      uint32_t rule;
      EjectionCost cost;
    };
    static constexpr From kFrom[] = {
        {kBest, EjectionCost::kArea},   {kBest, EjectionCost::kRootOfArea},
        {0, EjectionCost::kArea},       {2, EjectionCost::kArea},
        {1, EjectionCost::kRootOfArea}, {3, EjectionCost::kArea},
        {0, EjectionCost::kRootOfArea}, {2, EjectionCost::kRootOfArea},
        {1, EjectionCost::kArea},       {3, EjectionCost::kRootOfArea}};
    int64_t tests = static_cast<int64_t>(lives_.size()) * kTestsOfOne;
    for (uint32_t round = 1; max_tests > 0; ++round, tests *= 2)
      for (const From& from : kFrom) {
        if (is_done() || max_tests <= 0) return {};
        std::vector<int64_t> offsets = from.rule == kBest ? best_.offsets : by_rule_[from.rule];
        int64_t left = std::min(tests, max_tests);
        max_tests -= left;
        SHW_ASSIGN_OR_RETURN(const bool fits,
                             eject_lives(lives_, goal_, from.cost, round, left, offsets, monitor_));
        max_tests += left;
        if (!fits) continue;
        best_.offsets = std::move(offsets);
        measure(best_, lives_, goal_);
      }
    return {};
  }
  const Arena& best() const { return best_; }

 private:
  bool is_done() const {
    return gives_up_ || best_.bytes <= goal_ ||
           (!best_.offsets.empty() && monitor_.improve_until.passed());
  }

  Status place(int64_t max_tests) {
    SHW_ASSIGN_OR_RETURN(const bool placed,
                         skyline_.place(keys_.get(), max_tests, now_.offsets, monitor_));
    gives_up_ = !placed;
    if (!placed) return {};
    measure(now_, lives_, goal_);
    if (by_rule_.size() < Keys::kRules) by_rule_.push_back(now_.offsets);
    if (now_.bytes < best_.bytes) best_ = now_;
    if (now_.above <= from_.above) {
      from_ = now_;
      keys_of_from_ = keys_.get();
    } else {
      keys_.set(keys_of_from_);
    }
    return {};
  }

  const std::span<const Life> lives_;
  const int64_t goal_;
  Monitor& monitor_;
  Skyline skyline_;
  Keys keys_;
  Arena best_, now_, from_;                        // `from_`: where changes begin
  static constexpr uint32_t kBest = Keys::kRules;  // in place of a rule
  std::vector<double> keys_of_from_;
  bool gives_up_ = false;
  std::vector<std::vector<int64_t>> by_rule_;  // offsets
};

}  // namespace

int64_t small_arena(int64_t peak_bytes) { return peak_bytes + peak_bytes / kSlack; }

Result<int64_t> pack(std::vector<Life>& lives, const std::vector<int64_t>& live,
                     int64_t enough_bytes, int64_t fitting_bytes, Monitor& monitor,
                     PackEffort effort) {
  const int64_t peak = *std::ranges::max_element(live);
  const auto first_empty = std::stable_partition(
      lives.begin(), lives.end(), [](const Life& l) { return l.bytes > 0 && l.begin < l.end; });
  for (auto l = first_empty; l != lives.end(); ++l) l->offset = 0;
  const std::span<Life> filled(lives.begin(), first_empty);
  if (filled.empty()) return 0;
  const auto aligned = [&](int64_t bytes) {
    return std::max(bytes / kArenaAlignment * kArenaAlignment, peak);
  };
  const int64_t small = aligned(std::max(small_arena(peak), enough_bytes));
  const int64_t goal = peak <= fitting_bytes ? std::min(small, aligned(fitting_bytes)) : small;
  Packer packer(filled, peak, goal, monitor);
  SHW_RETURN_IF_ERROR(packer.by_rules());
  if (enough_bytes == 0 || peak <= enough_bytes) {
    SHW_RETURN_IF_ERROR(packer.eject(kEjectionTests));
    SHW_RETURN_IF_ERROR(packer.by_changes());
    if (enough_bytes == 0 && packer.best().bytes > small)
      SHW_RETURN_IF_ERROR(packer.eject(effort == PackEffort::kLong ? kLongTests : kTightTests));
  }
  for (size_t i = 0; i < filled.size(); ++i) filled[i].offset = packer.best().offsets[i];
  return packer.best().bytes;
}

}  // namespace shw
