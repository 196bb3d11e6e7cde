#include "runtime/plugin.h"

#include <gtest/gtest.h>

namespace shw::runtime {
namespace {

TEST(Plugin, GoesWithALibraryOfTheSameBuildOnly) {
  const PluginInfo good = plugin_info("cuda");
  EXPECT_TRUE(check_plugin(good).ok());

  PluginInfo other = good;
  other.interface += 1;
  EXPECT_EQ(check_plugin(other).code(), Code::kFailedPrecondition);

  other = good;
  other.compiler = "13.2.0, libstdc++";
  const Status refused = check_plugin(other);
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find("'cuda'"), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find("13.2.0"), std::string::npos) << refused.message();
}

}  // namespace
}  // namespace shw::runtime
