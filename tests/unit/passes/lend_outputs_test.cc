// Scratch that is placed in the memory of outputs until these are written.
#include "passes/lend_outputs.h"

#include <gtest/gtest.h>

#include "sketch.h"

namespace shw {
namespace {

using testing::TensorSketch;

class LendOutputs : public ::testing::Test {
 protected:
  const ProgramStorage& storage(ValueId v) const { return s_.p.storages[s_.p.values[v].storage]; }
  bool is_lent(ValueId v) const { return storage(v).kind == StorageKind::kInOutput; }
  uint32_t plan() { return s_.run(kPlanMemory); }

  TensorSketch s_;
  ValueId x_ = s_.input({64});
};

// Two outputs: one of 256 bytes at the end, and one of 1024 bytes before it.
TEST_F(LendOutputs, HoldScratchUntilTheyAreWritten) {
  const ValueId a = s_.step("exp", {x_}, {64});
  const ValueId b = s_.step("tanh", {a}, {64});
  const ValueId wide = s_.step("cat", {b, b, a, a}, {256});
  s_.output(wide);
  const ValueId last = s_.step("neg", {b}, {64});
  s_.output(last);
  plan();
  EXPECT_EQ(s_.p.arena_bytes, 512);
  EXPECT_FALSE(is_lent(a) || is_lent(b));

  s_.options.lends_outputs = true;
  EXPECT_EQ(plan(), 2u) << "the one that goes, and the one that takes its place";
  // Both tensors are still read when the wide output is written. The second one is still read when
  // the last output is written.
  EXPECT_TRUE(is_lent(a));
  EXPECT_EQ(storage(a).port, storage(last).port);
  EXPECT_EQ(storage(a).offset_bytes, 0);
  EXPECT_FALSE(is_lent(b));
  EXPECT_EQ(s_.p.arena_bytes, 256);
  EXPECT_EQ(s_.p.live_peak_bytes, 256);
  EXPECT_EQ(lendable_bytes(s_.p, s_.options), 1024 + 256);
  EXPECT_EQ(plan(), 0u) << "planned again, nothing changes";

  s_.options.lends_outputs = false;
  EXPECT_EQ(plan(), 2u) << "the one that comes back, and the one that makes room";
  EXPECT_EQ(s_.p.arena_bytes, 512);
  EXPECT_EQ(lendable_bytes(s_.p, s_.options), 0);
}

TEST_F(LendOutputs, HoldSeveralSideBySideAndOneAfterAnother) {
  std::vector<ValueId> chain{s_.step("exp", {x_}, {64})};
  for (int i = 0; i < 4; ++i) chain.push_back(s_.step("tanh", {chain.back()}, {64}));
  const ValueId end = s_.step("sum", {chain.back()}, {1});
  const ValueId wide = s_.step("expand", {end}, {128});
  s_.output(wide);
  s_.options.lends_outputs = true;
  plan();
  for (const ValueId v : chain) EXPECT_TRUE(is_lent(v));
  for (size_t i = 1; i < chain.size(); ++i)
    EXPECT_EQ(storage(chain[i]).offset_bytes, 256 - storage(chain[i - 1]).offset_bytes);
  EXPECT_EQ(s_.p.arena_bytes, 256) << "what the output is made of";
}

TEST_F(LendOutputs, DoNotHoldWhatCollectivesTouch) {
  const ValueId a = s_.step("exp", {x_}, {64});
  const ValueId all = s_.step("all_gather", {a}, {4, 64});
  const ValueId b = s_.step("tanh", {all}, {256});
  const ValueId c = s_.step("neg", {b}, {256});
  const ValueId last = s_.step("abs", {c}, {256});
  s_.output(last);
  s_.options.lends_outputs = true;
  plan();
  EXPECT_FALSE(is_lent(a) || is_lent(all));
  EXPECT_TRUE(is_lent(b));
}

TEST_F(LendOutputs, HoldNothingOfOtherEntries) {
  const ValueId a = s_.step("exp", {x_}, {64});
  const ValueId b = s_.step("tanh", {a}, {64});
  s_.output(b);
  ProgramEntry second;
  second.name = "second";
  second.inputs = s_.p.entries[0].inputs;
  second.first_step = 2;
  const ValueId c = s_.step("neg", {x_}, {64});
  const ValueId d = s_.step("abs", {c}, {64});
  const ValueId e = s_.step("neg", {d}, {64});
  s_.output(e);
  second.outputs = {s_.p.entries[0].outputs.back()};
  s_.p.entries[0].outputs.pop_back();
  s_.p.entries[0].num_steps = 2;
  second.num_steps = 3;
  s_.p.entries.push_back(second);
  s_.options.lends_outputs = true;
  plan();
  EXPECT_FALSE(is_lent(a)) << "the output that is free then is not the entry's";
  EXPECT_TRUE(is_lent(c));
}

}  // namespace
}  // namespace shw
