#include "import/problem_json.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "import/json_file.h"

namespace shw::import {
namespace {

using nlohmann::json;

class ProblemJson : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = ::testing::TempDir() + "shw_" + test->name() + ".json";
  }
  void TearDown() override { std::remove(path_.c_str()); }

  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  Result<ImportedProblem> read(const json& problem, bool tied = false) {
    write(problem.dump());
    return read_problem(path_, tied);
  }
  void expect_refusal(const json& problem, const std::string& place) {
    SCOPED_TRACE(problem.dump());
    const auto got = read(problem);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().code(), Code::kInvalidArgument) << got.status().message();
    EXPECT_NE(got.status().message().find(place), std::string::npos) << got.status().message();
  }

  std::string path_;
};

// Two tied pairs (0 → 1, 2 → 3) and an output.
json small_problem() {
  return json::parse(R"({
    "format": "ap-problem-1",
    "matrices": [[[0, 3], [4, 0]], [[0, 1], [1, null]], [[0], [0]]],
    "nodes": [
      {"op": "placeholder", "name": "x", "inputs": [], "n_strats": 2, "root": 0, "compute": [10, 20], "arg_cost": []},
      {"op": "call_function", "name": "f", "inputs": [0], "n_strats": 2, "root": 1, "compute": [1, 2],
       "arg_cost": [{"comm": 0, "trans": 1}]},
      {"op": "placeholder", "name": "y", "inputs": [], "n_strats": 2, "root": 0},
      {"op": "call_function", "name": "g", "inputs": [2], "n_strats": 2, "root": 1},
      {"op": "output", "name": "output", "inputs": [1, 3]}],
    "constraints": {"node": [], "paired": []}})");
}

TEST_F(ProblemJson, GivesTiedNodesTheCostsOfTheirRoot) {
  const auto got = read(small_problem());
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got->variable, (std::vector<uint32_t>{0, 1, 2, 3, ImportedProblem::kNoVariable}));
  EXPECT_EQ(got->node_name[3], "g");
  EXPECT_EQ(evaluate(got->problem, std::vector<uint32_t>{0, 0, 0, 0}), 2 * (10 + 1));
  EXPECT_EQ(evaluate(got->problem, std::vector<uint32_t>{0, 0, 1, 0}), 10 + 1 + 20 + 1 + 3 + 1);
  EXPECT_EQ(evaluate(got->problem, std::vector<uint32_t>{0, 0, 0, 1}), 10 + 1 + 10 + 2 + 4 + 1);
  EXPECT_EQ(evaluate(got->problem, std::vector<uint32_t>{0, 0, 1, 1}), solver::kForbidden);
}

TEST_F(ProblemJson, MergesTiedNodesWhenAsked) {
  const auto got = read(small_problem(), /*tied=*/true);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got->variable, (std::vector<uint32_t>{0, 1, 0, 1, ImportedProblem::kNoVariable}));
  EXPECT_EQ(evaluate(got->problem, std::vector<uint32_t>{1, 0}), 2 * (20 + 1 + 3 + 1));
}

TEST_F(ProblemJson, ForbidsPairsThatCommunicateWhereTheSlotSaysSo) {
  json p = small_problem();
  p["nodes"][1]["arg_cost"][0]["forbid_comm_gt0"] = true;
  const auto got = read(p);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(evaluate(got->problem, std::vector<uint32_t>{0, 0, 0, 0}), 22);
  EXPECT_EQ(evaluate(got->problem, std::vector<uint32_t>{1, 0, 0, 0}), solver::kForbidden);
}

TEST_F(ProblemJson, AppliesPinsPairsAndTheSmallestBudget) {
  json p = small_problem();
  p["constraints"]["node"] = json::parse(R"([{"node": 1, "allowed": [1]}])");
  p["constraints"]["paired"] = json::parse(R"([{"a": 0, "b": 3, "pairs": [[0, 1]]}])");
  p["constraints"]["memory"] =
      json::parse(R"({"coeffs": [[2, [1, 0.25]]], "low": 0.25, "high": 0.25})");
  const auto got = read(p);
  ASSERT_TRUE(got.ok()) << got.status().message();
  for (uint32_t i = 0; i < 16; ++i) {
    const std::vector<uint32_t> choice{i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1};
    const bool allowed = choice[1] == 1 && choice[0] == 0 && choice[3] == 1 && choice[2] == 1;
    // … and y = 1 with g = 1 is a pair that the matrix forbids, so nothing is left at all.
    EXPECT_EQ(evaluate(got->problem, choice), solver::kForbidden) << allowed;
  }
  p["matrices"][1][1][1] = 0;
  const auto free = read(p);
  ASSERT_TRUE(free.ok());
  EXPECT_EQ(evaluate(free->problem, std::vector<uint32_t>{0, 1, 1, 1}), 10 + 2 + 4 + 1 + 20 + 2);
  EXPECT_EQ(evaluate(free->problem, std::vector<uint32_t>{0, 1, 0, 1}), solver::kForbidden);
}

TEST_F(ProblemJson, TakesBudgetsWithSlack) {
  json p = small_problem();
  for (const double high : {0.25, 0.99}) {
    p["constraints"]["memory"] = {{"coeffs", {{0, {1, 0.25}}}}, {"high", high}};
    EXPECT_TRUE(read(p).ok()) << high << " still forces the smaller ratio";
  }
  p["constraints"]["memory"]["high"] = 1.0;
  auto got = read(p);
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got->problem.budget_limits().size(), 1u);
  EXPECT_EQ(peak_load(got->problem, 0, std::vector<uint32_t>{1, 0, 0, 0}), 0.25);
  p["constraints"]["memory"]["low"] = 0.5;
  got = read(p);
  ASSERT_TRUE(got.ok()) << got.status().message();
  ASSERT_EQ(got->problem.budget_limits().size(), 2u);
  EXPECT_EQ(peak_load(got->problem, 1, std::vector<uint32_t>{1, 0, 0, 0}), -0.25);
  EXPECT_NEAR(got->problem.budget_limits()[1], -0.5, 1e-8);
  p["constraints"]["memory"] = {{"coeffs", {{0, {1, 0.25}}}}, {"high", 1.0}};
  p["constraints"]["memory"]["high"] = 0.2;
  got = read(p);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), Code::kFailedPrecondition);
}

TEST_F(ProblemJson, RefusesWhatIsMissing) {
  for (const char* key : {"format", "matrices", "nodes", "constraints"}) {
    json p = small_problem();
    p.erase(key);
    expect_refusal(p, key);
  }
  for (const char* key : {"op", "inputs", "n_strats", "compute", "arg_cost"}) {
    json p = small_problem();
    p["nodes"][1].erase(key);
    expect_refusal(p, "nodes[1]");
    expect_refusal(p, key);
  }
  for (const char* key : {"comm", "trans"}) {
    json p = small_problem();
    p["nodes"][1]["arg_cost"][0].erase(key);
    expect_refusal(p, "nodes[1].arg_cost[0]");
  }
  for (const char* key : {"node", "paired"}) {
    json p = small_problem();
    p["constraints"].erase(key);
    expect_refusal(p, "constraints");
  }
}

TEST_F(ProblemJson, RefusesWhatIsOutOfRangeOrDisagrees) {
  struct Case {
    const char* pointer;
    json value;
    const char* place;
  };
  const Case cases[] = {
      {"/format", "ap-problem-2", "format"},
      {"/nodes/1/inputs/0", 9, "nodes[1].inputs[0]"},
      {"/nodes/1/inputs/0", -1, "nodes[1].inputs[0]"},
      {"/nodes/1/inputs/0", 4, "nodes[1]"},
      {"/nodes/1/inputs/0", 0.5, "nodes[1].inputs[0]"},
      {"/nodes/1/root", 5, "nodes[1].root"},
      {"/nodes/1/root", 4, "nodes[1]"},
      {"/nodes/1/root", 0, "nodes[1]"},
      {"/nodes/0/root", 2, "nodes[0]"},
      {"/nodes/1/n_strats", 0, "nodes[1].n_strats"},
      {"/nodes/1/n_strats", 3, "nodes["},
      {"/nodes/1/n_strats", 4000000000, "nodes[1].n_strats"},
      {"/nodes/1/compute", {1}, "nodes[1].compute"},
      {"/nodes/1/compute/0", "x", "nodes[1].compute[0]"},
      {"/nodes/1/compute/0", -1, "nodes[1].compute[0]"},
      {"/nodes/1/arg_cost", json::array(), "nodes[1].arg_cost"},
      {"/nodes/1/arg_cost/0/comm", 3, "arg_cost[0].comm"},
      {"/nodes/1/arg_cost/0/comm", 2, "arg_cost[0]"},
      {"/nodes/1/arg_cost/0/forbid_comm_gt0", "yes", "forbid_comm_gt0"},
      {"/matrices/0/1", {1}, "matrices[0][1]"},
      {"/matrices/0/1", 1, "matrices[0][1]"},
      {"/matrices/0", 1, "matrices[0]"},
      {"/matrices/0/1/0", "1", "matrices[0][1][0]"},
      {"/nodes", {{"a", 1}}, "nodes"},
      {"/nodes/2", 1, "nodes[2]"},
      {"/constraints/node", {{{"node", 4}, {"allowed", {0}}}}, "constraints.node[0].node"},
      {"/constraints/node", {{{"node", 0}, {"allowed", {2}}}}, "constraints.node[0].allowed[0]"},
      {"/constraints/paired",
       {{{"a", 0}, {"b", 7}, {"pairs", json::array()}}},
       "constraints.paired[0].b"},
      {"/constraints/paired",
       {{{"a", 0}, {"b", 1}, {"pairs", {{0, 2}}}}},
       "constraints.paired[0].pairs[0]"},
      {"/constraints/paired",
       {{{"a", 0}, {"b", 1}, {"pairs", {{0}}}}},
       "constraints.paired[0].pairs[0]"},
      {"/constraints/memory", {{"coeffs", {{0, {1}}}}, {"high", 1}}, "memory.coeffs[0]"},
      {"/constraints/memory", {{"coeffs", {{0, {1, "a"}}}}, {"high", 1}}, "memory.coeffs[0]"},
      {"/constraints/memory", {{"coeffs", {1}}, {"high", 1}}, "memory.coeffs[0]"},
      {"/constraints/memory", {{"coeffs", {{0, {1, 1}}}}}, "memory"},
  };
  for (const Case& c : cases) {
    json p = small_problem();
    p[json::json_pointer(c.pointer)] = c.value;
    SCOPED_TRACE(c.pointer);
    expect_refusal(p, c.place);
  }
}

TEST_F(ProblemJson, RefusesWhatIsNotJson) {
  for (const char* text : {"", "{", "[1, 2", "{\"format\": }", "\x80\x81"}) {
    write(text);
    const auto got = read_problem(path_, false);
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().code(), Code::kInvalidArgument) << got.status().message();
  }
  write("[]");
  EXPECT_EQ(read_problem(path_, false).status().code(), Code::kInvalidArgument);
}

TEST_F(ProblemJson, ReadsGzipAndNoticesDamage) {
  const std::string text = small_problem().dump();
  gzFile file = gzopen(path_.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(file);
  EXPECT_TRUE(read_problem(path_, false).ok());

  std::ifstream in(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (size_t length = 3; length < bytes.size(); length += 7) {
    SCOPED_TRACE(length);
    write(bytes.substr(0, length));
    EXPECT_FALSE(read_json_file(path_).ok());
  }
  for (size_t at = 10; at < bytes.size();
       at += 5) {  // after the header, whose flags may be ignored
    SCOPED_TRACE(at);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    write(damaged);
    EXPECT_FALSE(read_json_file(path_).ok());
  }
}

// A file of a few KiB that inflates to 64 MiB. It must be refused, with the reason, before that
// memory is used.
TEST_F(ProblemJson, InflatesNoFurtherThanTheLimit) {
  gzFile file = gzopen(path_.c_str(), "wb9");
  ASSERT_NE(file, nullptr);
  const std::string spaces(1 << 20, ' ');
  for (int i = 0; i < 8; ++i) ASSERT_EQ(gzwrite(file, spaces.data(), 1 << 20), 1 << 20);
  gzclose(file);
  const auto got = read_json_file(path_, 3 << 20);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), Code::kResourceExhausted);
  const std::string size = std::to_string(std::filesystem::file_size(path_));
  EXPECT_EQ(got.status().message(),
            path_ + " inflates to more text than the limit of 3145728 bytes: its " + size +
                " bytes state that they hold 8388608");
  EXPECT_EQ(read_json_file(path_, 8 << 20).status().code(), Code::kInvalidArgument) << "all read";
}

TEST_F(ProblemJson, KeepsToTheSizeLimit) {
  write("[" + std::string(5 << 20, ' ') + "]");
  EXPECT_TRUE(read_json_file(path_).ok());
  const auto got = read_json_file(path_, 3 << 20);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(got.status().message(),
            path_ + " is 5242882 bytes of text, more than the limit of 3145728");
  EXPECT_EQ(read_json_file(path_ + ".none").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace shw::import
