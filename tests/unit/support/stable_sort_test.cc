// Compares sort_stably with std::stable_sort, on both sides of the length up to which it allocates
// no memory. Covers elements that are moved as bytes and elements that are not.
#include "support/stable_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace shw {
namespace {

struct Number {
  int key;
  size_t place;
  friend bool operator==(const Number&, const Number&) = default;
};

TEST(StableSort, KeepsTheOrderOfEqualNumbers) {
  std::mt19937 random(1);
  for (size_t count : {0, 1, 2, 3, 15, 16, 17, 64, 1000}) {
    std::vector<Number> numbers;
    for (size_t i = 0; i < count; ++i) numbers.push_back({static_cast<int>(random() % 7), i});
    std::vector<Number> expected = numbers;
    std::ranges::stable_sort(expected, {}, &Number::key);
    sort_stably(numbers, {}, &Number::key);
    EXPECT_EQ(numbers, expected) << count;
  }
}

TEST(StableSort, SortsElementsThatOwnMemory) {
  std::mt19937 random(2);
  for (size_t count : {0, 1, 16, 17, 100}) {
    std::vector<std::pair<std::string, size_t>> words;
    for (size_t i = 0; i < count; ++i)
      words.emplace_back(std::string(30, static_cast<char>('a' + random() % 5)), i);
    auto expected = words;
    std::ranges::stable_sort(expected, std::ranges::greater(),
                             &std::pair<std::string, size_t>::first);
    sort_stably(words, std::ranges::greater(), &std::pair<std::string, size_t>::first);
    EXPECT_EQ(words, expected) << count;
  }
}

TEST(StableSort, MovesWhatCannotBeCopied) {
  std::vector<std::unique_ptr<int>> owners;
  for (const int i : {3, 1, 2}) owners.push_back(std::make_unique<int>(i));
  sort_stably(owners, [](const auto& a, const auto& b) { return *a < *b; });
  EXPECT_EQ(*owners[0], 1);
  EXPECT_EQ(*owners[1], 2);
  EXPECT_EQ(*owners[2], 3);
}

TEST(StableSort, SortsWideElements) {
  using Wide = std::array<int64_t, 40>;  // only few fit without an allocation
  std::vector<Wide> wide(3);
  for (size_t i = 0; i < wide.size(); ++i) wide[i].fill(-static_cast<int64_t>(i));
  sort_stably(wide);
  EXPECT_EQ(wide[0][39], -2);
  EXPECT_EQ(wide[2][39], 0);
}

}  // namespace
}  // namespace shw
