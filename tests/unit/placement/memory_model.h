// Models for tests of memory: optimizer state counts, and memory is the only budget.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/place.h"

namespace shw {

// Returns null and reports a test failure if there is no such model.
inline std::unique_ptr<const PreparedModel> model_for(const std::vector<uint8_t>& graph,
                                                      const std::string& mesh,
                                                      double optimizer_factor,
                                                      const std::string& hardware = "h100") {
  Monitor monitor;
  CompileOptions options;
  options.mesh = mesh;
  options.hardware = hardware;
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  options.optimizer_factor = optimizer_factor;
  auto model = PreparedModel::create(graph, options, monitor);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.ok() ? std::move(*model) : nullptr;
}

// The model under the constraints that its own options state.
inline ConstrainedModel asked(const PreparedModel& model) {
  Monitor monitor;
  auto constrained = ConstrainedModel::create(model, model.options(), monitor);
  EXPECT_TRUE(constrained.ok()) << constrained.status().message();
  return std::move(*constrained);
}

}  // namespace shw
