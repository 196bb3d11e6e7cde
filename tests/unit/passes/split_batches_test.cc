#include "passes/split_batches.h"

#include "simulate/simulate.h"
#include "sketch.h"

namespace shw {
namespace {

using Sketch = testing::TensorSketch;
using Names = std::vector<std::string>;

// On 4 ranks: two sequences of 4·3 rows with 8 elements each. Every rank has 3 rows of each
// sequence.
constexpr int64_t kBatch = 2, kRanks = 4, kRows = 3, kDepth = 8, kColumns = 5;

FusePrices prices(double collective_us) {
  return {[=](CollectiveKind, uint32_t, int64_t) { return collective_us; },
          [](int64_t) { return 0.0; }};
}

// x is gathered along its sequence dim and multiplied by w.
struct Gathered {
  Sketch s;
  ValueId x, gathered, whole, y;
  explicit Gathered(bool is_result = false) {
    x = s.step("relu", {s.input({kBatch, kRows, kDepth})}, {kBatch, kRows, kDepth});
    const ValueId w = s.input({kDepth, kColumns});
    gathered = s.step("all_gather", {x}, {kRanks, kBatch, kRows, kDepth}, 10);
    whole = s.step("clone", {view(gathered, {kBatch, kRanks, kRows * kDepth}, true)},
                   {kBatch, kRanks, kRows * kDepth}, 4);
    y = s.step("mm", {view(whole, {kBatch * kRanks * kRows, kDepth}), w},
               {kBatch * kRanks * kRows, kColumns}, 20);
    if (is_result) {
      s.output(y);
      const ValueId tangent = s.input({kBatch * kRanks * kRows, kColumns}, PortRole::kTangent);
      s.output(s.step("neg", {tangent}, {kBatch * kRanks * kRows, kColumns}), PortRole::kGradient);
    } else {
      s.output(s.step("exp", {y}, {kBatch * kRanks * kRows, kColumns}));
    }
  }
  // A view with other dims and the same bytes. `swapped`: the first two dims are exchanged in
  // memory.
  ValueId view(ValueId of, Dims shape, bool swapped = false) {
    ProgramValue v = s.p.values[of];
    v.type = row_major(Dtype::kF32, shape);
    if (swapped) v.type.strides = {shape[2], shape[0] * shape[2], 1};
    return s.p.values.push_back(v);
  }
  uint32_t split(double collective_us) {
    const uint32_t count = split_batches(s.p, prices(collective_us));
    const Status sound = verify(s.p, false);
    EXPECT_TRUE(sound.ok()) << sound.message() << "\n" << to_text(s.p);
    return count;
  }
};

TEST(SplitBatches, AGatherAndItsProductGoSequenceBySequence) {
  Gathered g;
  EXPECT_EQ(g.split(7), 1u);
  EXPECT_EQ(g.s.kernels(), (Names{"relu", "all_gather", "all_gather", "mm", "mm", "exp"}));
  const Program& p = g.s.p;
  for (size_t b = 0; b < 2; ++b) {
    const ProgramStep &gather = p.steps[1 + b], &product = p.steps[3 + b];
    const ProgramValue &from = p.values[gather.inputs[0]], &to = p.values[gather.outputs[0]];
    EXPECT_EQ(from.storage, p.values[g.x].storage);
    EXPECT_EQ(from.offset_bytes, static_cast<int64_t>(b) * kRows * kDepth * 4);
    EXPECT_EQ(to.storage, p.values[g.whole].storage);
    EXPECT_EQ(to.offset_bytes, static_cast<int64_t>(b) * kRanks * kRows * kDepth * 4);
    EXPECT_EQ(to.type.shape, (Dims{kRanks, kRows * kDepth}));
    EXPECT_EQ(gather.cost_us, 7);
    EXPECT_EQ(p.values[product.inputs[0]].offset_bytes, to.offset_bytes);
    EXPECT_EQ(p.values[product.inputs[0]].type.shape, (Dims{kRanks * kRows, kDepth}));
    EXPECT_EQ(p.values[product.outputs[0]].storage, p.values[g.y].storage);
    EXPECT_EQ(product.cost_us, 10);
  }
  EXPECT_EQ(g.split(7), 0u) << "they are split already";
}

TEST(SplitBatches, ResultsComeBeforeWhatReadsTangents) {
  Gathered g(true);
  EXPECT_EQ(g.split(7), 1u);
  EXPECT_EQ(g.s.kernels(), (Names{"relu", "all_gather", "all_gather", "mm", "mm", "neg"}));
}

TEST(SplitBatches, AllSequencesComeBeforeWhatMakesMoreThanItReads) {
  for (const int64_t columns : {1, 8, 9}) {
    SCOPED_TRACE(columns);
    Gathered g;
    const ValueId small = g.s.input({8});
    g.s.output(g.s.step("expand_copy", {small}, {columns}));
    std::swap(g.s.p.steps[4], g.s.p.steps[5]);  // between the product and its reader
    EXPECT_EQ(g.split(7), 1u);
    const Names first = {"relu", "all_gather", "all_gather", "mm"};
    const Names last =
        columns > 8 ? Names{"mm", "expand_copy", "exp"} : Names{"expand_copy", "mm", "exp"};
    Names all = first;
    all.insert(all.end(), last.begin(), last.end());
    EXPECT_EQ(g.s.kernels(), all);
  }
}

// The products read windows of one storage. The product of a sequence needs only what the gather of
// that sequence wrote.
TEST(SplitBatches, AProductRunsBesideTheGatherOfTheNextSequence) {
  Gathered g;
  g.split(7);
  g.s.run(kScheduleCollectives);
  const Program& p = g.s.p;
  ASSERT_EQ(g.s.kernels(), (Names{"relu", "all_gather", "all_gather", "mm", "mm", "exp"}));
  EXPECT_EQ(p.steps[3].waits, (std::vector<uint32_t>{p.steps[1].records}));
  EXPECT_EQ(p.steps[4].waits, (std::vector<uint32_t>{p.steps[2].records}));
  const Simulation times = simulate(p, p.entries[0]);
  EXPECT_EQ(times.at(3).start_us, 7);
  EXPECT_EQ(times.exposed_us, 7);
  EXPECT_EQ(times.total_us, 7 + 10 + 10);
  EXPECT_EQ(times.longest_chain_us, 7 + 10) << "no product needs the other";
}

TEST(SplitBatches, OnlyWherePartsTakeNoLonger) {
  Gathered g;
  EXPECT_EQ(g.split(7.1), 0u) << "twice that is more than gather and copy";
}

TEST(SplitBatches, NotWhereTheGatherIsReadToo) {
  Gathered g;
  g.s.output(g.s.step("neg", {g.gathered}, {kRanks, kBatch, kRows, kDepth}));
  EXPECT_EQ(g.split(1), 0u);
}

TEST(SplitBatches, AProductStaysWhereItsPartsTakeLonger) {
  Gathered g;
  const FusePrices dear{[](CollectiveKind, uint32_t, int64_t) { return 7.0; },
                        [](int64_t) { return 15.0; }};
  EXPECT_EQ(split_batches(g.s.p, dear), 1u);
  EXPECT_EQ(g.s.kernels(), (Names{"relu", "all_gather", "all_gather", "mm", "exp"}));
  EXPECT_TRUE(verify(g.s.p, false).ok());
}

// x · w is summed over the ranks, and each rank keeps its rows.
TEST(SplitBatches, AProductAndItsScatterGoSequenceBySequence) {
  Gathered g;
  Program& p = g.s.p;
  p.steps.resize(1);
  p.entries[0].outputs.clear();
  const ValueId x = g.s.input({kBatch * kRanks * kRows, kDepth}), w = g.s.input({kDepth, kDepth});
  const ValueId y = g.s.step("mm", {x, w}, {kBatch * kRanks * kRows, kDepth}, 20);
  const ValueId c = g.s.step("clone", {g.view(y, {kRanks, kBatch, kRows * kDepth}, true)},
                             {kRanks, kBatch, kRows * kDepth}, 4);
  const ValueId r = g.s.step("reduce_scatter", {c}, {kBatch, kRows, kDepth}, 10);
  g.s.output(g.s.step("exp", {r}, {kBatch, kRows, kDepth}));
  p.steps.erase(p.steps.begin());
  p.entries[0].num_steps = static_cast<uint32_t>(p.steps.size());
  EXPECT_EQ(g.split(6), 1u);
  EXPECT_EQ(g.s.kernels(), (Names{"mm", "mm", "reduce_scatter", "reduce_scatter", "exp"}));
  const ProgramStep& second = p.steps[3];
  EXPECT_EQ(p.values[second.inputs[0]].storage, p.values[y].storage);
  EXPECT_EQ(p.values[second.inputs[0]].type.shape, (Dims{kRanks, kRows * kDepth}));
  EXPECT_EQ(p.values[second.outputs[0]].storage, p.values[r].storage);
  EXPECT_EQ(p.values[second.outputs[0]].offset_bytes, kRows * kDepth * 4);
}

}  // namespace
}  // namespace shw
