#include "measure/probe.h"

#include <gtest/gtest.h>

namespace shw::measure {
namespace {

int64_t offset_of(ProbeMaker& maker, ValueId value) {
  return maker.program().values[value].offset_bytes;
}

TEST(ProbeMaker, ReadsAllOperandsFromTheBegin) {
  ProbeMaker maker({{"rank", 1}}, 4096, 4096);
  const TensorType type = row_major(Dtype::kF32, {64});
  for (const Source source : {Source::kFirst, Source::kSecond, Source::kThird})
    for (int i = 0; i < 3; ++i) EXPECT_EQ(offset_of(maker, maker.operand(source, type)), 0);
}

// The first operand has just been written. Other operands of its size were read three positions
// earlier.
TEST(ProbeMaker, OperandsBehindTheFirstTakeTurns) {
  ProbeMaker maker({{"rank", 1}}, 4096, 4096);
  maker.take_turns(3, 4096);
  const TensorType type = row_major(Dtype::kF32, {64});  // 256 bytes
  std::vector<int64_t> second, third;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(offset_of(maker, maker.operand(Source::kFirst, type)), 0);
    second.push_back(offset_of(maker, maker.operand(Source::kSecond, type)));
    third.push_back(offset_of(maker, maker.operand(Source::kThird, type)));
  }
  EXPECT_EQ(second, (std::vector<int64_t>{0, 256, 512, 0}));
  EXPECT_EQ(third, second);
}

TEST(ProbeMaker, TurnsStayWithinTheSource) {
  ProbeMaker maker({{"rank", 1}}, 4096, 4096);
  maker.take_turns(64, 4096);
  TensorType gaps = row_major(Dtype::kF32, {2, 64});
  gaps.strides[0] = 256;  // 1280 bytes from the first element to the last one
  for (int i = 0; i < 20; ++i) {
    EXPECT_LE(offset_of(maker, maker.operand(Source::kSecond, gaps)) + 1280, 4096);
    const TensorType all = row_major(Dtype::kF32, {1024});
    EXPECT_EQ(offset_of(maker, maker.operand(Source::kSecond, all)), 0);
  }
}

// Steps of about the same size write to memory that none of the last few steps wrote.
TEST(ProbeMaker, ResultsTakeTurns) {
  ProbeMaker maker({{"rank", 1}}, 4096, 4096);
  maker.take_turns(3, 4096);
  const TensorType type = row_major(Dtype::kF32, {64});
  ProbeMaker::Step step;
  step.step.kernel = "neg";
  step.step.inputs = {maker.operand(Source::kFirst, type)};
  step.results = {type};
  maker.add_entry({step, step, step, step});
  Program& p = maker.program();
  std::vector<int64_t> places;
  for (const ProgramStep& s : p.steps)
    places.push_back(p.storages[p.values[s.outputs[0]].storage].offset_bytes);
  EXPECT_EQ(places, (std::vector<int64_t>{0, 256, 512, 0}));
}

// Bits of f32 that are read as bf16 are infinities, NaNs and numbers next to zero.
TEST(ProbeMaker, FloatingOperandsAreOfPortsOfTheirType) {
  ProbeMaker maker({{"rank", 1}}, 4096, 4096);
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF16, Dtype::kF64}) {
    const ValueId value = maker.operand(Source::kSecond, row_major(dtype, {64}));
    EXPECT_EQ(maker.operand(Source::kSecond, row_major(dtype, {32})).v, value.v + 1);
    const Program& p = maker.program();
    EXPECT_EQ(p.ports[PortId{p.storages[p.values[value].storage].port}].global.dtype, dtype);
  }
  EXPECT_EQ(maker.program().ports.size(), 4u);
}

}  // namespace
}  // namespace shw::measure
