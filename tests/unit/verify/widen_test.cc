// Programs widened to f64: what changes, and what does not.
#include "verify/widen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "float8.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "runtime/virtual_ranks.h"
#include "small_run.h"
#include "unit/runtime/tensors.h"
#include "verify/numbers.h"

namespace shw {
namespace {

using runtime::HostTensor;
using testing::SmallRun;
using testing::view;

std::vector<HostTensor> run_widened(SmallRun& run) {
  Monitor monitor;
  auto wide = widen(run.plan().program, monitor);
  EXPECT_TRUE(wide.ok()) << wide.status().message();
  if (!wide.ok()) return {};
  EXPECT_TRUE(verify(*wide, true).ok());
  for (const ProgramValue& v : wide->values)
    EXPECT_TRUE(v.type.dtype == Dtype::kF64 || !is_floating(v.type.dtype)) << to_string(v.type);
  auto plan = std::make_shared<Plan>();
  plan->program = *wide;
  auto ranks = runtime::VirtualRanks::create(plan);
  EXPECT_TRUE(ranks.ok()) << ranks.status().message();
  std::vector<HostTensor> inputs;
  std::vector<runtime::HostTensorView> views;
  for (PortId id : run.entry().inputs)
    inputs.push_back(widen(view(run.input(run.program().ports[id].name))));
  for (const HostTensor& t : inputs) views.push_back(view(t));
  auto out = (*ranks)->run(run.entry().name, views);
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? *out : std::vector<HostTensor>{};
}

// In bf16, 1/3 is 0.334. In f64 neither the cast nor the product rounds.
TEST(Widen, RoundsNowhere) {
  SmallRun run(R"(
input input.x: %x : f32[8,4]
%third = div(%x, none, other=3) : f32[8,4]
%low = to_copy(%third, dtype=bf16) : bf16[8,4]
%back = mul(%low, none, other=3) : bf16[8,4]
return output.back = %back
)",
               {.mesh = "a=2"});
  const std::vector<HostTensor> out = run_widened(run);
  ASSERT_EQ(out.size(), 1u);
  const std::vector<double> x = numbers_of(view(run.input("input.x"))),
                            y = numbers_of(view(out[0])),
                            narrow = numbers_of(view(run.output("output.back")));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], x[i], 1e-15);
  EXPECT_GT(distance(narrow, x).difference, 1e-3);
}

TEST(Widen, DrawsTheSameNumbers) {
  SmallRun run(R"(
input input.x: %x : bf16[16,8]
%r = rand(size=[16,8], dtype=bf16, seed=3) : bf16[16,8]
%n = randn(size=[16,8], dtype=f32, seed=4) : f32[16,8]
%d = native_dropout(%x, p=0.5, train=true, seed=5) : (bf16[16,8], bool[16,8])
%d_1 = get_item(%d, index=1) : bool[16,8]
return output.r = %r, output.n = %n, output.kept = %d_1
)",
               {.mesh = "a=4"});
  const std::vector<HostTensor> out = run_widened(run);
  ASSERT_EQ(out.size(), 3u);
  size_t i = 0;
  for (const char* name : {"output.r", "output.n", "output.kept"})
    EXPECT_EQ(numbers_of(view(out[i++])), numbers_of(view(run.output(name)))) << name;
}

TEST(Narrow, PutsF32InThePlaceOfF64Alone) {
  SmallRun run(R"(
input input.x: %x : f64[8,4]
input input.w: %w : f32[8,4]
%t = t(%x) : f64[4,8]{1,4}
%g = mm(%x, %t) : f64[8,8]
%s = add(%w, none, other=1) : f32[8,4]
return output.g = %g, output.s = %s
)",
               {.mesh = "a=2"});
  EXPECT_TRUE(has_f64(run.plan().program));
  Monitor monitor;
  const auto coarse = narrow(run.plan().program, monitor);
  ASSERT_TRUE(coarse.ok()) << coarse.status().message();
  EXPECT_FALSE(has_f64(*coarse));
  const double third = 1.0 / 3;
  const HostTensor x = narrow({row_major(Dtype::kF64, {1}), &third});
  EXPECT_EQ(numbers_of(view(x)), std::vector<double>{static_cast<double>(1.0f / 3)});
}

TEST(Widen, TurnsComplexNumbersIntoPairs) {
  SmallRun run(R"(
input input.x: %x : f32[8,4,2]
input input.z: %z : c64[4]
%c = view_as_complex(%x) : c64[8,4]
%m = mul(%c, %z) : c64[8,4]
%j = conj(%m) : c64[8,4]
%r = view_as_real(%j) : f32[8,4,2]
return output.r = %r, output.j = %j
)",
               {.mesh = "a=2"});
  const std::vector<HostTensor> out = run_widened(run);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].type.shape, (Dims{8, 4, 2}));
  const std::vector<double> x = numbers_of(view(run.input("input.x"))),
                            z = numbers_of(view(run.input("input.z")));
  for (const HostTensor& t : out) {
    const std::vector<double> y = numbers_of(view(t));
    for (size_t i = 0; i < 32; ++i) {
      const double a = x[2 * i], b = x[2 * i + 1], c = z[i % 4 * 2], d = z[i % 4 * 2 + 1];
      EXPECT_NEAR(y[2 * i], a * c - b * d, 1e-15);
      EXPECT_NEAR(y[2 * i + 1], -(a * d + b * c), 1e-15);
    }
  }
}

TEST(Numbers, PerturbedMovesByOneUnitAtMost) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kBF16, Dtype::kF16}) {
    HostTensor t{row_major(dtype, {300}), {}};
    t.data.resize(static_cast<size_t>(t.type.bytes()));
    std::vector<double> x = testing::normal_numbers(300, 1);
    x[0] = 0, x[1] = -0.0, x[2] = INFINITY, x[3] = NAN, x[4] = 1;
    testing::overwrite(t, x);
    x = numbers_of(view(t));
    const HostTensor moved = perturbed(view(t), 7);
    EXPECT_EQ(moved.data, perturbed(view(t), 7).data);
    EXPECT_NE(moved.data, perturbed(view(t), 8).data);
    const std::vector<double> y = numbers_of(view(moved));
    size_t up = 0, down = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (i < 4) {
        EXPECT_TRUE(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) << i;
        continue;
      }
      EXPECT_LE(std::abs(y[i] - x[i]), 2 * unit_roundoff(dtype) * std::abs(x[i])) << i;
      up += std::abs(y[i]) > std::abs(x[i]);
      down += std::abs(y[i]) < std::abs(x[i]);
    }
    EXPECT_GT(up, 60u);
    EXPECT_GT(down, 60u);
  }
  // Every 8-bit float moves at most to a neighbour.
  for (Dtype dtype : testing::kFloat8) {
    HostTensor t{row_major(dtype, {256}), {}};
    for (int i = 0; i < 256; ++i) t.data.push_back(static_cast<std::byte>(i));
    const std::vector<double> x = numbers_of(view(t)), y = numbers_of(view(perturbed(view(t), 3)));
    size_t moved = 0;
    for (size_t i = 0; i < 256; ++i) {
      const double want = testing::float8_value(dtype, static_cast<uint8_t>(i));
      EXPECT_TRUE(x[i] == want || (std::isnan(x[i]) && std::isnan(want))) << i;
      moved += x[i] != y[i] && !std::isnan(x[i]);
      if (!std::isfinite(x[i])) continue;
      EXPECT_LE(std::abs(y[i] - x[i]), 2 * unit_roundoff(dtype) * std::abs(x[i])) << i;
    }
    EXPECT_GT(moved, 60u);
  }
  HostTensor n{row_major(Dtype::kI64, {3}), {}};
  n.data.resize(24, std::byte{1});
  EXPECT_EQ(perturbed(view(n), 1).data, n.data);
}

}  // namespace
}  // namespace shw
