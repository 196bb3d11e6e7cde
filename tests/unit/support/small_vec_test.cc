// SmallVec against std::vector: the same random calls on both, on either side of what fits in
// place.
#include "support/small_vec.h"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <utility>
#include <vector>

namespace shw {
namespace {

using Small = SmallVec<uint32_t, 4>;

std::vector<uint32_t> items(const Small& list) { return {list.begin(), list.end()}; }

TEST(SmallVec, BehavesAsAVector) {
  std::mt19937 random(3);
  Small small;
  std::vector<uint32_t> large;
  for (int call = 0; call < 5000; ++call) {
    const auto value = static_cast<uint32_t>(random() % 100);
    const size_t place = large.empty() ? 0 : random() % large.size();
    const auto at = static_cast<std::ptrdiff_t>(place);
    switch (large.size() > 12 ? 9 : random() % 9) {
      case 0:
      case 1:
        small.push_back(value), large.push_back(value);
        break;
      case 2:
        small.insert(small.begin() + at, value), large.insert(large.begin() + at, value);
        break;
      case 3:
        small.resize(place, value), large.resize(place, value);
        break;
      case 4:
        small.resize(place + 3, value), large.resize(place + 3, value);
        break;
      case 5:
        EXPECT_EQ(erase(small, value), std::erase(large, value));
        break;
      case 6: {
        Small copy = small;
        small = Small(large);
        EXPECT_EQ(copy, small);
        small = std::move(copy);
        break;
      }
      case 7: {
        Small moved(std::move(small));
        EXPECT_TRUE(small.empty());
        small.push_back(value);  // a list that was moved from can be used again
        std::swap(small, moved);
        break;
      }
      case 8:
        if (large.empty()) break;
        small.pop_back(), large.pop_back();
        break;
      default:
        small.erase(small.begin() + at, small.end());
        large.erase(large.begin() + at, large.end());
    }
    ASSERT_EQ(items(small), large) << "call " << call;
    if (!large.empty()) {
      ASSERT_EQ(small.front(), large.front());
      ASSERT_EQ(small.back(), large.back());
    }
  }
}

TEST(SmallVec, IsMadeFromRangesAndComparesThem) {
  const std::vector<uint32_t> numbers{5, 6, 7, 8, 9};
  EXPECT_EQ(items(Small(numbers)), numbers);
  EXPECT_EQ(items(Small(std::span(numbers).first(3))), (std::vector<uint32_t>{5, 6, 7}));
  EXPECT_EQ(items(Small(3, 1)), (std::vector<uint32_t>{1, 1, 1}));
  EXPECT_EQ(Small(numbers), (Small{5, 6, 7, 8, 9}));
  EXPECT_NE(Small(numbers), (Small{5, 6, 7, 8}));
  EXPECT_LT((Small{5, 6}), (Small{5, 7}));
}

TEST(SmallVec, TakesNoMoreRoomThanAVectorWithoutItsElements) {
  EXPECT_EQ(sizeof(Small), sizeof(std::vector<uint32_t>));
}

}  // namespace
}  // namespace shw
