#include "recompute/policy.h"

#include <gtest/gtest.h>

namespace shw {
namespace {

TEST(RecomputePolicy, IsReadAndWritten) {
  for (const char* text :
       {"none", "auto", "cheap", "selective", "full", "every:1", "every:12", "cheap+gathered",
        "every:2+gathered", "selective+first-add", "full+first-add+gathered"}) {
    const auto policy = recompute_policy(text);
    ASSERT_TRUE(policy.ok()) << text;
    EXPECT_EQ(to_string(*policy), text);
  }
  EXPECT_EQ(recompute_policy("every:3")->every, 3u);
  EXPECT_EQ(to_string(*recompute_policy("full+gathered+first-add")), "full+first-add+gathered");
}

TEST(RecomputePolicy, RefusesWhatItIsNot) {
  for (const char* text :
       {"", "auto+gathered", "every", "every:", "every:0", "every:-1", "every:2x",
        "every:99999999999", "full:2", "None", "none+gathered", "+gathered", "full+",
        "full+gathered+gathered", "auto+first-add", "full+first-add+first-add"}) {
    const auto policy = recompute_policy(text);
    ASSERT_FALSE(policy.ok()) << text;
    EXPECT_EQ(policy.status().code(), Code::kInvalidArgument);
    EXPECT_NE(policy.status().message().find("every:N"), std::string::npos);
  }
}

}  // namespace
}  // namespace shw
