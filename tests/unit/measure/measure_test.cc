// Measures this machine. The expectations on times also hold on a machine with some other work.
// ctest runs no other test at the same time.
#include "measure/measure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "compiler/pipeline.h"
#include "cost/hardware_description.h"
#include "graph/writer.h"
#include "import/file.h"
#include "import/graph_import.h"
#include "packed.h"
#include "runtime/bench/bench.h"
#include "simulate/simulate.h"

namespace shw::measure {
namespace {

// The measurement runs once for all tests.
const answers::CalibrationReport& report() {
  static const Result<answers::CalibrationReport> once = measure("cpu", "");
  EXPECT_TRUE(once.ok()) << once.status().message();
  static const answers::CalibrationReport none;
  return once.ok() ? *once : none;
}
const cost::DeviceSpec& device() { return report().calibration.hardware.device; }

TEST(Measure, DescribesAMachineThatReadsBackEqual) {
  const auto hardware = cost::parse_hardware(report().description);
  ASSERT_TRUE(hardware.ok()) << hardware.status().message();
  EXPECT_EQ(hardware->name, "cpu-measured");
  EXPECT_EQ(hardware->device.kernels, device().kernels);
  EXPECT_EQ(hardware->bases, report().calibration.hardware.bases);
  EXPECT_EQ(hardware->device.shared_cores, std::thread::hardware_concurrency());
  EXPECT_EQ(hardware->measured.size(), 15u);  // five collectives in groups of 2, 4 and 8
  EXPECT_EQ(cost::hardware_json(*hardware) + "\n", report().description);
}

TEST(Measure, SaysWhatEachFigureRestsOn) {
  const auto& bases = report().calibration.hardware.bases;
  const auto basis_of = [&](const std::string& figure) {
    const auto at = std::ranges::find(bases, figure, &cost::FigureBasis::figure);
    return at == bases.end() ? cost::Basis{} : at->basis;
  };
  EXPECT_EQ(basis_of("device.launch_us"), cost::Basis::kMeasured);
  EXPECT_EQ(basis_of("device.flops_per_s.bf16"), cost::Basis::kMeasured);
  EXPECT_EQ(basis_of("ring.intra_gb_per_s"), cost::Basis::kInterpolated);
  EXPECT_EQ(basis_of("ring.inter_gb_per_s"), cost::Basis::kFallback);
}

TEST(Measure, FindsThatMoreWorkTakesLonger) {
  ASSERT_GT(device().kernels.size(), 60u);
  for (const cost::KernelTimes& t : device().kernels) {
    EXPECT_GT(*std::ranges::min_element(t.us), 0) << t.kernel;
    EXPECT_LT(*std::ranges::max_element(t.us), 1e6) << t.kernel;
    if (!t.kernel.ends_with(cost::KernelTimes::kFused)) {  // these may add no time to a group
      EXPECT_LT(t.us.front(), t.us.back()) << t.kernel;
    }
  }
  EXPECT_GT(device().flops_f32, 1e8);
  EXPECT_GT(device().memory_bytes_per_s, 1e8);
  EXPECT_LT(device().launch_us, 100);
}

// A launch must be timed without other kernels in front of it. When it was timed behind other
// kernels, a launch took as long as most short steps. Every step in a series of short ones was then
// priced at two or three times its real time.
TEST(Measure, TakesALaunchForLessThanMostShortSteps) {
  size_t kernels = 0, longer = 0;
  for (const cost::KernelTimes& t : device().kernels)
    if (!t.kernel.ends_with(cost::KernelTimes::kFused)) {
      ++kernels;
      longer += *std::ranges::min_element(t.us) > device().launch_us;
    }
  EXPECT_GT(longer, kernels * 3 / 4);
}

double us_of_most(std::string_view kernel) {
  const cost::KernelTimes* times = cost::find_times(device().kernels, kernel, Dtype::kF32);
  return times == nullptr ? 0 : times->us.back();
}

// These functions must be part of a vectorised loop. If a function is called for each element
// instead, it takes 18 to 40 times as long as exp. In a vectorised loop these take up to 7 times as
// long.
TEST(Measure, FindsThatLoopsOverManyOperationsAreOfVectors) {
  for (const char* kernel : {"tanh", "erf", "gelu", "gelu_backward", "sigmoid", "silu", "log"}) {
    EXPECT_GT(us_of_most(kernel), 0) << kernel;
    EXPECT_LT(us_of_most(kernel), 12 * us_of_most("exp")) << kernel;
  }
}

// A group with one channel has its own row in the tables. Without it, such a group was priced like
// one with eight channels, which has four times the terms. On a busy machine 216 and 378 µs were
// measured.
TEST(Measure, FindsThatSmallGroupsOfConvolutionsTakeLess) {
  for (const char* kernel : {"convolution", "convolution_backward"}) {
    const cost::KernelTimes* times = cost::find_times(device().kernels, kernel, Dtype::kF32);
    ASSERT_NE(times, nullptr);
    EXPECT_LT(1.25 * cost::us_at(*times, {1024, 1, 9}), cost::us_at(*times, {1024, 8, 36}))
        << kernel;
  }
}

TEST(Measure, TimesAttentionWithNumbersAdded) {
  for (const char* kernel : {"sdpa.biased", "sdpa_backward.biased"})
    EXPECT_GT(us_of_most(kernel), 0) << kernel;
}

TEST(Measure, FindsThatStepsOfAGroupTakeLessThanAlone) {
  for (const char* kernel : {"add", "mul", "sub", "neg", "relu", "pow"}) {
    const std::string fused = std::string(kernel) + ".fused";
    const cost::KernelTimes* group = cost::find_times(device().kernels, fused, Dtype::kF32);
    const cost::KernelTimes* alone = cost::find_times(device().kernels, kernel, Dtype::kF32);
    ASSERT_TRUE(group != nullptr && alone != nullptr) << kernel;
    const int64_t elements = group->sizes[0].back();
    EXPECT_LT(cost::us_at(*group, {elements, cost::KernelTimes::kLongRow}),
              cost::us_at(*alone, {elements, cost::KernelTimes::kLongRow}))
        << kernel;
  }
}

// The operands must be numbers of bf16. When the bits of f32 were read as bf16, products took 15
// times as long, because some of the numbers are next to zero.
TEST(Measure, TimesStepsOfGroupsInBF16OnNumbersOfBF16) {
  for (const char* kernel : {"mul", "sub", "exp", "convert_element_type"})
    EXPECT_NE(cost::find_times(device().kernels, std::string(kernel) + ".fused", Dtype::kBF16),
              nullptr)
        << kernel;
  for (const char* kernel : {"mul", "mul.fused"}) {
    const cost::KernelTimes* times = cost::find_times(device().kernels, kernel, Dtype::kBF16);
    const cost::KernelTimes* sums =
        cost::find_times(device().kernels, "add" + std::string(kernel).substr(3), Dtype::kBF16);
    ASSERT_TRUE(times != nullptr && sums != nullptr);
    constexpr int64_t kElements = 32768;
    EXPECT_LT(cost::us_at(*times, {kElements, cost::KernelTimes::kLongRow}),
              3 * cost::us_at(*sums, {kElements, cost::KernelTimes::kLongRow}))
        << kernel;
  }
}

TEST(Measure, FindsThatRowsAreAddedFasterToOneAnotherThanUp) {
  EXPECT_LT(
      cost::us_at(*cost::find_times(device().kernels, "sum.columns", Dtype::kF32), {32768, 32}),
      cost::us_at(*cost::find_times(device().kernels, "sum", Dtype::kF32), {32768, 32}));
  EXPECT_GT(us_of_most("max"), 0);
}

// The CPU time of a step, divided by the number of cores. Other work on the machine does not count.
struct Times {
  double predicted_us = 0, measured_us = 0;
};
Times times_of(const std::string& file, const std::string& mesh, int64_t repeats) {
  const auto bytes = import::read_file(SHW_TEST_DATA + file);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  const auto graph = import::import_graph(import::GraphFormat::kFxJson, *bytes, file);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options;
  options.mesh = mesh;
  options.hardware = report().description;
  Monitor monitor;
  const auto compiled = testing::compile_packed(graph->bytes, options, monitor);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  auto plan = read_plan(compiled->bytes);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  Times times{.predicted_us = simulated_us(plan->program)};
  runtime::BenchOptions bench;
  bench.repeats = repeats;
  const auto result = runtime::bench(std::make_shared<const Plan>(std::move(*plan)), bench);
  EXPECT_TRUE(result.ok()) << result.status().message();
  const auto busy = std::min(static_cast<int64_t>(result->ranks.size()), device().shared_cores);
  times.measured_us = result->cpu_seconds * 1e6 / static_cast<double>(busy);
  return times;
}

TEST(Measure, PredictsWhichPlansAreSlowAndByHowMuch) {
  const Times small = times_of("/torch/qwen3_moe.graph.json.gz", "one=1", 20),
              middle = times_of("/graphs/bert_mlm.graph.pre.json.gz", "dp=2", 10),
              large = times_of("/bench/llama_29m.graph.pre.json.gz", "one=1", 2);
  EXPECT_LT(small.predicted_us * 2, middle.predicted_us);
  EXPECT_LT(middle.predicted_us * 20, large.predicted_us);
  for (const Times& t : {small, middle, large}) {
    EXPECT_GT(t.predicted_us, t.measured_us / 4);
    EXPECT_LT(t.predicted_us, t.measured_us * 4);
  }
}

TEST(Measure, RefusesDevicesThatItCannotMeasure) {
  const Status gpu = measure("cuda", "").status();  // OK: there is a GPU
  EXPECT_TRUE(gpu.ok() || gpu.code() == Code::kUnavailable) << gpu.message();
  EXPECT_EQ(measure("abacus", "").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw::measure
