#include "import/iopddl.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shw::import {
namespace {

using nlohmann::json;

json small_instance() {
  return json::parse(R"({"problem": {
    "name": "small",
    "nodes": {"intervals": [[0, 3], [2, 5], [4, 4]],
              "costs": [[1, 5], [2, 2000000000000000000, 7], [3]],
              "usages": [[9, 2], [8, 0, 4], [100]]},
    "edges": {"nodes": [[0, 1], [1, 0]],
              "costs": [[0, 1, 2, 3, 4, 1000000000000000000], [10, 20, 30, 40, 50, 60]]},
    "usage_limit": 13}})");
}

class IopddlFile : public ::testing::Test {
 protected:
  Result<solver::PlacementProblem> read(const json& file) {
    std::ofstream(path_) << file.dump();
    return read_iopddl(path_);
  }
  void TearDown() override { std::remove(path_.c_str()); }
  const std::string path_ = ::testing::TempDir() + "iopddl_" + std::to_string(getpid()) + ".json";
};

TEST_F(IopddlFile, MeansWhatTheContestSays) {
  const auto got = read(small_instance());
  ASSERT_TRUE(got.ok()) << got.status().message();
  using Choice = std::vector<uint32_t>;
  EXPECT_EQ(evaluate(*got, Choice{0, 2, 0}), 1 + 7 + 3 + 2 + 50);
  EXPECT_EQ(evaluate(*got, Choice{1, 0, 0}), 5 + 2 + 3 + 3 + 20);
  EXPECT_EQ(evaluate(*got, Choice{1, 2, 0}), solver::kForbidden) << "a pair of 1e18";
  EXPECT_EQ(evaluate(*got, Choice{1, 1, 0}), solver::kForbidden) << "a strategy of 2e18";
  EXPECT_EQ(evaluate(*got, Choice{0, 0, 0}), solver::kForbidden) << "17 of 13 at time 2";
  EXPECT_EQ(peak_load(*got, 0, Choice{0, 2, 0}), 13);
}

TEST_F(IopddlFile, NamesThePlaceOfWhatIsWrong) {
  struct Case {
    const char* pointer;
    json value;
    const char* place;
  };
  const Case cases[] = {
      {"/problem/nodes/costs/1/0", "x", "costs[1][0]"},
      {"/problem/nodes/costs/1/0", -1, "costs[1][0]"},
      {"/problem/nodes/usages/0", json::array({1}), "usages[0]"},
      {"/problem/nodes/intervals/2", json::array({1}), "intervals[2]"},
      {"/problem/nodes/intervals", json::array(), "nodes"},
      {"/problem/edges/nodes/0/1", 3, "edges.nodes[0][1]"},
      {"/problem/edges/costs/1", json::array({1}), "edges.costs[1]"},
      {"/problem/usage_limit", "much", "usage_limit"},
  };
  for (const Case& c : cases) {
    json file = small_instance();
    file[json::json_pointer(c.pointer)] = c.value;
    const auto got = read(file);
    ASSERT_FALSE(got.ok()) << c.pointer;
    EXPECT_EQ(got.status().code(), Code::kInvalidArgument);
    EXPECT_NE(got.status().message().find(c.place), std::string::npos) << got.status().message();
  }
  EXPECT_EQ(read(json::object()).status().code(), Code::kInvalidArgument);
}

TEST_F(IopddlFile, MayHaveNoLimit) {
  json file = small_instance();
  file["problem"]["usage_limit"] = nullptr;
  const auto got = read(file);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_TRUE(got->budget_limits().empty());
}

}  // namespace
}  // namespace shw::import
