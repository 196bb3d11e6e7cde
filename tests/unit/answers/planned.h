// Cases that the tests of answers share: models in the test data and the options to plan them with.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "compiler/pipeline.h"
#include "compiler/place.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"

namespace shw::answers::testing {

struct Case {
  const char* name;
  const char* mesh;
  Rules rules;
  const char* output_layout;
  double budget = 0;  // factor of the parameter budget; 0: the default budget
};
inline constexpr Case kCases[] = {
    {"block_1d8", "dp=8", Rules::kCompat, "S(0)"},
    {"llama_tiny_2x4", "dp=2,tp=4", Rules::kFull, "S(0)S(2)"},
    {"llama8b_L2_8x8_einsum", "dp=8,tp=8", Rules::kCompat, "S(0)S(2)"},
    {"llama8b_L2_8x8_einsum", "dp=8,tp=8", Rules::kCompat, "S(0)S(2)", 0.05}};

inline CompileOptions options_of(const Case& c) {
  CompileOptions options;
  options.mesh = c.mesh;
  options.rules = c.rules;
  options.input_layout = std::string(c.mesh).find(',') == std::string::npos ? "S(0)" : "S(0)R";
  options.output_layout = c.output_layout;
  if (c.budget != 0) options.parameter_budget = {ParameterBudget::Kind::kFactor, c.budget};
  options.keep_graph = false;
  return options;
}

inline std::string name_of(const Case& c) {
  return std::string(c.name) + (c.budget != 0 ? "_budget" : "");
}

// The graph in the binary graph format (SWGR).
inline std::vector<uint8_t> graph_of(const Case& c) {
  const auto json = import::read_json_file(std::string(SHW_TEST_DATA) + "/graphs/" + c.name +
                                           ".graph.pre.json.gz");
  EXPECT_TRUE(json.ok()) << json.status().message();
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

inline std::unique_ptr<const PreparedModel> model_of(const CompileOptions& options,
                                                     std::span<const uint8_t> graph) {
  Monitor monitor;
  auto model = PreparedModel::create(graph, options, monitor);
  EXPECT_TRUE(model.ok()) << model.status().message();
  return std::move(*model);
}

inline std::unique_ptr<const PreparedModel> model_of(const Case& c) {
  return model_of(options_of(c), graph_of(c));
}

// The model under the constraints that its own options state.
inline ConstrainedModel asked(const PreparedModel& model) {
  Monitor monitor;
  auto constrained = ConstrainedModel::create(model, model.options(), monitor);
  EXPECT_TRUE(constrained.ok()) << constrained.status().message();
  return std::move(*constrained);
}

}  // namespace shw::answers::testing
