// Which look-ups can run in slices, and the attributes of their slices.
#include "plan/sliced_step.h"

#include <gtest/gtest.h>

#include "unit/runtime/program_builder.h"

namespace shw {
namespace {

using testing::ProgramBuilder;

// scatter(x, index, source) of f32 along attrs.dim.
struct LookUp {
  std::string kernel = "scatter";
  Dims table{8, 4, 16}, index{8, 4, 1}, source{8, 4, 1}, result{8, 4, 16};
  Attrs attrs;
  bool in_place = false;

  explicit LookUp(int64_t dim = 2) { attrs.set(AttrKey::kDim, dim); }
  Program program() const {
    ProgramBuilder b({{"a", 2}});
    const auto f32 = [&](const char* name, const Dims& shape) {
      return b.input(name, Dtype::kF32, shape, Layout{});
    };
    std::vector<ValueId> inputs{f32("table", table), b.input("index", Dtype::kI64, index, {})};
    if (kernel != "gather") inputs.push_back(f32("source", source));
    b.compute(kernel, inputs, row_major(Dtype::kF32, result), attrs);
    if (in_place) b.program().steps[0].in_place = 0;
    return b.program();
  }
  bool runs() const { return !loop_shape(program(), program().steps[0]).empty(); }
};

TEST(SlicedStep, ALookUpAtOnePlaceOfEachLineRunsInSlices) {
  const LookUp scatter;
  const Program p = scatter.program();
  EXPECT_EQ(loop_shape(p, p.steps[0]), (Dims{8, 4, 16}));
  const auto sliced = slice_step(p, p.steps[0], {8});
  ASSERT_TRUE(sliced);
  EXPECT_EQ(sliced->attrs.get_int(AttrKey::kDim, 0), -1);
  EXPECT_EQ(sliced->inputs[0].type.shape, (Dims{4, 16}));
  EXPECT_EQ(sliced->inputs[1].type.shape, (Dims{4, 1}));
  EXPECT_EQ(sliced->outputs[0].type.shape, (Dims{4, 16}));
  // The shape that a gather reads is not its loop shape: a group of gathers alone would otherwise
  // run over all of it.
  LookUp gather;
  gather.kernel = "gather";
  gather.result = gather.index;
  const Program g = gather.program();
  EXPECT_EQ(loop_shape(g, g.steps[0]), (Dims{8, 4, 1}));
  EXPECT_TRUE(slice_step(g, g.steps[0], {8, 2}));
}

TEST(SlicedStep, ALookUpAlongACutDimDoesNot) {
  LookUp middle(1);
  middle.index = middle.source = {8, 1, 16};
  const Program p = middle.program();
  EXPECT_TRUE(slice_step(p, p.steps[0], {8}));
  EXPECT_FALSE(slice_step(p, p.steps[0], {8, 2}));
}

TEST(SlicedStep, OtherLookUpsDoNot) {
  EXPECT_TRUE(LookUp().runs());
  EXPECT_TRUE(LookUp(-1).runs());
  const auto other = [](const auto& change) {
    LookUp l;
    change(l);
    return l.runs();
  };
  const auto each = [](LookUp& l, const Dims& shape) { l.index = l.source = shape; };
  EXPECT_FALSE(other([&](LookUp& l) { each(l, {8, 4, 2}); }));  // several places of a line
  EXPECT_FALSE(other([&](LookUp& l) { each(l, {8, 2, 1}); }));  // not one for each line
  EXPECT_FALSE(other([](LookUp& l) { l.source = {8, 4, 16}; }));
  EXPECT_FALSE(other([](LookUp& l) { l.result = {8, 4, 1}; }));
  EXPECT_FALSE(other([](LookUp& l) { l.kernel = "scatter_add"; }));
  EXPECT_FALSE(other([](LookUp& l) { l.kernel = "scatter_reduce"; }));
  EXPECT_FALSE(other([](LookUp& l) { l.in_place = true; }));  // it touches one element of a line
  EXPECT_FALSE(LookUp(3).runs());
  EXPECT_FALSE(LookUp(-4).runs());
}

// The step works on a piece of [8,4,32] that is cut by rows and by columns. A slice is cut by
// columns only.
TEST(SlicedStep, ASliceKnowsWhereItsLastDimsLie) {
  LookUp of;
  of.attrs.set(AttrKey::kSize, std::vector<int64_t>{16, 4, 32});
  of.attrs.set(AttrKey::kCuts, std::vector<int64_t>{0, 0, 0, 2});
  const auto cut = [](const LookUp& l, const SliceLoops& loops) {
    const Program p = l.program();
    return slice_step(p, p.steps[0], loops);
  };
  const auto rows = cut(of, {8}), lines = cut(of, {8, 4});
  ASSERT_TRUE(rows && lines);
  EXPECT_EQ(rows->attrs.get_ints(AttrKey::kSize), (std::vector<int64_t>{4, 32}));
  EXPECT_EQ(rows->attrs.get_ints(AttrKey::kCuts), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(lines->attrs.get_ints(AttrKey::kSize), (std::vector<int64_t>{32}));
  EXPECT_EQ(lines->attrs.get_ints(AttrKey::kCuts), (std::vector<int64_t>{0, 0}));
  for (const int64_t dim : {-1, 3}) {
    of.attrs.set(AttrKey::kCuts, std::vector<int64_t>{0, dim});
    EXPECT_FALSE(cut(of, {8})) << dim;
  }
  of.attrs.set(AttrKey::kCuts, std::vector<int64_t>{0});
  EXPECT_FALSE(cut(of, {8}));
  of.attrs.set(AttrKey::kCuts, std::vector<int64_t>{0, 2});
  of.attrs.set(AttrKey::kSize, std::vector<int64_t>{32});
  EXPECT_FALSE(cut(of, {8}));
}

}  // namespace
}  // namespace shw
