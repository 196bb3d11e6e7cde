#include "support/similar.h"

#include <gtest/gtest.h>

namespace shw {
namespace {

using Names = std::vector<std::string>;

TEST(MostSimilar, AreTheNearestFirst) {
  const Names names{"input.0", "input.1", "param.wq.weight", "param.wk.weight", "output"};
  EXPECT_EQ(most_similar("input.2", names), (Names{"input.0", "input.1"}));
  EXPECT_EQ(most_similar("param.wq.wieght", names, 1), Names{"param.wq.weight"});
  EXPECT_EQ(most_similar("output.0", names, 1), Names{"output"});
  EXPECT_EQ(most_similar("wk", names), Names{"param.wk.weight"});  // a part of it
}

TEST(MostSimilar, AreNoneWhereNothingIsLikeIt) {
  EXPECT_EQ(most_similar("tangent", {"output", "bb"}), Names{});
  EXPECT_EQ(most_similar("", {"a", "bb"}), Names{});
  EXPECT_EQ(most_similar("a", {}), Names{});
  EXPECT_EQ(most_similar(std::string(100000, 'x'), {std::string(100000, 'y')}), Names{});
}

TEST(DidYouMean, EndsASentence) {
  EXPECT_EQ("there is no 'inptu'" + did_you_mean("inptu", {"input", "grad"}),
            "there is no 'inptu'; did you mean input?");
  EXPECT_EQ(did_you_mean("x", {"output"}), "");
}

}  // namespace
}  // namespace shw
