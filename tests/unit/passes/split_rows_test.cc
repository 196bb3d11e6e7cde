#include "passes/split_rows.h"

#include "simulate/simulate.h"
#include "sketch.h"

namespace shw {
namespace {

using Sketch = testing::TensorSketch;
using Names = std::vector<std::string>;

// On 4 ranks with 8 rows each.
constexpr int64_t kHolders = 4, kOwnRows = 8, kWidth = 8, kResults = 5;

FusePrices prices_of(double collective_us, double copy_us = 0) {
  return {[=](CollectiveKind, uint32_t, int64_t) { return collective_us; },
          [=](int64_t) { return copy_us; }};
}

// x is gathered and multiplied by w. `reads_all`: another step reads all of the gathered tensor.
struct GatheredRows {
  Sketch s;
  ValueId x, gathered, y;
  explicit GatheredRows(bool reads_all = false) {
    x = s.step("relu", {s.input({kOwnRows, kWidth})}, {kOwnRows, kWidth}, 1);
    const ValueId w = s.input({kWidth, kResults});
    gathered = s.step("all_gather", {x}, {kHolders, kOwnRows, kWidth}, 10);
    ProgramValue rows = s.p.values[gathered];
    rows.type = row_major(Dtype::kF32, {kHolders * kOwnRows, kWidth});
    const ValueId whole = s.p.values.push_back(rows);
    y = s.step("mm", {whole, w}, {kHolders * kOwnRows, kResults}, 40);
    s.output(s.step("exp", {y}, {kHolders * kOwnRows, kResults}, 1));
    if (reads_all) s.output(s.step("sort", {whole}, {kHolders * kOwnRows, kWidth}, 1));
  }
  uint32_t split(const FusePrices& prices) {
    const uint32_t count = split_rows(s.p, prices);
    const Status sound = verify(s.p, false);
    EXPECT_TRUE(sound.ok()) << sound.message() << "\n" << to_text(s.p);
    return count;
  }
};

TEST(SplitRows, AGatherAndItsProductGoPartByPart) {
  GatheredRows g;
  // Four parts would not save more time than two.
  EXPECT_EQ(g.split(prices_of(6)), 1u);
  Names names = {"relu", "all_gather", "all_gather"};
  names.insert(names.end(), 8, "mm");
  names.emplace_back("exp");
  EXPECT_EQ(g.s.kernels(), names);
  const Program& p = g.s.p;
  for (int64_t part = 0; part < 2; ++part) {
    const ProgramStep& gather = p.steps[1 + part];
    const ProgramValue &from = p.values[gather.inputs[0]], &to = p.values[gather.outputs[0]];
    EXPECT_EQ(from.storage, p.values[g.x].storage);
    EXPECT_EQ(from.offset_bytes, part * (kOwnRows / 2) * kWidth * 4);
    EXPECT_EQ(to.type.shape, (Dims{kHolders, kOwnRows / 2 * kWidth}));
    EXPECT_EQ(gather.cost_us, 6);
    for (int64_t rank = 0; rank < kHolders; ++rank) {
      const ProgramStep& product = p.steps[3 + part * kHolders + rank];
      const ProgramValue &in = p.values[product.inputs[0]], &out = p.values[product.outputs[0]];
      EXPECT_EQ(in.storage, to.storage);
      EXPECT_EQ(in.offset_bytes, to.offset_bytes + rank * (kOwnRows / 2) * kWidth * 4);
      EXPECT_EQ(in.type.shape, (Dims{kOwnRows / 2, kWidth}));
      EXPECT_EQ(out.storage, p.values[g.y].storage);
      EXPECT_EQ(out.offset_bytes, (rank * kOwnRows + part * kOwnRows / 2) * kResults * 4);
      EXPECT_EQ(product.cost_us, 5);
    }
  }
  EXPECT_EQ(g.split(prices_of(6)), 0u) << "they are split already";
}

TEST(SplitRows, APartsProductRunsBesideTheNextPartsGather) {
  GatheredRows g;
  ASSERT_EQ(g.split(prices_of(6)), 1u);
  g.s.run(kScheduleCollectives);
  const Simulation times = simulate(g.s.p, g.s.p.entries[0]);
  EXPECT_EQ(times.exposed_us, 6) << to_text(g.s.p);
  EXPECT_EQ(times.total_us, 1 + 6 + 40 + 1);
}

TEST(SplitRows, WhatElseReadsTheGatheredTensorGetsItInOrder) {
  GatheredRows g(true);
  ASSERT_EQ(g.split(prices_of(6, 1)), 1u);
  const Names names = g.s.kernels();
  ASSERT_EQ(names[names.size() - 2], "clone");
  const ProgramStep& clone = g.s.p.steps[names.size() - 2];
  const ProgramValue &from = g.s.p.values[clone.inputs[0]], &to = g.s.p.values[clone.outputs[0]];
  const int64_t block = kOwnRows / 2 * kWidth;
  EXPECT_EQ(from.type.strides, (Dims{block, kHolders * block, 1})) << "parts are outermost";
  EXPECT_EQ(to.storage, g.s.p.values[g.gathered].storage);
  EXPECT_TRUE(to.type.contiguous());
}

TEST(SplitRows, OnlyWhereThatSavesTime) {
  GatheredRows dear_parts, dear_copy(true), dear_products;
  EXPECT_EQ(dear_parts.split(prices_of(10)), 0u);
  EXPECT_EQ(dear_copy.split(prices_of(6, 4.1)), 0u);
  EXPECT_EQ(dear_products.split(prices_of(6, 5.5)), 0u) << "eight times that is more than 40";
}

// x · w is summed over the ranks, and each rank keeps its rows.
struct ScatteredRows {
  Sketch s;
  ValueId x, z;
  ScatteredRows() {
    x = s.input({kHolders * kOwnRows, kWidth});
    const ValueId y =
        s.step("mm", {x, s.input({kWidth, kResults})}, {kHolders * kOwnRows, kResults}, 40);
    ProgramValue blocks = s.p.values[y];
    blocks.type = row_major(Dtype::kF32, {kHolders, kOwnRows * kResults});
    z = s.step("reduce_scatter", {s.p.values.push_back(blocks)}, {kOwnRows, kResults}, 10);
    s.output(s.step("exp", {z}, {kOwnRows, kResults}, 1));
  }
};

TEST(SplitRows, AProductAndItsScatterGoPartByPart) {
  ScatteredRows g;
  ASSERT_EQ(split_rows(g.s.p, prices_of(6)), 1u);
  const Program& p = g.s.p;
  ASSERT_TRUE(verify(p, false).ok()) << verify(p, false).message();
  EXPECT_EQ(g.s.kernels(), (Names{"mm", "mm", "mm", "mm", "reduce_scatter", "mm", "mm", "mm", "mm",
                                  "reduce_scatter", "exp"}));
  const ProgramStep &product = p.steps[6], &scatter = p.steps[9];  // rank 1, part 1
  EXPECT_EQ(p.values[product.inputs[0]].offset_bytes, (kOwnRows + kOwnRows / 2) * kWidth * 4);
  EXPECT_EQ(p.values[product.outputs[0]].offset_bytes,
            (kHolders + 1) * (kOwnRows / 2) * kResults * 4);
  EXPECT_EQ(p.values[scatter.inputs[0]].storage, p.values[product.outputs[0]].storage);
  EXPECT_EQ(p.values[scatter.outputs[0]].storage, p.values[g.z].storage);
  EXPECT_EQ(p.values[scatter.outputs[0]].offset_bytes, kOwnRows / 2 * kResults * 4);
  g.s.run(kScheduleCollectives);
  EXPECT_EQ(simulate(p, p.entries[0]).total_us, 40 + 6 + 1);
}

// A step with several results, the first of which is unused, is not a product.
TEST(SplitRows, NotWhatNoProductMakes) {
  ScatteredRows g;
  ProgramStep& step = g.s.p.steps[0];
  step.kernel = "max";
  step.inputs.pop_back();
  step.outputs.insert(step.outputs.begin(), ValueId());
  EXPECT_EQ(split_rows(g.s.p, prices_of(6)), 0u);
}

TEST(SplitRows, ASmallProgramStaysAsItIsWhereItsStepDoesNotBecomeShorter) {
  for (const bool hidden : {false, true}) {
    SCOPED_TRACE(hidden);
    GatheredRows g;
    if (hidden) {  // a long product hides the gather anyway
      g.s.output(g.s.step("mm", {g.s.input({8, 8}), g.s.input({8, 8})}, {8, 8}, 100));
      std::vector<ProgramStep>& steps = g.s.p.steps;
      std::rotate(steps.begin() + 2, steps.end() - 1, steps.end());
    }
    const size_t before = g.s.p.steps.size();
    Monitor monitor;
    ASSERT_TRUE(split_rows_where_faster(g.s.p, prices_of(6), g.s.options, monitor).ok());
    EXPECT_EQ(g.s.p.steps.size() > before, !hidden);
  }
}

}  // namespace
}  // namespace shw
