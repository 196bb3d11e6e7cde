// Every strategy of every op, executed on virtual ranks against the unsharded op.
#include <gtest/gtest.h>

#include <set>

#include "one_op.h"
#include "sanitized.h"

namespace shw {
namespace {

using testing::kSanitized;
using testing::OpCase;

// The stride that runs about `most` of `count` strategies; under sanitizers, about three of those.
uint32_t stride_of(uint32_t count, uint32_t most) {
  const uint32_t stride = (count + most - 1) / most;
  if (!kSanitized || count == 0) return stride;
  return stride * (((count + stride - 1) / stride + 2) / 3);
}

TEST(OpCompleteness, EveryOpHasACase) {
  std::set<OpKind> covered = {OpKind::kInput, OpKind::kGetItem};  // part of every other case
  // These ops state the layouts of one mesh themselves: see manual_region_test.cc.
  covered.insert({OpKind::kLocalMap, OpKind::kShardingConstraint});
  for (const OpCase& c : testing::op_cases()) covered.insert(c.op);
  for (uint16_t k = 0; k < static_cast<uint16_t>(OpKind::kCount); ++k)
    EXPECT_TRUE(covered.count(static_cast<OpKind>(k)))
        << op_name(static_cast<OpKind>(k)) << " is executed by no case in op_cases.cc";
}

class EveryStrategy : public ::testing::TestWithParam<OpCase> {};

// Ops whose only strategy is the replicated one.
bool only_whole(const OpCase& c) {
  return c.op == OpKind::kIota || c.op == OpKind::kScalarTensor || c.name == "argmax of all" ||
         c.name == "nll_loss mean";
}

TEST_P(EveryStrategy, IsTheUnshardedOp) {
  // The shapes are large enough that 2×2 offers every combination of rules. 4 adds the plain rules
  // on a wider mesh. 2×2×2 can only repeat what two dims do, so only a sample runs there. 3 divides
  // no dim: all shards are uneven there, and the padding is filled with poison. Under sanitizers
  // only 2×2 and 3 run, because the other meshes run the same code.
  for (const auto& [mesh, most] :
       {std::pair("a=2,b=2", 1000u), std::pair("a=3", 1000u), std::pair("a=2,b=2,c=2", 24u),
        std::pair("a=4", 1000u), std::pair("a=2,b=3", 60u)}) {
    const Mesh m = *Mesh::parse(mesh);
    if (kSanitized && m.num_ranks() > 4) break;
    const auto count = testing::run_every_strategy(GetParam(), m, UINT32_MAX).strategies;
    const uint32_t stride = stride_of(count, most);
    const auto outcome = testing::run_every_strategy(GetParam(), m, stride);
    EXPECT_EQ(outcome.executed, (count + stride - 1) / stride);
    const bool whole = only_whole(GetParam());
    if (m.num_ranks() % 3 == 0) continue;  // a view may need a mesh dim that divides
    EXPECT_EQ(outcome.executed > 1u, !whole) << "the op can only be replicated: is that meant?";
  }
}

std::vector<OpCase> cases_that_take_strided_shards() {
  std::vector<OpCase> list;
  for (const OpCase& c : testing::op_cases()) {
    const OpDef& def = op_def(c.op);
    if (only_whole(c)) continue;
    if ((def.takes_strided && !def.needs_position(c.attrs)) || def.sharding == Sharding::kFollow ||
        def.sharding == Sharding::kFree)
      list.push_back(c);
  }
  return list;
}

class EveryStridedStrategy : public ::testing::TestWithParam<OpCase> {};

TEST_P(EveryStridedStrategy, IsTheUnshardedOp) {
  uint32_t executed = 0;
  for (const char* mesh : {"a=2,b=2", "a=4"}) {
    const Mesh m = *Mesh::parse(mesh);
    const auto count = testing::run_every_strided_strategy(GetParam(), m, UINT32_MAX).strategies;
    const uint32_t stride = stride_of(count, 60);
    if (count > 0) executed += testing::run_every_strided_strategy(GetParam(), m, stride).executed;
    if (kSanitized && executed > 0) break;
  }
  if (op_def(GetParam().op).takes_strided) {
    EXPECT_GT(executed, 0u) << "no strided shard is offered: do the operands' dims divide by 8?";
  }
}

std::string name_of(const ::testing::TestParamInfo<OpCase>& test) {
  std::string name = test.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryStrategy, ::testing::ValuesIn(testing::op_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Ops, EveryStridedStrategy,
                         ::testing::ValuesIn(cases_that_take_strided_shards()), name_of);

}  // namespace
}  // namespace shw
