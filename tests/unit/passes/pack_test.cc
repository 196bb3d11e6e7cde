#include "passes/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "passes/repair_arena.h"
#include "passes/two_ends.h"

namespace shw {
namespace {

struct Packed {
  std::vector<Life> lives;
  int64_t peak = 0, arena = 0;
};

Packed packed(std::vector<Life> lives) {
  uint32_t steps = 1;
  for (const Life& l : lives) steps = std::max(steps, l.end);
  const std::vector<int64_t> live = live_bytes(lives, steps);
  Monitor monitor;
  const auto arena = pack(lives, live, 0, monitor);
  EXPECT_TRUE(arena.ok());
  return {std::move(lives), std::ranges::max(live), *arena};
}

// A sweep over the steps, with what lives there in order of offset.
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

// What each layer keeps lives until its backward half, between what only it needs.
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

// Two long ones of 4 bytes on top of each other, and three short ones of 2, of which two meet.
const std::vector<Life> kLongAndShort = {
    {0, 0, 10, 4, 0}, {1, 2, 8, 4, 0}, {2, 0, 2, 2, 0}, {3, 4, 6, 2, 0}, {4, 5, 7, 2, 0}};

TEST(TwoEnds, LongOnesAreAtTheBottomAndShortOnesAtTheTop) {
  const std::vector<double> keys = {10, 6, 2, 2, 2};
  std::vector<int64_t> offsets;
  Monitor monitor;
  const auto at = [&](int64_t bytes) {
    const auto ends = place_at_two_ends(kLongAndShort, keys, 5, bytes, 1000, offsets, monitor);
    EXPECT_TRUE(ends.ok());
    return *ends;
  };
  EXPECT_TRUE(at(12).placed);
  EXPECT_EQ(at(12).wrong, std::vector<uint32_t>());
  EXPECT_EQ(offsets, (std::vector<int64_t>{0, 4, 10, 10, 8}));
  EXPECT_EQ(at(11).wrong, (std::vector<uint32_t>{4}));
  EXPECT_EQ(at(8).wrong, (std::vector<uint32_t>{3, 4}));
  EXPECT_FALSE(at(7).placed) << "the long ones take 8";
}

TEST(RepairArena, PlacesAnewOnlyWhatIsNear) {
  // 400 steps; around step 200, a lifetime lies above 10 because of another one below it.
  std::vector<Life> lives = {
      {0, 0, 400, 4, 0}, {1, 200, 202, 4, 0}, {2, 201, 203, 2, 0}, {3, 10, 12, 6, 0}};
  std::vector<int64_t> offsets = {0, 5, 9, 4};
  const std::vector<int64_t> live = live_bytes(lives, 400);
  Monitor monitor;
  int64_t max_tests = 10000;
  const auto repaired = repair_arena(lives, live, 10, {2}, offsets, max_tests, monitor);
  ASSERT_TRUE(repaired.ok());
  EXPECT_TRUE(*repaired);
  EXPECT_LT(max_tests, 10000);
  EXPECT_EQ(offsets[0], 0);
  EXPECT_EQ(offsets[3], 4);
  for (size_t i = 0; i < lives.size(); ++i) lives[i].offset = offsets[i];
  expect_valid({lives, 10, 10});
  const auto impossible = repair_arena(lives, live, 9, {1}, offsets, max_tests, monitor);
  ASSERT_TRUE(impossible.ok());
  EXPECT_FALSE(*impossible);
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

TEST(Pack, NothingTakesNothing) {
  EXPECT_EQ(packed({}).arena, 0);
  const Packed p = packed({{0, 0, 3, 0, -1}, {1, 2, 2, 64, -1}});
  EXPECT_EQ(p.arena, 0);
  for (const Life& l : p.lives) EXPECT_EQ(l.offset, 0);
}

// More comparisons than a skyline may take.
TEST(Pack, PlacesHugeProgramsInOrderOfTime) {
  std::vector<Life> lives;
  for (uint32_t i = 0; i < 30'000; ++i) lives.push_back({i, i, 60'000 - i, 64, 0});
  const Packed p = packed(std::move(lives));
  EXPECT_EQ(p.arena, p.peak);
}

TEST(Pack, StopsWhenCancelled) {
  std::vector<Life> lives = training(64);
  const std::vector<int64_t> live = live_bytes(lives, 8 * 64 + 1);
  const std::atomic<bool> raised = true;
  Monitor monitor;
  monitor.cancel = &raised;
  EXPECT_EQ(pack(lives, live, 0, monitor).status().code(), Code::kCancelled);
}

}  // namespace
}  // namespace shw
