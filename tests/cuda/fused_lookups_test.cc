// gather and scatter in the kernels that are generated for groups of steps.
#include <cmath>

#include "cuda/fakes.h"
#include "cuda/group_runs.h"
#include "runtime/cuda/plugin/device.h"
#include "unit/runtime/lookup_plans.h"

namespace shw::runtime::cuda::fused_lookups {
namespace {

using namespace shw::testing;

double class_of(int64_t row) {
  return row % 5 == 3 ? static_cast<double>(kIgnored) : static_cast<double>(row * 37 % 500);
}

double class_of_all(int64_t row) { return static_cast<double>(row * 331 % 1024); }

class CudaFusedLookups : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = CudaDevice::open(testing::cuda_options());
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
  }
  RankBackend backend() const {
    return {[device = device_](int64_t) { return device; }, {}};
  }

  std::shared_ptr<CudaDevice> device_;
};

TEST_F(CudaFusedLookups, ALossHasTheBitsOfItsSteps) {
  for (const Dtype dtype : {Dtype::kBF16, Dtype::kF32})
    for (const Dtype index : {Dtype::kI64, Dtype::kI32})
      for (const int64_t columns : {512, 509}) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::string(dtype_name(index)) + " " +
                     std::to_string(columns));
        expect_same_bits(loss_plan({dtype, index, 128, columns, columns == 512 ? 1 : -1}), class_of,
                         backend());
      }
}

// A row that does not fit in registers has a sum with other roundings (fused_online_test.cc). In a
// logarithm between 8 and 16 one rounding is a relative error of about a millionth. The difference
// from the logarithm has it again.
TEST_F(CudaFusedLookups, ALossOfLongRowsIsThatOfItsSteps) {
  for (const int64_t columns : {1024, 1001}) {
    const auto plan = loss_plan({Dtype::kF32, Dtype::kI64, 64, columns});
    const auto together = run_with(in_groups(*plan), class_of, true, backend());
    const auto alone = run_with(plan, class_of, false, backend());
    ASSERT_TRUE(together.ok() && alone.ok());
    for (size_t o = 0; o < 2; ++o) {
      const std::vector<double> given = values_of((*together)[o]), right = values_of((*alone)[o]);
      for (size_t i = 0; i < right.size(); ++i)
        EXPECT_NEAR(given[i], right[i], 2e-6 * std::abs(right[i])) << "output " << o;
    }
  }
}

double below_eight(int64_t i) { return static_cast<double>((i * 5 + i / 64) % 8); }

TEST_F(CudaFusedLookups, LinesNeedNotBeTheLastDim) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kI64, Dtype::kI8, Dtype::kC64})
    for (const bool has_source : {false, true}) {
      SCOPED_TRACE(dtype_name(dtype));
      expect_same_bits(middle_plan(dtype, has_source), below_eight, backend());
    }
}

// In some rows all elements but one are 0, and the kernel does not loop over them. In the other
// rows each element counts. Some scales are 1/0.
TEST_F(CudaFusedLookups, ReductionsOfRowsThatDifferAtOnePlace) {
  for (const char* reduction : {"sum", "mean", "amax"})
    for (const double fill : {0.0, -0.5}) {
      SCOPED_TRACE(std::string(reduction) + " of " + std::to_string(fill));
      expect_same_bits(one_hot_plan(fill, reduction), class_of_all, backend());
    }
}

// For an element that another rank has, this rank reads 0 and writes nothing.
TEST_F(CudaFusedLookups, PiecesKnowWhereTheyLie) {
  expect_same_bits(
      halves_plan(), [](int64_t row) { return static_cast<double>(row * 37 % 1024); }, backend());
}

// Each group must be one launch. Every other step of these plans is one launch, too, except copies,
// which the driver does.
TEST_F(CudaFusedLookups, TheGroupsAreOneLaunchEach) {
  SHW_ON_FAKES_ONLY();
  const auto expect_launches = [&](const Plan& plan, const Labels& labels, int copies) {
    const auto grouped = in_groups(plan);
    size_t expected = grouped->program.steps.size();
    for (const FusedGroup& group : grouped->program.fused_groups) expected -= group.num_steps - 1;
    const int before = fake_calls("cuLaunchKernel");
    EXPECT_TRUE(run_with(grouped, labels, true, backend()).ok());
    EXPECT_EQ(fake_calls("cuLaunchKernel") - before, static_cast<int>(expected) - copies);
  };
  expect_launches(*middle_plan(Dtype::kF32, true), below_eight, 0);
  expect_launches(*loss_plan({}), class_of, 1);
}

// The error is reported even if no step reads what the bad index writes.
TEST_F(CudaFusedLookups, AnIndexThatDoesNotExistIsAnErrorOfItsStep) {
  const auto expect_named = [&](const std::shared_ptr<const Plan>& plan, const Labels& labels,
                                const std::string& kernel, const std::string& says) {
    const Status status = run_with(in_groups(*plan), labels, true, backend()).status();
    EXPECT_EQ(status.code(), Code::kOutOfRange);
    EXPECT_EQ(status.node_name(), kernel);
    EXPECT_GE(status.node_index(), 0);
    EXPECT_EQ(status.message(), says);
  };
  const auto only = [](int64_t at, double index) {
    return [=](int64_t i) { return i == at ? index : 5.0; };
  };
  expect_named(loss_plan({}), only(17, 1024), "gather", "index 1024 into a table of 1024 rows");
  expect_named(loss_plan({}), only(17, -1), "gather", "index -1 into a table of 1024 rows");
  // The bad index is in a line of the half of `written` that no step reads.
  ProgramBuilder b({{"a", 1}});
  const TensorType whole = row_major(Dtype::kF32, {64, 8, 64});
  const ValueId x = b.input("x", Dtype::kF32, whole.shape, Layout{}),
                index = b.input("index", Dtype::kI64, {64, 1, 64}, Layout{});
  const ValueId written = b.compute("scatter", {b.compute("abs", {x}, whole), index, {}}, whole,
                                    with(AttrKey::kSrc, 3.5, with(AttrKey::kDim, int64_t{1})));
  const TensorType half{{64, 8, 32}, {512, 64, 1}, Dtype::kF32};
  b.output("half", b.compute("neg", {b.view(written, half)}, row_major(Dtype::kF32, half.shape)),
           half.shape, Layout{});
  const auto plan = b.finish();
  expect_same_bits(plan, below_eight, backend());
  expect_named(plan, only(63, -100), "scatter", "index -100 into a table of 8 rows");
}

// The loss has a vocabulary of 128256 words.
TEST_F(CudaFusedLookups, NvrtcCompilesTheKernelsOfALoss) {
  const auto plan = in_groups(*loss_plan({Dtype::kBF16, Dtype::kI64, 4096, 128256}));
  const std::vector<std::string> sources = group_runs::sources_of(plan->program);
  EXPECT_EQ(sources.size(), 2u);
  group_runs::expect_to_compile(sources);
}

}  // namespace
}  // namespace shw::runtime::cuda::fused_lookups
