#include "recompute/cut.h"

#include <gtest/gtest.h>

#include <random>

#include "recompute/max_flow.h"
#include "unit/simulate/sketch.h"

namespace shw {
namespace {

using testing::Sketch;

ProgramStep& backward(ProgramStep& step) {
  step.phase = 1;
  return step;
}

// The cost of a choice of repeated steps: the bytes that must be kept for it, plus the prices of
// the steps.
int64_t cost_of(const Joint& joint, const std::vector<StepRule>& rules,
                const std::vector<uint8_t>& repeated) {
  int64_t cost = 0;
  bool allowed = true;
  const Program& p = joint.program();
  for (uint32_t i = 0; i < joint.num_steps(); ++i) {
    if (!repeated[i]) continue;
    cost += rules[i].price_bytes;
    allowed &= rules[i].may_repeat;
  }
  for (uint32_t s = 0; s < p.storages.size(); ++s) {
    const StorageId id{s};
    if (!joint.is_forward(id) || repeated[joint.writer(id)]) continue;
    bool needed = joint.is_read_backward(id);
    for (uint32_t r : joint.forward_readers(id)) needed |= repeated[r] != 0;
    if (!needed) continue;
    cost += p.storages[id].bytes;
    allowed &= rules[joint.writer(id)].may_keep;
  }
  return allowed ? cost : MaxFlow::kInfinite;
}

// Up to nine forward steps with one or two results each, and backward steps that read some of these
// results.
Sketch random_entry(std::mt19937& random) {
  Sketch s;
  std::vector<ValueId> forward{s.input(64)}, all;
  const auto any_of = [&](const std::vector<ValueId>& list) {
    return list[random() % list.size()];
  };
  for (auto i = 3 + random() % 7; i-- > 0;) {
    std::vector<ValueId> in{any_of(forward)}, out{s.value(static_cast<int64_t>(1 + random() % 40))};
    if (random() % 2 == 0) in.push_back(any_of(forward));
    if (random() % 4 == 0) out.push_back(s.value(static_cast<int64_t>(1 + random() % 40)));
    s.step(1, in, out);
    forward.insert(forward.end(), out.begin(), out.end());
  }
  all = forward;
  for (int i = 0; i < 4; ++i) {
    const ValueId out = s.value(8);
    backward(s.step(1, {any_of(all), any_of(forward)}, {out}));
    all.push_back(out);
  }
  return s;
}

TEST(Cut, IsTheCheapestOfAllChoices) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const Sketch s = random_entry(random);
    const Joint joint(s.p, s.p.entries[0]);
    std::vector<StepRule> rules(joint.num_steps());
    uint32_t num_forward = 0;
    for (uint32_t i = 0; i < joint.num_steps(); ++i) {
      num_forward += !joint.is_backward(i);
      rules[i].may_repeat = random() % 4 != 0;
      rules[i].may_keep = !rules[i].may_repeat || random() % 4 != 0;
      rules[i].price_bytes = static_cast<int64_t>(random() % 30);
    }
    const std::vector<uint8_t> again = storages_to_repeat(joint, rules);
    std::vector<uint8_t> chosen(joint.num_steps(), 0);
    for (uint32_t v = 0; v < again.size(); ++v)
      if (again[v]) chosen[joint.writer(StorageId{v})] = 1;
    int64_t cheapest = MaxFlow::kInfinite;
    for (uint32_t bits = 0; bits < 1u << num_forward; ++bits) {
      std::vector<uint8_t> any(joint.num_steps(), 0);
      for (uint32_t i = 0, k = 0; i < joint.num_steps(); ++i)
        if (!joint.is_backward(i)) any[i] = bits >> k++ & 1;
      cheapest = std::min(cheapest, cost_of(joint, rules, any));
    }
    EXPECT_EQ(cost_of(joint, rules, chosen), cheapest) << "round " << round;
    EXPECT_LT(cheapest, MaxFlow::kInfinite);
  }
}

TEST(Joint, AForwardStepBehindTheBackwardPassIsOfIt) {
  Sketch s;
  const ValueId x = s.input(8), a = s.value(8), g = s.value(8), late = s.value(8);
  s.step(1, {x}, {a});
  backward(s.step(1, {a}, {g}));
  s.step(1, {g}, {late});
  const Joint joint(s.p, s.p.entries[0]);
  EXPECT_FALSE(joint.is_backward(0));
  EXPECT_TRUE(joint.is_backward(2));
}

TEST(Joint, WhatHasBeenOverwrittenIsNotReadAgain) {
  for (const bool update_first : {false, true}) {
    Sketch s;
    const ValueId w = s.input(8), a = s.value(8), b = s.value(8);
    const ValueId g = s.value(8), h = s.value(8);
    s.step(1, {w}, {a});
    s.step(1, {a}, {b});
    if (update_first) backward(s.step(1, {w}, {w}));
    backward(s.step(1, {b}, {g}));
    if (!update_first) backward(s.step(1, {w}, {w}));
    backward(s.step(1, {b, g}, {h}));
    const Joint joint(s.p, s.p.entries[0]);
    EXPECT_EQ(joint.can_repeat(0), !update_first);
    EXPECT_TRUE(joint.can_repeat(1));
  }
}

}  // namespace
}  // namespace shw
