// Groups of fused steps: what verify() refuses, and that a plan file preserves them.
#include <gtest/gtest.h>

#include <functional>

#include "unit/runtime/program_builder.h"

namespace shw {
namespace {

using testing::ProgramBuilder;

TensorType f32(const Dims& shape) { return row_major(Dtype::kF32, shape); }

// exp, neg and a copy of [8,16], in four slices of two rows each.
Plan grouped_plan() {
  ProgramBuilder b({{"a", 2}});
  const ValueId x = b.input("x", Dtype::kF32, {8, 16}, Layout{});
  const ValueId e = b.compute("exp", {x}, f32({8, 16}));
  const ValueId n = b.compute("neg", {e}, f32({8, 16}));
  b.output("y", n, {8, 16}, Layout{});
  Plan plan = *b.finish();
  plan.program.fused_groups = {{0, 3, {8, 16}, {4}}};
  return plan;
}

struct GroupDamage {
  const char* name;
  std::function<void(Program&)> doing;
  const char* says;
};

void expect_refused(std::span<const GroupDamage> damages) {
  for (const GroupDamage& damage : damages) {
    Program p = grouped_plan().program;
    damage.doing(p);
    const Status status = verify(p, true);
    EXPECT_FALSE(status.ok()) << damage.name;
    EXPECT_NE(std::string(status.message()).find(damage.says), std::string::npos)
        << damage.name << ": " << status.message();
  }
}

TEST(FusedGroups, ASoundOneIsAccepted) {
  const Status status = verify(grouped_plan().program, true);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(FusedGroups, SlicesCutTheShape) {
  const GroupDamage damages[] = {
      {"parts", [](Program& p) { p.fused_groups[0].slices = {3}; }, "do not cut"},
      {"none", [](Program& p) { p.fused_groups[0].slices = {0}; }, "do not cut"},
      {"negative", [](Program& p) { p.fused_groups[0].slices = {-4}; }, "do not cut"},
      {"no slices", [](Program& p) { p.fused_groups[0].slices = {}; }, "do not cut"},
      {"no dims", [](Program& p) { p.fused_groups[0].shape = {}; }, "do not cut"},
      {"no elements", [](Program& p) { p.fused_groups[0].shape[1] = 0; }, "do not cut"},
      {"large", [](Program& p) { p.fused_groups[0].shape[1] = INT64_MAX; }, "do not cut"},
      {"beyond",
       [](Program& p) {
         p.fused_groups[0].slices = {8, 16, 2};
       },
       "do not cut"},
      {"other shape", [](Program& p) { p.fused_groups[0].shape[1] = 32; }, "has its shape"},
  };
  expect_refused(damages);
}

TEST(FusedGroups, StepsAreInARow) {
  const GroupDamage damages[] = {
      {"one", [](Program& p) { p.fused_groups[0].num_steps = 1; }, "1 steps: expected 2 to 64"},
      {"many", [](Program& p) { p.fused_groups[0].num_steps = 65; }, "65 steps"},
      {"end", [](Program& p) { p.fused_groups[0].num_steps = 4; }, "of one entry"},
      {"begin", [](Program& p) { p.fused_groups[0].first_step = UINT32_MAX; }, "of one entry"},
      {"twice", [](Program& p) { p.fused_groups.push_back(p.fused_groups[0]); }, "share steps"},
      {"records",
       [](Program& p) {
         p.num_events = 1;
         p.steps[0].records = 0;
       },
       "step 0 waits or records"},
      {"waits",
       [](Program& p) {
         p.num_events = 1;
         p.fused_groups[0] = {1, 2, {8, 16}, {4}};
         p.steps[0].records = 0;
         p.steps[2].waits = {0};
       },
       "step 2 waits or records"},
  };
  expect_refused(damages);
}

TEST(FusedGroups, StepsRunInSlices) {
  const auto turn = [](Program& p, ValueId v) { p.values[v].type.strides = {1, 8}; };
  const GroupDamage damages[] = {
      {"kernel", [](Program& p) { p.steps[1].kernel = "softmax"; }, "step 1 does not run"},
      {"along the rows",
       [](Program& p) {
         p.steps[1].kernel = "cat";
         p.steps[1].attrs.set(AttrKey::kDim, int64_t{0});
       },
       "step 1 does not run"},
      {"no index", [](Program& p) { p.steps[1].kernel = "gather"; }, "step 1 does not run"},
      {"an index of every element",
       [](Program& p) {
         p.steps[1].kernel = "scatter";
         p.steps[1].inputs.push_back(p.steps[1].inputs[0]);
         p.steps[1].attrs.set(AttrKey::kDim, int64_t{1});
       },
       "step 1 does not run"},
      // exp's result is read transposed, so a slice needs all rows.
      {"turned",
       [&](Program& p) {
         const ValueId e = p.steps[1].inputs[0];
         p.steps[1].inputs[0] = p.values.push_back(p.values[e]);
         turn(p, p.steps[1].inputs[0]);
       },
       "a slice of step 1 touches bytes of other slices"},
  };
  expect_refused(damages);
}

// The last step's result is placed one row after the data that the first step reads. So a slice
// overwrites what the next slice has yet to read.
TEST(FusedGroups, MemoryIsUsedAgainWithinASliceOnly) {
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {8, 64}, Layout{});
  const ValueId a = b.compute("exp", {x}, f32({8, 64}));
  const ValueId c = b.compute("neg", {a}, f32({8, 64}));
  const ValueId d = b.compute("abs", {c}, f32({8, 64}));
  b.output("y", d, {8, 64}, Layout{});
  Program p = b.finish()->program;
  p.fused_groups = {{1, 2, {8, 64}, {8}}};
  p.storages[p.values[c].storage].offset_bytes = 4096;
  const auto lay_at = [&](int64_t offset) {
    p.storages[p.values[d].storage].offset_bytes = offset;
    return verify(p, true);
  };
  EXPECT_TRUE(lay_at(0).ok()) << lay_at(0).message();  // where `a` is placed
  EXPECT_NE(lay_at(256).message().find("a slice of step 2 touches bytes of other slices"),
            std::string::npos);
  p.fused_groups.clear();
  EXPECT_TRUE(lay_at(256).ok()) << lay_at(256).message();
}

// exp's result is placed in memory that only the group uses.
Program with_group_memory() {
  Program p = grouped_plan().program;
  ProgramStorage& s = p.storages[p.values[p.steps[0].outputs[0]].storage];
  s.kind = StorageKind::kGroup;
  s.offset_bytes = 0;
  p.group_bytes = s.bytes;
  return p;
}

TEST(FusedGroups, MemoryOfAGroupIsOfItsSlicesAlone) {
  const Status status = verify(with_group_memory(), true);
  EXPECT_TRUE(status.ok()) << status.message();
  Program outside = with_group_memory();
  outside.steps[2].inputs[0] = outside.steps[0].outputs[0];
  outside.fused_groups[0].num_steps = 2;
  EXPECT_NE(verify(outside, true).message().find("is a group's, and is not of its slices alone"),
            std::string::npos);
  Program ungrouped = with_group_memory();
  ungrouped.fused_groups.clear();
  EXPECT_NE(verify(ungrouped, true).message().find("is a group's"), std::string::npos);
  Program small = with_group_memory();
  small.group_bytes = 256;
  EXPECT_NE(verify(small, true).message().find("beyond the memory of groups"), std::string::npos);
  drop_fused_groups(ungrouped);
  EXPECT_TRUE(verify(ungrouped, false).ok());
}

TEST(FusedGroups, AFileKeepsThem) {
  Plan plan = grouped_plan();
  plan.program = with_group_memory();
  const auto bytes = write_plan(plan);
  const auto read = read_plan(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->program.fused_groups, plan.program.fused_groups);
  EXPECT_EQ(read->program.group_bytes, 512);
  EXPECT_EQ(write_plan(*read), bytes);
  EXPECT_NE(to_text(read->program).find(" together [8,16] in [4] slices: exp neg clone\n"),
            std::string::npos);
}

}  // namespace
}  // namespace shw
