#include "recompute/shorten_lives.h"

#include <algorithm>

#include "recompute/fullest_step.h"
#include "unit/passes/sketch.h"

namespace shw {
namespace {

using testing::TensorSketch;
using Names = std::vector<std::string>;

int64_t fullest_bytes(const Program& p) { return fullest_step(p).live_bytes; }

ShortenedLives shorten(TensorSketch& s, int64_t bytes, const LifeRules& rules = {}) {
  const ShortenedLives lives = shorten_lives(s.p, bytes, rules);
  const Status sound = verify(s.p, false);
  EXPECT_TRUE(sound.ok()) << sound.message() << "\n" << to_text(s.p);
  EXPECT_EQ(lives.peak_bytes, fullest_bytes(s.p));
  return lives;
}

// w is gathered for two products, with a large product of two steps in between.
struct TwoReaders {
  TensorSketch s;
  ValueId w, gathered, first, last;
  explicit TwoReaders(Dims between = {256, 16}) {
    w = s.parameter({16, 64});
    const ValueId x = s.input({64, 64}), v = s.input({between[0], 64}), z = s.input({64, 16});
    gathered = s.step("all_gather", {w}, {4, 16, 64}, 5);
    first = s.step("mm", {x, whole()}, {64, 64}, 20);
    s.output(first);
    s.output(s.step("mm", {s.step("mm", {v, z}, between, 30), s.input({16, 16})}, between, 30));
    last = s.step("mm", {x, whole()}, {64, 64}, 20);
    s.output(last);
  }
  ValueId whole() {
    ProgramValue value = s.p.values[gathered];
    value.type = row_major(Dtype::kF32, {64, 64});
    return s.p.values.push_back(value);
  }
};

TEST(ShortenLives, AGatherIsDoneAgainInFrontOfItsNextReader) {
  TwoReaders two;
  EXPECT_EQ(fullest_bytes(two.s.p), 2 * 16384);
  const ShortenedLives lives = shorten(two.s, 16384);
  EXPECT_EQ(two.s.kernels(), (Names{"all_gather", "mm", "mm", "mm", "all_gather", "mm"}));
  EXPECT_EQ(lives.peak_bytes, 16384);
  EXPECT_EQ(lives.more_us, 5);
  const Program& p = two.s.p;
  EXPECT_EQ(p.steps[4].inputs, std::vector<ValueId>{two.w});
  EXPECT_TRUE(p.steps[4].recomputed);
  EXPECT_FALSE(p.steps[0].recomputed);
  const ProgramValue& read = p.values[p.steps[5].inputs[1]];
  EXPECT_EQ(read.storage, p.values[p.steps[4].outputs[0]].storage);
  EXPECT_EQ(read.type.shape, (Dims{64, 64})) << "the same window";
  EXPECT_EQ(p.values[p.steps[1].inputs[1]].storage, p.values[two.gathered].storage);
}

TEST(ShortenLives, NothingChangesWhereItFits) {
  TwoReaders two;
  const std::string before = to_text(two.s.p);
  const ShortenedLives lives = shorten(two.s, 2 * 16384);
  EXPECT_EQ(to_text(two.s.p), before);
  EXPECT_EQ(lives.more_us, 0);
}

TEST(ShortenLives, NotWhatHasBeenOverwritten) {
  TwoReaders two;
  Program& p = two.s.p;
  ProgramStep update;  // updates the parameter before the last product
  update.kernel = "neg";
  update.inputs = update.outputs = {two.w};
  update.in_place = 0;
  const auto port = static_cast<uint32_t>(p.ports.size());
  p.entries[0].outputs.push_back(p.ports.push_back(
      {"update." + std::to_string(port), PortRole::kUpdate, p.values[two.w].type, {}, two.w}));
  p.steps.insert(p.steps.end() - 1, update);
  ++p.entries[0].num_steps;
  ASSERT_TRUE(verify(p, false).ok()) << verify(p, false).message();
  EXPECT_EQ(shorten(two.s, 16384).peak_bytes, 2 * 16384);

  std::swap(p.steps[p.steps.size() - 2], p.steps.back());  // after the last product
  EXPECT_EQ(shorten(two.s, 16384).peak_bytes, 16384);
}

// A tag of the graph states that the backward pass must not repeat the gather.
TEST(ShortenLives, WhatMustBeKeptForTheBackwardPassIs) {
  for (const bool tagged : {false, true}) {
    TwoReaders two;
    two.s.p.steps[0].node = 3;
    two.s.p.steps.back().phase = 1;
    const LifeRules rules{.kept_nodes = {0, 0, 0, tagged}};
    EXPECT_EQ(shorten(two.s, 16384, rules).peak_bytes, tagged ? 2 * 16384 : 16384);
  }
}

TEST(ShortenLives, NoRegionWhoseBodyIsUnknown) {
  TensorSketch s;
  const ValueId x = s.input({64, 64});
  const ValueId early = s.step("local_map", {x}, {64, 64}, 3);
  s.output(s.step("mm", {x, early}, {64, 64}, 9));
  s.output(s.step("mm", {s.step("mm", {x, x}, {64, 64}, 9), x}, {64, 64}, 9));
  s.output(s.step("mm", {x, early}, {64, 64}, 9));
  EXPECT_EQ(shorten(s, 16384).peak_bytes, 2 * 16384);
}

// No result of the step is needed until the end.
TEST(ShortenLives, AStepThatIsNotNeededEarlierMoves) {
  TensorSketch s;
  const ValueId x = s.input({64, 64});
  const ValueId early = s.step("exp", {x}, {64, 64}, 3);
  s.output(s.step("mm", {s.step("mm", {x, x}, {64, 64}, 9), x}, {64, 64}, 9));
  s.output(s.step("mm", {x, early}, {64, 64}, 9));
  EXPECT_EQ(fullest_bytes(s.p), 2 * 16384);
  const ShortenedLives lives = shorten(s, 16384);
  EXPECT_EQ(s.kernels(), (Names{"mm", "mm", "exp", "mm"}));
  EXPECT_EQ(lives.more_us, 0);
  EXPECT_FALSE(s.p.steps[2].recomputed);
}

// If only the moving step reads its operand, the operand's step moves too, and neither step runs
// twice. If another step reads the operand, the operand is computed again.
TEST(ShortenLives, WhatOnlyAMovingStepReadsMovesWithIt) {
  for (const bool is_shared : {false, true}) {
    SCOPED_TRACE(is_shared);
    TensorSketch s;
    const ValueId x = s.input({64, 64});
    const ValueId operand = s.step("exp", {x}, {64, 64}, 3);
    const ValueId held = s.step("sin", {operand}, {64, 64}, 3);
    if (is_shared) s.output(s.step("cos", {operand}, {64, 64}, 3));
    const ValueId large = s.step("mm", {x, x}, {64, 64}, 9);
    s.output(s.step("mm", {large, s.step("mm", {large, x}, {64, 64}, 9)}, {64, 64}, 9));
    s.output(s.step("mm", {x, held}, {64, 64}, 9));
    EXPECT_EQ(fullest_bytes(s.p), 3 * 16384);
    const ShortenedLives lives = shorten(s, 2 * 16384);
    EXPECT_EQ(s.kernels(), is_shared ? (Names{"exp", "cos", "mm", "mm", "mm", "exp", "sin", "mm"})
                                     : (Names{"mm", "mm", "mm", "exp", "sin", "mm"}));
    EXPECT_EQ(lives.more_us, is_shared ? 3 : 0);
    const size_t sine = s.p.steps.size() - 2;
    EXPECT_FALSE(s.p.steps[sine].recomputed);
    EXPECT_EQ(s.p.steps[sine - 1].recomputed, is_shared);
  }
}

// The held value was made from an operand that is gone by then. A small operand is held. A large
// operand is computed again.
TEST(ShortenLives, OperandsAreHeldOrComputedAgain) {
  for (const bool is_small : {true, false}) {
    SCOPED_TRACE(is_small);
    TensorSketch s;
    const ValueId x = s.input({64, 64}), row = s.input({1, 64});
    const ValueId operand =
        is_small ? s.step("exp", {row}, {1, 64}, 3) : s.step("exp", {x}, {64, 64}, 3);
    const ValueId held = s.step("sin", {operand}, {64, 64}, 3);
    s.output(s.step("mm", {x, held}, {64, 64}, 9));
    const ValueId large = s.step("mm", {x, x}, {64, 64}, 9);
    s.output(s.step("mm", {large, s.step("mm", {large, x}, {64, 64}, 9)}, {64, 64}, 9));
    s.output(s.step("mm", {x, held}, {64, 64}, 9));
    EXPECT_EQ(fullest_bytes(s.p), 3 * 16384);
    const int64_t least = 2 * 16384 + (is_small ? 256 : 0);
    const ShortenedLives lives = shorten(s, least);
    const Names again = is_small ? Names{"exp", "sin", "mm", "mm", "mm", "mm", "sin", "mm"}
                                 : Names{"exp", "sin", "mm", "mm", "mm", "mm", "exp", "sin", "mm"};
    EXPECT_EQ(s.kernels(), again);
    EXPECT_EQ(lives.more_us, is_small ? 3 : 6);
    EXPECT_EQ(lives.peak_bytes, least);
  }
}

TEST(ShortenLives, ChangesDoNotDependOnTheBytesThatAreAskedFor) {
  TwoReaders one, other;
  shorten(one.s, 0);
  shorten(other.s, 16384);
  shorten(other.s, 0);
  EXPECT_EQ(to_text(one.s.p), to_text(other.s.p));
}

// f32[64,64] is 16 KiB. The values in between are 8 KiB when computed in two parts.
struct Chain {
  TensorSketch s;
  ValueId x, a, b, y;
  Chain() {
    x = s.input({64, 64});
    a = s.step("exp", {x}, {64, 64}, 8);
    b = s.step("sin", {a}, {64, 64}, 8);
    y = s.step("mul", {a, b}, {64, 64}, 8);
    s.output(y);
  }
};

TEST(RowParts, PointwiseStepsRunForSomeRowsAtATime) {
  Chain c;
  EXPECT_EQ(fullest_bytes(c.s.p), 2 * 16384);
  const ShortenedLives lives = shorten(c.s, 16384);
  EXPECT_EQ(c.s.kernels(), (Names{"exp", "sin", "mul", "exp", "sin", "mul"}));
  EXPECT_EQ(lives.peak_bytes, 16384);
  const Program& p = c.s.p;
  for (uint32_t part : {0u, 1u}) {
    const ProgramStep &exp = p.steps[3 * part], &mul = p.steps[3 * part + 2];
    EXPECT_EQ(p.values[exp.inputs[0]].offset_bytes, part * 8192);
    EXPECT_EQ(p.values[exp.inputs[0]].type.shape, (Dims{32, 64}));
    EXPECT_EQ(p.values[p.steps[3 * part + 1].inputs[0]].storage, p.values[exp.outputs[0]].storage);
    EXPECT_EQ(p.storages[p.values[exp.outputs[0]].storage].bytes, 8192);
    EXPECT_EQ(p.values[mul.outputs[0]].storage, p.values[c.y].storage);
    EXPECT_EQ(p.values[mul.outputs[0]].offset_bytes, part * 8192);
    EXPECT_EQ(mul.cost_us, 4);
  }
  EXPECT_NE(p.values[p.steps[0].outputs[0]].storage, p.values[p.steps[3].outputs[0]].storage);
}

// Values that only a group sees need no memory, so there is nothing to shorten inside a group.
// Values beside the group are computed again in front of the whole group.
TEST(ShortenLives, StepsOfAGroupCountAsOne) {
  TensorSketch s;
  const ValueId x = s.input({128, 128}), w = s.parameter({32, 128});
  const ValueId g = s.step("all_gather", {w}, {4, 32, 128}, 5);
  s.output(s.step("sort", {g}, {128, 128}, 20));
  ValueId large = s.step("sort", {x}, {512, 128}, 20);
  large = s.step("sort", {large}, {512, 128}, 20);
  s.output(s.step("sort", {large}, {128, 128}, 20));
  const ValueId a = s.step("exp", {x}, {128, 128}, 8);
  ProgramValue whole = s.p.values[g];
  whole.type = row_major(Dtype::kF32, {128, 128});
  s.output(s.step("mul", {a, s.p.values.push_back(whole)}, {128, 128}, 8));
  const ShortenedLives lives = shorten_lives(s.p, 0, {.with_groups = true});
  EXPECT_TRUE(verify(s.p, false).ok());
  EXPECT_TRUE(s.p.fused_groups.empty());
  EXPECT_EQ(lives.peak_bytes, 2 * 4 * 65536) << "the large ones";
  EXPECT_EQ(s.kernels(),
            (Names{"all_gather", "sort", "sort", "sort", "sort", "all_gather", "exp", "mul"}));
}

TEST(RowParts, WhatOthersReadStaysWhole) {
  Chain c;
  c.s.output(c.s.step("sort", {c.b}, {64, 64}));
  EXPECT_EQ(shorten(c.s, 16384 * 3 / 2).peak_bytes, 16384 * 3 / 2) << "b, and half of a";
  const Program& p = c.s.p;
  EXPECT_EQ(c.s.kernels(), (Names{"exp", "sin", "mul", "exp", "sin", "mul", "sort"}));
  for (uint32_t part : {0u, 1u}) {
    const ProgramValue& b = p.values[p.steps[3 * part + 1].outputs[0]];
    EXPECT_EQ(b.storage, p.values[c.b].storage);
    EXPECT_EQ(b.offset_bytes, part * 8192);
  }
}

// Products are split by rows of their results if the parts do not take much longer.
TEST(RowParts, ProductsWhereTheirPartsTakeLittleLonger) {
  for (const bool dear : {false, true}) {
    SCOPED_TRACE(dear);
    TensorSketch s;
    const ValueId x = s.input({64, 16}), w = s.input({16, 64}), v = s.input({64, 8});
    s.output(s.step("mm", {s.step("exp", {s.step("mm", {x, w}, {64, 64}, 20)}, {64, 64}, 4), v},
                    {64, 8}, 20));
    const ShortenedLives lives =
        shorten_lives(s.p, 16384, {.copy_us = [&](int64_t) { return dear ? 15.0 : 0.0; }});
    EXPECT_TRUE(verify(s.p, false).ok()) << verify(s.p, false).message();
    const Names whole = {"mm", "exp", "mm"}, parts = {"mm", "exp", "mm", "mm", "exp", "mm"};
    EXPECT_EQ(s.kernels(), dear ? whole : parts);
    EXPECT_EQ(lives.peak_bytes, dear ? 2 * 16384 : 16384);
  }
}

// Of the steps in between, those that need none of the rows move in front, and those that need all
// rows move behind.
TEST(RowParts, OtherStepsMoveInFrontOrBehind) {
  TensorSketch s;
  const ValueId x = s.input({64, 64}), w = s.parameter({16});
  const ValueId a = s.step("exp", {x}, {64, 64}, 8);
  const ValueId y = s.step("sin", {a}, {64, 64}, 8);
  s.output(y);
  s.output(s.step("sort", {y}, {64, 64}, 8));
  ProgramValue row = s.p.values[s.step("all_gather", {w}, {4, 16}, 5)];
  row.type = row_major(Dtype::kF32, {1, 64});
  const ValueId b = s.step("mul", {a, s.p.values.push_back(row)}, {64, 64}, 8);
  s.output(s.step("mul", {a, b}, {64, 64}, 8));
  EXPECT_EQ(fullest_bytes(s.p), 2 * 16384 + 256);
  shorten(s, 16384 + 256);
  const Names part = {"exp", "sin", "mul", "mul"};
  Names all = {"all_gather"};
  for (int i = 0; i < 2; ++i) all.insert(all.end(), part.begin(), part.end());
  all.emplace_back("sort");
  EXPECT_EQ(s.kernels(), all) << to_text(s.p);
}

// The caller computes tangents from results, so nothing moves across a step that reads a tangent.
TEST(RowParts, NothingMovesAcrossTangents) {
  TensorSketch s;
  const ValueId x = s.input({64, 64}), g = s.input({64, 64}, PortRole::kTangent);
  const ValueId a = s.step("exp", {x}, {64, 64}, 8);
  const ValueId b = s.step("mul", {a, g}, {64, 64}, 8);
  s.output(s.step("mul", {a, b}, {64, 64}, 8), PortRole::kGradient);
  const std::string before = to_text(s.p);
  shorten(s, 16384);
  EXPECT_EQ(to_text(s.p), before);
}

}  // namespace
}  // namespace shw
