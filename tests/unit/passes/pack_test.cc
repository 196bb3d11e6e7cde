#include "passes/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "passes/eject_lives.h"

namespace shw {
namespace {

struct Packed {
  std::vector<Life> lives;
  int64_t peak = 0, arena = 0;
};

Packed packed(std::vector<Life> lives, int64_t fitting_bytes = INT64_MAX, Monitor monitor = {}) {
  uint32_t steps = 1;
  for (const Life& l : lives) steps = std::max(steps, l.end);
  const std::vector<int64_t> live = live_bytes(lives, steps);
  const auto arena = pack(lives, live, 0, fitting_bytes, monitor);
  EXPECT_TRUE(arena.ok());
  return {std::move(lives), std::ranges::max(live), *arena};
}

// Sweeps over the steps and checks the live storages in order of their offsets.
void expect_valid(const Packed& p) {
  int64_t top = 0;
  for (const Life& l : p.lives) {
    EXPECT_GE(l.offset, 0);
    if (l.begin < l.end) top = std::max(top, l.offset + l.bytes);
  }
  EXPECT_EQ(p.arena, top);
  EXPECT_GE(p.arena, p.peak);
  std::vector<Life> lives = p.lives;
  std::erase_if(lives, [](const Life& l) { return l.bytes == 0 || l.begin >= l.end; });
  std::ranges::sort(lives, {}, &Life::begin);
  std::vector<Life> now;
  for (const Life& l : lives) {
    std::erase_if(now, [&](const Life& o) { return o.end <= l.begin; });
    const auto above = std::ranges::lower_bound(now, l.offset, {}, &Life::offset);
    if (above != now.end()) {
      ASSERT_GE(above->offset, l.offset + l.bytes);
    }
    if (above != now.begin()) {
      ASSERT_LE(std::prev(above)->offset + std::prev(above)->bytes, l.offset);
    }
    now.insert(above, l);
  }
}

std::vector<Life> random_lives(std::mt19937& random) {
  std::vector<Life> lives(1 + random() % 150);
  const uint32_t steps = 1 + random() % 100;
  for (Life& l : lives) {
    l.begin = static_cast<uint32_t>(random() % steps);
    l.end = l.begin + static_cast<uint32_t>(random() % (1 + steps / 8));  // some have no steps
    l.bytes = 64 * static_cast<int64_t>(random() % 40);
  }
  return lives;
}

// Each layer keeps values until its backward half. Between them are values that only the layer
// needs.
std::vector<Life> training(uint32_t layers) {
  std::vector<Life> lives;
  const uint32_t last = 8 * layers;
  for (uint32_t i = 0; i < layers; ++i) {
    for (const int64_t bytes : {5, 3, 7}) lives.push_back({0, 4 * i, last - 4 * i, bytes, 0});
    for (uint32_t step = 0; step < 4; ++step)
      for (const uint32_t at : {4 * i + step, last - 4 * i - 4 + step})
        lives.push_back({0, at, at + 2, step % 2 == 0 ? 11 : 6, 0});
  }
  return lives;
}

// Whether all lives fit into `bytes`, starting with a separate place for each. `offsets` receives
// their places.
bool fits_by_ejection(const std::vector<Life>& lives, int64_t bytes, int64_t max_tests,
                      std::vector<int64_t>& offsets) {
  offsets.clear();
  int64_t top = 0;
  for (const Life& l : lives) {
    offsets.push_back(top);
    top += l.bytes;
  }
  Monitor monitor;
  const auto fits = eject_lives(lives, bytes, EjectionCost::kArea, 1, max_tests, offsets, monitor);
  EXPECT_TRUE(fits.ok());
  return fits.ok() && *fits;
}

TEST(EjectLives, FitsWhereAllBytesAreTaken) {
  // At most steps every byte is in use.
  const std::vector<Life> lives = {{0, 0, 4, 2, 0}, {1, 0, 2, 6, 0}, {2, 0, 8, 2, 0},
                                   {3, 2, 4, 3, 0}, {4, 2, 6, 3, 0}, {5, 4, 8, 5, 0},
                                   {6, 6, 8, 3, 0}};
  std::vector<int64_t> offsets;
  ASSERT_TRUE(fits_by_ejection(lives, 10, 100'000, offsets));
  Packed p{lives, 10, 10};
  for (size_t i = 0; i < lives.size(); ++i) p.lives[i].offset = offsets[i];
  expect_valid(p);
}

TEST(EjectLives, LeavesOffsetsAloneWhereNotAllFit) {
  const std::vector<Life> lives = {{0, 0, 2, 6, 0}, {1, 1, 3, 6, 0}};
  std::vector<int64_t> offsets;
  EXPECT_FALSE(fits_by_ejection(lives, 11, 1000, offsets));
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, 6}));
}

// Random cuts of an arena of 12 bytes and 12 steps: at every step, every byte is in use.
std::vector<Life> cut_from_arena(std::mt19937& random) {
  std::vector<Life> lives;
  const auto cut = [&](auto&& self, uint32_t begin, uint32_t end, int64_t bytes) -> void {
    if (random() % 8 == 0 || (end - begin < 2 && bytes < 2)) {
      lives.push_back({static_cast<uint32_t>(lives.size()), begin, end, bytes, 0});
    } else if (bytes < 2 || (end - begin > 1 && random() % 2 == 0)) {
      const uint32_t at = begin + 1 + static_cast<uint32_t>(random() % (end - begin - 1));
      self(self, begin, at, bytes);
      self(self, at, end, bytes);
    } else {
      const int64_t below = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(bytes - 1));
      self(self, begin, end, below);
      self(self, begin, end, bytes - below);
    }
  };
  cut(cut, 0, 12, 12);
  return lives;
}

TEST(EjectLives, FitsWhatWasCutFromAnArena) {
  std::mt19937 random(1);
  for (int n = 0; n < 20; ++n) {
    const std::vector<Life> lives = cut_from_arena(random);
    std::vector<int64_t> offsets;
    EXPECT_TRUE(fits_by_ejection(lives, 12, 20'000'000, offsets)) << n << ": " << lives.size();
    Packed p{lives, 12, 12};
    for (size_t i = 0; i < lives.size(); ++i) p.lives[i].offset = offsets[i];
    expect_valid(p);
  }
}

TEST(Pack, NoTwoThatMeetOverlap) {
  std::mt19937 random(1);
  for (int n = 0; n < 300; ++n) expect_valid(packed(random_lives(random)));
}

TEST(Pack, LeavesNoGapBetweenWhatLayersKeep) {
  for (uint32_t layers : {1u, 4u, 64u}) {
    const Packed p = packed(training(layers));
    expect_valid(p);
    EXPECT_LE(static_cast<double>(p.arena), 1.003 * static_cast<double>(p.peak)) << layers;
  }
}

// Beside one large lifetime, gaps between small ones are a small share of the arena.
TEST(Pack, GoesOnWhereALimitAsksForLess) {
  constexpr int64_t kLarge = 5000, kAll = (kLarge + 12) * kArenaAlignment;
  std::mt19937 random(1);
  uint32_t gaps = 0;
  for (int n = 0; n < 20; ++n) {
    std::vector<Life> lives = cut_from_arena(random);
    lives.push_back({static_cast<uint32_t>(lives.size()), 0, 12, kLarge, 0});
    for (Life& l : lives) l.bytes *= kArenaAlignment;
    const int64_t without = packed(lives).arena;
    gaps += without > kAll;
    EXPECT_EQ(packed(lives, kAll - 1).arena, without) << "no arena is so small";
    const Packed fitting = packed(std::move(lives), kAll);
    expect_valid(fitting);
    EXPECT_EQ(fitting.arena, kAll) << n;
  }
  EXPECT_GT(gaps, 0u);
}

TEST(Pack, NothingTakesNothing) {
  EXPECT_EQ(packed({}).arena, 0);
  const Packed p = packed({{0, 0, 3, 0, -1}, {1, 2, 2, 64, -1}});
  EXPECT_EQ(p.arena, 0);
  for (const Life& l : p.lives) EXPECT_EQ(l.offset, 0);
}

// Needs more comparisons than the skyline method may use.
TEST(Pack, PlacesHugeProgramsInOrderOfTime) {
  std::vector<Life> lives;
  for (uint32_t i = 0; i < 30'000; ++i) lives.push_back({i, i, 60'000 - i, 64, 0});
  const Packed p = packed(std::move(lives));
  EXPECT_EQ(p.arena, p.peak);
}

TEST(Pack, EndsWithWhatItHasWhenTimeIsOver) {
  std::mt19937 random(1);
  int64_t more = 0;
  for (int n = 0; n < 100; ++n) {
    const std::vector<Life> lives = random_lives(random);
    const Packed first = packed(lives, INT64_MAX, improving_until(Deadline::in(1e-9), {}));
    expect_valid(first);
    more += first.arena - packed(lives).arena;
  }
  EXPECT_GT(more, 0);
}

TEST(Pack, StopsWhenCancelled) {
  std::vector<Life> lives = training(64);
  const std::vector<int64_t> live = live_bytes(lives, 8 * 64 + 1);
  const std::atomic<bool> raised = true;
  Monitor monitor;
  monitor.cancel = &raised;
  EXPECT_EQ(pack(lives, live, 0, INT64_MAX, monitor).status().code(), Code::kCancelled);
}

}  // namespace
}  // namespace shw
