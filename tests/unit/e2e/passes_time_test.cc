// Passes must save time when a plan runs: the step of the tiny LLaMA on eight virtual ranks, with
// and without passes. The test compares the CPU time of all ranks, which other work on the machine
// affects less than elapsed time.
#include <gtest/gtest.h>

#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/bench/bench.h"
#include "runtime/virtual_ranks.h"
#include "scheduled_anew.h"
#include "tiny_model.h"
#include "tools/execute.h"

namespace shw {
namespace {

class TimedRanks {
 public:
  explicit TimedRanks(const std::shared_ptr<const Plan>& plan) {
    auto ranks = runtime::VirtualRanks::create(plan);
    auto inputs = tools::bind_inputs(plan->program, plan->program.entries[0],
                                     testing::llama_tiny().tensors());
    EXPECT_TRUE(ranks.ok() && inputs.ok());
    ranks_ = std::move(*ranks);
    inputs_ = std::move(*inputs);
  }
  double cpu_seconds() {
    constexpr int kRuns = 6;
    const std::clock_t begin = std::clock();
    for (int i = 0; i < kRuns; ++i) {
      const Status status = ranks_->run_only("step", inputs_);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / kRuns;
  }

 private:
  std::unique_ptr<runtime::VirtualRanks> ranks_;
  std::vector<runtime::HostTensorView> inputs_;
};

// The median over pairs of consecutive runs. The two programs alternate, and so does the one that
// runs first.
double share_of_time(TimedRanks& with, TimedRanks& without) {
  constexpr int kPairs = 9;
  std::vector<double> shares;
  for (int i = 0; i < kPairs; ++i) {
    const bool first = i % 2 == 0;
    const double a = (first ? with : without).cpu_seconds(),
                 b = (first ? without : with).cpu_seconds();
    shares.push_back(first ? a / b : b / a);
  }
  return runtime::quartiles_of(std::move(shares)).median;
}

TEST(PassesTime, TheTinyLlamasStepTakesNoLongerThanWithout) {
  const auto with = testing::llama_tiny().plan_of({.mesh = "dp=2,tp=4"});
  ASSERT_NE(with, nullptr);
  const auto without = testing::scheduled_anew(*with, std::nullopt);
  ASSERT_NE(without, nullptr);
  constexpr int kAttempts = 3;  // the machine may be busy with something else
  double share = 0;
  TimedRanks a(with), b(without);
  for (TimedRanks* ranks : {&a, &b}) ranks->cpu_seconds();  // the first runs allocate
  for (int i = 0; i < kAttempts && (i == 0 || share > 1); ++i) share = share_of_time(a, b);
  EXPECT_LE(share, 1);
  RecordProperty("share", std::to_string(share));
}

}  // namespace
}  // namespace shw
