// Buckets against a vector for each key.
#include "support/buckets.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace shw {
namespace {

TEST(Buckets, KeepTheOrderOfItemsWithOneKey) {
  using Item = std::pair<uint32_t, uint32_t>;  // its key, and its place
  std::mt19937 random(4);
  for (const uint32_t count : {0u, 1u, 50u, 1000u}) {
    constexpr size_t kKeys = 17;
    std::vector<Item> all;
    std::vector<std::vector<Item>> expected(kKeys);
    for (uint32_t i = 0; i < count; ++i) {
      all.push_back({static_cast<uint32_t>(random() % kKeys), i});
      expected[all.back().first].push_back(all.back());
    }
    const Buckets<Item> buckets(all, kKeys, [](const Item& item) { return item.first; });
    ASSERT_EQ(buckets.size(), kKeys);
    for (size_t key = 0; key < kKeys; ++key)
      EXPECT_EQ(std::vector<Item>(buckets[key].begin(), buckets[key].end()), expected[key]);
  }
}

}  // namespace
}  // namespace shw
