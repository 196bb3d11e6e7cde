// Result: a value or an error, for all kinds of values, through copies, moves and assignments.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/status.h"

namespace shw {
namespace {

Result<std::string> text(bool ok) {
  if (!ok) return invalid_argument("no text");
  return std::string("a text that is too long to lie in the string itself");
}

Result<size_t> length(bool ok) {
  SHW_ASSIGN_OR_RETURN(const std::string t, text(ok));
  return t.size();
}

TEST(Result, PassesAnErrorOn) {
  ASSERT_TRUE(length(true).ok());
  EXPECT_EQ(*length(true), 51u);
  EXPECT_TRUE(length(true).status().ok());
  const Result<size_t> none = length(false);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(none.status().message(), "no text");
}

TEST(Result, CopiesAndAssigns) {
  const Result<std::string> good = text(true), bad = text(false);
  Result<std::string> r = good;
  EXPECT_EQ(*r, *good);
  r = bad;
  EXPECT_EQ(r.status().message(), "no text");
  r = bad;
  EXPECT_FALSE(r.ok());
  r = good;
  EXPECT_EQ(*r, *good);
  r = std::string("other");
  EXPECT_EQ(r->size(), 5u);
  Result<std::string> moved = std::move(r);
  EXPECT_EQ(*moved, "other");
}

TEST(Result, HoldsWhatCannotBeCopied) {
  static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
  std::vector<Result<std::unique_ptr<int>>> results;
  for (int i = 0; i < 9; ++i) results.emplace_back(std::make_unique<int>(i));
  results.emplace_back(internal_error("none"));
  for (int i = 0; i < 9; ++i) EXPECT_EQ(**results[static_cast<size_t>(i)], i);
  EXPECT_FALSE(results.back().ok());
}

TEST(Result, ThrowsWhereThereIsNoValue) {
  EXPECT_THROW((void)*text(false), std::bad_variant_access);
  EXPECT_THROW((void)text(false)->size(), std::bad_variant_access);
}

}  // namespace
}  // namespace shw
