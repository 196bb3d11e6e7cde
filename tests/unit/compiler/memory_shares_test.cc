// What a plan reports about its memory peak, by kind and by module. The bytes must add up.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "packed.h"
#include "plan/memory_report.h"
#include "plan/module_tree.h"
#include "plan/report.h"
#include "unit/answers/planned.h"

namespace shw {
namespace {

Plan plan_of(const answers::testing::Case& c, double optimizer_factor) {
  CompileOptions options = answers::testing::options_of(c);
  options.optimizer_factor = optimizer_factor;
  Monitor monitor;
  auto compiled = testing::compile_packed(answers::testing::graph_of(c), options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  auto read = read_plan(compiled->bytes);
  EXPECT_TRUE(read.ok()) << read.status().message();
  return std::move(*read);
}

int64_t sum_of(const auto& rows, auto bytes) {
  return std::accumulate(rows.begin(), rows.end(), int64_t{0},
                         [&](int64_t sum, const auto& row) { return sum + bytes(row); });
}

// Fractions of bytes count too: with a factor that is not an integer, the sum is exact to a byte.
TEST(MemoryShares, AddUpToThePeak) {
  for (const double factor : {0.0, 2.0, 0.3}) {
    const Plan plan = plan_of(answers::testing::kCases[1], factor);
    const PlanSummary& s = plan.summary;
    ASSERT_GT(s.memory_peak_bytes, 0);
    EXPECT_EQ(sum_of(s.memory_shares, [](const auto& share) { return share.bytes; }),
              s.memory_peak_bytes);
    EXPECT_EQ(sum_of(memory_by_kind(s), [](const auto& kind) { return kind.second; }),
              s.memory_peak_bytes);
    EXPECT_EQ(sum_of(memory_by_module(s), [](const auto& m) { return m.bytes; }),
              s.memory_peak_bytes);
    EXPECT_EQ(module_tree(plan).peak_bytes, s.memory_peak_bytes);
    std::map<std::string, int64_t> kinds;
    for (const auto& [kind, bytes] : memory_by_kind(s)) kinds[kind] = bytes;
    const int64_t parameters = port_bytes(plan.program, PortRole::kParameter);
    EXPECT_EQ(kinds["parameters"], parameters);
    EXPECT_NEAR(static_cast<double>(kinds["optimizer_state"]),
                factor * static_cast<double>(parameters), 100);
    EXPECT_GT(kinds["gradients"], 0);
    EXPECT_EQ(kinds["inputs"], port_bytes(plan.program, PortRole::kInput) +
                                   port_bytes(plan.program, PortRole::kBuffer) +
                                   port_bytes(plan.program, PortRole::kTangent));
    EXPECT_GT(kinds["activations"], 0);
  }
}

TEST(MemoryShares, OfLayersStandTogether) {
  const Plan plan = plan_of(answers::testing::kCases[1], 0);
  bool found = false;
  for (const ModuleMemory& m : memory_by_module(plan.summary)) {
    if (m.module != "layers.*.attention.wq") continue;
    found = true;
    EXPECT_EQ(m.count, 2u);
    EXPECT_EQ(sum_of(m.by_kind, [](const auto& kind) { return kind.second; }), m.bytes);
  }
  EXPECT_TRUE(found);
}

TEST(MemoryShares, ThatDoNotAddUpAreRefused) {
  const Plan good = plan_of(answers::testing::kCases[0], 0);
  Plan plan = good;
  ++plan.summary.memory_shares[0].bytes;
  EXPECT_EQ(read_plan(write_plan(plan)).status().code(), Code::kDataLoss);
  plan = good;
  plan.summary.memory_shares[0].bytes += 8;
  plan.summary.memory_shares.push_back({"results", "", -8});
  EXPECT_EQ(read_plan(write_plan(plan)).status().code(), Code::kDataLoss);
  plan = good;
  std::swap(plan.summary.memory_shares.front(), plan.summary.memory_shares.back());
  EXPECT_EQ(read_plan(write_plan(plan)).status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace shw
