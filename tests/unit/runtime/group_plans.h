// Plans whose steps are in groups.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "passes/pass.h"
#include "plan/plan.h"

namespace shw::testing {

// A copy of the plan with its steps in fused groups.
inline std::shared_ptr<const Plan> in_groups(const Plan& plan) {
  auto copy = std::make_shared<Plan>(plan);
  static constexpr const PassDef* kPasses[] = {&kFuseSteps, &kRepeatInGroups, &kPlanMemory};
  Monitor monitor;
  const auto reports = run_passes(copy->program, kPasses, {}, monitor);
  EXPECT_TRUE(reports.ok()) << reports.status().message();
  return copy;
}

// The kernel names of each group.
inline std::vector<std::vector<std::string>> groups_of(const Program& program) {
  std::vector<std::vector<std::string>> groups;
  for (const FusedGroup& group : program.fused_groups) {
    groups.emplace_back();
    for (uint32_t i = 0; i < group.num_steps; ++i)
      groups.back().push_back(program.steps[group.first_step + i].kernel);
  }
  return groups;
}

}  // namespace shw::testing
