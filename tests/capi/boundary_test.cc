// copy_in and copy_out with structs that have more fields than in the first release. The structs of
// the first release have no such fields.
#include "boundary.h"

#include <gtest/gtest.h>

namespace shw::capi {
namespace {

struct Options {
  size_t struct_size;
  uint64_t first;
  uint64_t added_later;
};
constexpr size_t kFirstRelease = offsetof(Options, added_later);

struct NewerOptions {
  Options known;
  uint64_t unknown;
};

TEST(CopyIn, GivesDefaultsForNull) {
  const auto got = copy_in<Options>(nullptr, kFirstRelease);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->struct_size, sizeof(Options));
  EXPECT_EQ(got->first, 0u);
}

TEST(CopyIn, ReadsNothingBeyondAnOlderCallersStruct) {
  // the bytes after the caller's size must not be read
  const Options older{kFirstRelease, 7, 0xbad};
  const auto got = copy_in(&older, kFirstRelease);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->first, 7u);
  EXPECT_EQ(got->added_later, 0u);
}

TEST(CopyIn, RefusesLessThanTheFirstRelease) {
  for (size_t size = 0; size < kFirstRelease; ++size) {
    const Options wrong{size, 0, 0};
    EXPECT_EQ(copy_in(&wrong, kFirstRelease).status().code(), Code::kInvalidArgument) << size;
  }
}

TEST(CopyIn, TakesANewerCallersStructWhileItsTailIsZero) {
  NewerOptions newer{{sizeof(NewerOptions), 1, 2}, 0};
  const auto got = copy_in(&newer.known, kFirstRelease);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->struct_size, sizeof(Options));
  EXPECT_EQ(got->added_later, 2u);
}

TEST(CopyIn, RefusesAnySetByteOfAnUnknownTail) {
  for (size_t byte = 0; byte < sizeof(uint64_t); ++byte) {
    NewerOptions newer{{sizeof(NewerOptions), 1, 2}, uint64_t{1} << (8 * byte)};
    const auto got = copy_in(&newer.known, kFirstRelease);
    EXPECT_EQ(got.status().code(), Code::kInvalidArgument) << byte;
  }
}

TEST(CopyOut, WritesNothingBeyondAnOlderCallersStruct) {
  Options older{kFirstRelease, 1, 0xbad};
  ASSERT_TRUE(clear_out(&older, older.struct_size, kFirstRelease).ok());
  EXPECT_EQ(older.first, 0u);
  copy_out(&older, Options{sizeof(Options), 5, 6});
  EXPECT_EQ(older.struct_size, kFirstRelease);
  EXPECT_EQ(older.first, 5u);
  EXPECT_EQ(older.added_later, 0xbadu);
}

TEST(CopyOut, ZeroesWhatANewerCallerKnowsMore) {
  NewerOptions newer{{sizeof(NewerOptions), 1, 2}, 3};
  ASSERT_TRUE(clear_out(&newer.known, newer.known.struct_size, kFirstRelease).ok());
  copy_out(&newer.known, Options{sizeof(Options), 5, 6});
  EXPECT_EQ(newer.known.struct_size, sizeof(NewerOptions));
  EXPECT_EQ(newer.known.added_later, 6u);
  EXPECT_EQ(newer.unknown, 0u);
}

TEST(ClearOut, RefusesAWildSize) {
  Options wild{SIZE_MAX, 1, 2};
  EXPECT_EQ(clear_out(&wild, wild.struct_size, kFirstRelease).code(), Code::kInvalidArgument);
  EXPECT_EQ(wild.first, 1u);
}

}  // namespace
}  // namespace shw::capi
