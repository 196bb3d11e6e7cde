// Runs the parser on output that people published (tests/data/nccl_tests), and on text that is not
// such output.
#include "import/nccl_tests.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace shw::import {
namespace {

std::string log_text(const std::string& name) {
  std::ifstream file(std::string(SHW_TEST_DATA "/nccl_tests/") + name);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

NcclTestRun only_run(const std::string& text, std::string_view collective = {}) {
  const auto runs = parse_nccl_tests(text, collective);
  EXPECT_TRUE(runs.ok()) << runs.status().message();
  if (!runs.ok()) return {};
  EXPECT_EQ(runs->size(), 1u);
  return runs->at(0);
}

std::string refusal(const std::string& text, std::string_view collective = {}) {
  const auto runs = parse_nccl_tests(text, collective);
  EXPECT_EQ(runs.status().code(), Code::kInvalidArgument);
  return runs.status().message();
}

void expect_says(const std::string& message, const std::string& what) {
  EXPECT_NE(message.find(what), std::string::npos) << message;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

TEST(NcclTests, ReadsOneNode) {
  const NcclTestRun run = only_run(log_text("all_reduce_1x8_a100.txt"));
  EXPECT_EQ(run.collective, "all_reduce") << "of the command line in the log";
  EXPECT_EQ(run.nodes, 1);
  EXPECT_EQ(run.devices_per_node, 8);
  EXPECT_EQ(run.line, 2);
  ASSERT_EQ(run.rows.size(), 22u);
  EXPECT_EQ(run.rows[0].bytes, 64);
  EXPECT_EQ(run.rows[0].us, 32.01) << "out of place";
  EXPECT_EQ(run.rows[21].bytes, 8589934592);
  EXPECT_EQ(run.rows[21].us, 63929);
}

TEST(NcclTests, CountsHostsAndTellsTheCollectiveFromTheColumns) {
  const NcclTestRun reduce = only_run(log_text("all_reduce_2x8_a100.txt"));
  EXPECT_EQ(reduce.collective, "all_reduce");
  EXPECT_EQ(reduce.nodes, 2);
  EXPECT_EQ(reduce.devices_per_node, 8);
  const std::string scatter =
      replaced(log_text("reduce_scatter_1x2_rtx5090.txt"), "# Collective test starting", "# run");
  EXPECT_EQ(only_run(scatter).collective, "reduce_scatter");
}

TEST(NcclTests, ReadsNewerVersionsAndRccl) {
  const NcclTestRun gather = only_run(log_text("all_gather_2x1_gb10.txt"));
  EXPECT_EQ(gather.collective, "all_gather");
  EXPECT_EQ(gather.nodes, 2);
  EXPECT_EQ(gather.devices_per_node, 1);
  EXPECT_EQ(gather.rows[0].us, 27211.0);
  const NcclTestRun all_to_all = only_run(log_text("alltoall_1x8_mi355x.txt"));
  EXPECT_EQ(all_to_all.collective, "all_to_all");
  EXPECT_EQ(all_to_all.rows.size(), 2u) << "#wrong of in-place is N/A";
  EXPECT_EQ(only_run(log_text("reduce_scatter_1x2_rtx5090.txt")).collective, "reduce_scatter");
  EXPECT_EQ(only_run(log_text("all_reduce_1x8_mi300x.txt")).rows.size(), 25u);
}

TEST(NcclTests, ReadsOldVersionsWithoutRootAndSizesThatAreEmpty) {
  const NcclTestRun run = only_run(R"(
#   Rank  0 Pid 190712 on    blg94 device  0 [0x00] Tesla V100
#   Rank  1 Pid 190713 on    blg94 device  1 [0x01] Tesla V100
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
           0             0   float     sum     5.70    0.00    0.00  0e+00      N/A     N/A     N/A    N/A
ip-172-31-13-103:3685:3685 [0] NCCL INFO Launch mode Parallel
    33554432       8388608   float     sum   1965.1   17.08   32.02  5e-07   1962.7   17.10   32.06  5e-07
    35651584       8912896   float     sum      N/A     N/A     N/A    N/A   2017.7   17.67   33.13  5e-07
)");
  EXPECT_EQ(run.collective, "all_reduce");
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_EQ(run.rows[1].us, 2017.7) << "in place, where out of place was not run";
}

TEST(NcclTests, ReadsRunsThatFollowOneAnotherAndTaggedLines) {
  const auto runs =
      parse_nccl_tests(log_text("all_reduce_1x8_a100.txt") + log_text("all_gather_2x1_gb10.txt") +
                       log_text("alltoall_1x8_mi355x.txt"));
  ASSERT_TRUE(runs.ok()) << runs.status().message();
  ASSERT_EQ(runs->size(), 3u);
  EXPECT_EQ((*runs)[0].collective, "all_reduce");
  EXPECT_EQ((*runs)[1].collective, "all_gather");
  EXPECT_EQ((*runs)[2].collective, "all_to_all");
  std::string tagged;
  for (char c : log_text("all_gather_2x1_gb10.txt")) {
    if (tagged.empty() || tagged.back() == '\n') tagged += "[1,0]<stdout>:";
    tagged += c;
  }
  EXPECT_EQ(only_run(tagged).rows.size(), 3u);
}

TEST(NcclTests, AsksWhichCollectiveWhereColumnsLeaveItOpen) {
  const std::string text = replaced(log_text("all_gather_2x1_gb10.txt"),
                                    "Collective test starting: all_gather_perf", "");
  expect_says(refusal(text), "all_gather=FILE or all_to_all=FILE");
  EXPECT_EQ(only_run(text, "all_to_all").collective, "all_to_all");
}

TEST(NcclTests, RefusesOtherCollectives) {
  expect_says(refusal(log_text("broadcast_1x8_h800.txt")), "with a root");
  expect_says(
      refusal(replaced(log_text("alltoall_1x8_mi355x.txt"), "alltoall_perf", "gather_perf")),
      "gather_perf measures no collective");
}

TEST(NcclTests, RefusesWhatIsNoOutputWithItsLine) {
  const std::string good = log_text("all_gather_2x1_gb10.txt");
  expect_says(refusal(""), "no results of nccl-tests");
  expect_says(refusal("hello\n\x01\xff\n# world\n"), "no results of nccl-tests");
  expect_says(refusal("1 2 3 4\n"), "line 1: results before the header");
  expect_says(refusal(replaced(good, "20.80       0", "20.80")), "line 14: results in 12 columns");
  expect_says(refusal(replaced(good, "  19.73       0", "  19.73       3")),
              "line 14: the collective computed wrong");
  expect_says(refusal(replaced(good, "27211.0", "fast")), "line 14: time 'fast'");
  expect_says(refusal(replaced(good, "27211.0", "-1")), "line 14: time '-1'");
  expect_says(refusal(replaced(good, "27211.0", "nan")), "line 14: time 'nan'");
  expect_says(refusal(replaced(good, "1073741824     134217728", "99999999999999999 1")),
              "line 14: size");
  expect_says(refusal(replaced(good, "Rank  1", "Rank  0")), "line 9: rank 0 stands twice");
  expect_says(refusal(replaced(good, " on spark-4440", "")), "line 9: a rank without");
  expect_says(refusal(replaced(good, "values : 0 OK", "values : 4 FAILED")),
              "line 17: results were");
  expect_says(refusal(good + "spark: Test NCCL failure common.cu:1005 'internal error'\n"),
              "line 22: the test failed");
  expect_says(refusal(good.substr(0, good.find("4294967296    ") + 10)),
              "line 16: results in 1 columns");
}

TEST(NcclTests, RefusesGroupsThatAreNoGrid) {
  const std::string text = log_text("all_reduce_2x8_a100.txt");
  expect_says(refusal(replaced(text, "inst-6ejzf-comp device  7", "third device  7")),
              "16 ranks on 3 hosts");
  const std::string good = log_text("all_gather_2x1_gb10.txt");
  expect_says(refusal(replaced(good, "#  Rank  1", "#  rank  1")), "no two ranks were named");
}

}  // namespace
}  // namespace shw::import
