// Sums that are computed in the same pass as the row's maximum ("online"), for rows that do not fit
// in registers.
#include <cmath>
#include <limits>

#include "cuda/fakes.h"
#include "runtime/cuda/plugin/device.h"
#include "unit/runtime/lookup_plans.h"

namespace shw::runtime::cuda::fused_online {
namespace {

using namespace shw::testing;

constexpr int64_t kRows = 48;
// A block needs more than 32 turns for a row.
int64_t columns() { return is_on_gpu() ? 16387 : 1027; }

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Element `i` of a row of `n` elements. In some rows the maximum is first, in some last, and in
// some it grows all the time. Others contain infinities and NaN.
double element(int64_t row, int64_t i, int64_t n) {
  const double x = static_cast<double>((i * 7919 + row * 31) % 1009) / 60.0 - 8.0;
  switch (row % 12) {
    case 0:
      return static_cast<double>(i) / 40.0;
    case 1:
      return static_cast<double>(n - i) / 40.0;
    case 2:
      return i < n / 2 ? -kInfinity : x;
    case 3:
      return -kInfinity;
    case 4:
      return i == n / 3 ? kInfinity : x;
    case 5:
      return i == 5 ? std::nan("") : x;
    case 6:
      return i == n - 1 ? std::nan("") : -kInfinity;
    case 7:
      return 3.0;
    case 8:
      return i % 2 == 0 ? -0.0 : 0.0;
    case 9:
      return x * 10;
    default:
      return x;
  }
}

struct Softmax {
  std::vector<double> most, sum, result;
};
// Computes amax, sub, exp, sum and div of each row.
Softmax softmax(bool fuse) {
  ProgramBuilder b({{"a", 1}});
  const TensorType whole = row_major(Dtype::kF32, {kRows, columns()}),
                   row = row_major(Dtype::kF32, {kRows, 1});
  const ValueId x = b.input("x", Dtype::kF32, whole.shape, Layout{});
  const ValueId most = b.compute("amax", {x}, row, along(1));
  const ValueId power = b.compute("exp", {b.compute("sub", {x, most}, whole)}, whole);
  const ValueId sum = b.compute("sum", {power}, row, along(1));
  b.output("most", most, row.shape, Layout{});
  b.output("sum", sum, row.shape, Layout{});
  b.output("result", b.compute("div", {power, sum}, whole), whole.shape, Layout{});
  const auto plan = in_groups(*b.finish());
  const auto device = CudaDevice::open(cuda_options());
  EXPECT_TRUE(device.ok()) << device.status().message();
  ExecutorOptions options;
  options.fuse = fuse;
  const auto ranks = VirtualRanks::create(plan, options, {[&](int64_t) { return *device; }, {}});
  EXPECT_TRUE(ranks.ok()) << ranks.status().message();
  const HostTensor input = make_tensor(Dtype::kF32, whole.shape, [](int64_t i) {
    return element(i / columns(), i % columns(), columns());
  });
  const HostTensorView views[] = {view_of(input)};
  const auto results = (*ranks)->run("step", views);
  EXPECT_TRUE(results.ok()) << results.status().message();
  if (!results.ok()) return {};
  return {values_of((*results)[0]), values_of((*results)[1]), values_of((*results)[2])};
}

// Subnormal numbers have an absolute rounding error, whose unit is kStep.
void expect_near(double given, double expected, double relative, const std::string& what) {
  constexpr double kStep = std::numeric_limits<float>::denorm_min();
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(given)) << what << ": " << given;
  else if (std::isinf(expected))
    EXPECT_EQ(given, expected) << what;
  else
    EXPECT_NEAR(given, expected, relative * std::abs(expected) + (relative > 0 ? kStep : 0))
        << what;
}

// Each time the maximum grows, the sum is scaled, which adds one rounding.
TEST(CudaFusedOnline, ASoftmaxIsThatOfItsSteps) {
  constexpr double kRounding = 1.2e-7;
  const Softmax together = softmax(true), alone = softmax(false);
  ASSERT_EQ(together.result.size(), alone.result.size());
  for (size_t row = 0; row < static_cast<size_t>(kRows); ++row) {
    const std::string what = "row " + std::to_string(row);
    expect_near(together.most[row], alone.most[row], 0, what);
    EXPECT_EQ(std::signbit(together.most[row]), std::signbit(alone.most[row])) << what;
    expect_near(together.sum[row], alone.sum[row], 3 * kRounding, what);
    for (size_t k = 0; k < static_cast<size_t>(columns()); ++k) {
      const size_t i = row * static_cast<size_t>(columns()) + k;
      expect_near(together.result[i], alone.result[i], 4 * kRounding, what);
    }
  }
}

TEST(CudaFusedOnline, EachRunGivesTheSameBits) {
  const Softmax first = softmax(true), second = softmax(true);
  for (size_t row = 0; row < static_cast<size_t>(kRows); ++row)
    expect_near(second.sum[row], first.sum[row], 0, std::to_string(row));
}

}  // namespace
}  // namespace shw::runtime::cuda::fused_online
