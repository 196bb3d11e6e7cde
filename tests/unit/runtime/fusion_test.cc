// Groups of steps that run slice by slice give the same bits as steps that run one after another.
#include <gtest/gtest.h>

#include <cstring>

#include "passes/pass.h"
#include "plan/slice.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/group_plans.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime {
namespace {

using shw::testing::in_groups;
using shw::testing::make_tensor;
using shw::testing::ProgramBuilder;
using shw::testing::view_of;

TensorType f32(const Dims& shape) { return row_major(Dtype::kF32, shape); }

Attrs with(AttrKey key, AttrValue value) {
  Attrs attrs;
  attrs.set(key, std::move(value));
  return attrs;
}
Attrs reduce(std::vector<int64_t> dims) {
  Attrs attrs = with(AttrKey::kDims, std::move(dims));
  attrs.set(AttrKey::kKeepDim, true);
  return attrs;
}

using Kernels = std::vector<std::string>;

// The kernels of each group after the plan has been divided into groups.
std::vector<Kernels> groups_of(const Plan& plan) {
  return shw::testing::groups_of(in_groups(plan)->program);
}

void expect_same_bits(const std::shared_ptr<const Plan>& plan) {
  std::vector<HostTensor> inputs;
  for (const PortId id : plan->program.entries[0].inputs) {
    const TensorType& type = plan->program.ports[id].global;
    inputs.push_back(make_tensor(type.dtype, type.shape, [&](int64_t i) {
      return static_cast<double>((i * 37 + id.v * 11) % 101) / 50.0 - 1.0;
    }));
  }
  std::vector<HostTensorView> views;
  for (const HostTensor& t : inputs) views.push_back(view_of(t));
  ExecutorOptions alone;
  alone.fuse = false;
  const auto together = (*VirtualRanks::create(in_groups(*plan)))->run("step", views);
  const auto plain = (*VirtualRanks::create(plan, alone))->run("step", views);
  ASSERT_TRUE(together.ok()) << together.status().message();
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  for (size_t i = 0; i < plain->size(); ++i)
    EXPECT_EQ((*together)[i].data, (*plain)[i].data) << "output " << i;
}

TEST(Fusion, ANormWithItsResidualIsOneGroup) {
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {4, 32, 256}, Layout{}),
                y = b.input("y", Dtype::kF32, {4, 32, 256}, Layout{}),
                w = b.input("w", Dtype::kF32, {256}, Layout{});
  const TensorType whole = f32({4, 32, 256}), rows = f32({4, 32, 1});
  const ValueId sum = b.compute("add", {x, y}, whole);
  const ValueId square = b.compute("pow", {sum}, whole, with(AttrKey::kExponent, int64_t{2}));
  const ValueId mean = b.compute("mean", {square}, rows, reduce({2}));
  const ValueId shifted = b.compute("add", {mean, {}}, rows, with(AttrKey::kOther, 1e-5));
  const ValueId scale = b.compute("rsqrt", {shifted}, rows);
  const ValueId scaled = b.compute("mul", {sum, scale}, whole);
  const ValueId out = b.compute("mul", {scaled, w}, whole);
  b.output("sum", sum, {4, 32, 256}, Layout{});
  b.output("out", out, {4, 32, 256}, Layout{});
  const auto plan = b.finish();
  EXPECT_EQ(groups_of(*plan), (std::vector<Kernels>{{"add", "pow", "mean", "add", "rsqrt", "mul",
                                                     "mul", "clone", "clone"}}));
  expect_same_bits(plan);
}

// Half of each row of a transposed window is negated and swapped with the other half.
TEST(Fusion, WindowsWithGapsAndPartsOfRowsAreSliced) {
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {2, 64, 8, 32}, Layout{}),
                c = b.input("cos", Dtype::kF32, {64, 32}, Layout{});
  const Dims heads{2, 8, 64, 32}, half{2, 8, 64, 16};
  const Dims strides{64 * 8 * 32, 32, 8 * 32, 1};
  const ValueId q = b.view(x, {heads, strides, Dtype::kF32});
  const ValueId turned = b.compute("mul", {q, c}, f32(heads));
  const ValueId last = b.compute("neg", {b.view(x, {half, strides, Dtype::kF32}, 64)}, f32(half));
  const ValueId swapped = b.compute("cat", {last, b.view(x, {half, strides, Dtype::kF32})},
                                    f32(heads), with(AttrKey::kDim, int64_t{-1}));
  const ValueId sum = b.compute("add", {turned, swapped}, f32(heads));
  b.output("y", sum, heads, Layout{});
  const auto plan = b.finish();
  EXPECT_EQ(groups_of(*plan), (std::vector<Kernels>{{"mul", "neg", "cat", "add", "clone"}}));
  expect_same_bits(plan);
}

TEST(Fusion, AStepThatNeedsAllSlicesRunsBehindTheGroup) {
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {128, 256}, Layout{});
  const ValueId a = b.compute("exp", {x}, f32({128, 256}));
  const ValueId columns = b.compute("sum", {a}, f32({1, 256}), reduce({0}));
  const ValueId n = b.compute("neg", {a}, f32({128, 256}));
  b.output("n", n, {128, 256}, Layout{});
  b.output("columns", columns, {1, 256}, Layout{});
  const auto plan = b.finish();
  EXPECT_EQ(groups_of(*plan), (std::vector<Kernels>{{"exp", "neg", "clone"}}));
  expect_same_bits(plan);
}

// The second group recomputes the values that the first one computed from x in bf16.
TEST(Fusion, WhatTakesFewerBytesIsComputedAgain) {
  ProgramBuilder b({{"a", 1}});
  const Dims shape{128, 256};
  const ValueId x = b.input("x", Dtype::kBF16, shape, Layout{});
  const ValueId wide =
      b.compute("convert_element_type", {x}, f32(shape), with(AttrKey::kDtype, Dtype::kF32));
  const ValueId e = b.compute("exp", {wide}, f32(shape));
  const ValueId one_more = b.compute("add", {e, {}}, f32(shape), with(AttrKey::kOther, 1.0));
  const ValueId columns = b.compute("sum", {b.compute("div", {wide, one_more}, f32(shape))},
                                    f32({1, 256}), reduce({0}));
  const ValueId d = b.compute("mul", {wide, columns}, f32(shape));
  b.output("d", b.compute("add", {d, one_more}, f32(shape)), shape, Layout{});
  const auto plan = b.finish();
  EXPECT_EQ(groups_of(*plan),
            (std::vector<Kernels>{{"convert_element_type", "exp", "add", "div"},
                                  {"convert_element_type", "exp", "add", "mul", "add", "clone"}}));
  expect_same_bits(plan);
}

TEST(Fusion, WhatNeedsItEndsTheGroup) {
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {128, 256}, Layout{});
  const ValueId a = b.compute("exp", {x}, f32({128, 256}));
  const ValueId columns = b.compute("sum", {a}, f32({1, 256}), reduce({0}));
  const ValueId d = b.compute("div", {a, columns}, f32({128, 256}));
  b.output("d", d, {128, 256}, Layout{});
  const auto plan = b.finish();
  EXPECT_EQ(groups_of(*plan), (std::vector<Kernels>{{"div", "clone"}}));
  expect_same_bits(plan);
}

// `a` is read transposed. So no slice of `t` may be computed before all of `a` exists, and no slice
// of `c` may overwrite data that is still to be read.
TEST(Fusion, WhatIsReadTheOtherWayRoundIsThereBefore) {
  ProgramBuilder b({{"a", 1}});
  const Dims shape{128, 128};
  const ValueId x = b.input("x", Dtype::kF32, shape, Layout{});
  const ValueId a = b.compute("exp", {x}, f32(shape));
  const ValueId flat = b.view(a, {shape, {1, 128}, Dtype::kF32});
  const ValueId t = b.compute("neg", {flat}, f32(shape));
  const ValueId c = b.compute("mul", {t, x}, f32(shape));
  b.output("c", c, shape, Layout{});
  expect_same_bits(b.finish());
}

TEST(Fusion, StepsStayOnTheirSideOfOtherStreams) {
  ProgramBuilder b({{"a", 2}});
  const Dims shape{128, 256};
  const ValueId x = b.input("x", Dtype::kF32, shape, Layout{});
  const ValueId a = b.compute("exp", {x}, f32(shape));
  const ValueId n = b.compute("neg", {a}, f32(shape));
  const ValueId r = b.collective(CollectiveKind::kAllReduce, {0}, n, shape);
  const ValueId s = b.compute("add", {a, r}, f32(shape));
  b.output("s", s, shape, Layout{});
  const auto plan = b.finish();
  EXPECT_EQ(groups_of(*plan), (std::vector<Kernels>{{"exp", "neg"}, {"add", "clone"}}));
  expect_same_bits(plan);
}

TEST(Slices, LoopsCutLeadingDimsAndShareWhatIsBroadcast) {
  EXPECT_EQ(loops_for({8, 256, 512}, 2048), (Dims{8, 64}));
  EXPECT_EQ(loops_for({2048, 4096}, 2048), (Dims{2048}));
  EXPECT_EQ(loops_for({4, 4}, 2048), Dims{});
  const auto flat = slice_of(f32({2048, 512}), {2048, 512}, {8, 64});
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->type.shape, (Dims{4, 512}));
  EXPECT_EQ(flat->stride_bytes, (Dims{256 * 512 * 4, 4 * 512 * 4}));
  const auto row = slice_of(f32({512}), {8, 256, 512}, {8, 64});
  ASSERT_TRUE(row);
  EXPECT_EQ(row->type.shape, (Dims{512}));
  EXPECT_EQ(row->stride_bytes, (Dims{0, 0}));
  EXPECT_FALSE(slice_of(f32({9, 256}), {9, 256}, {8, 64}));
}

}  // namespace
}  // namespace shw::runtime
