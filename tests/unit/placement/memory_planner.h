// A planner for tests of memory: optimizer state counts, and no budget but memory's.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/planner.h"

namespace shw {

// Null, and a failure, if there is none.
inline std::unique_ptr<Planner> planner_for(const std::vector<uint8_t>& graph,
                                            const std::string& mesh, double optimizer_factor,
                                            const std::string& hardware = "h100") {
  Monitor monitor;
  CompileOptions options;
  options.mesh = mesh;
  options.hardware = hardware;
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  options.optimizer_factor = optimizer_factor;
  auto planner = Planner::create(graph, options, monitor);
  EXPECT_TRUE(planner.ok()) << planner.status().message();
  return planner.ok() ? std::move(*planner) : nullptr;
}

}  // namespace shw
