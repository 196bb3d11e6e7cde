// The tree of modules: module paths as frameworks write them, their sums, and equal modules that
// are listed once.
#include "plan/module_tree.h"

#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "packed.h"
#include "unit/answers/planned.h"

namespace shw {
namespace {

using Names = std::vector<std::string>;

TEST(ModuleNames, AreThoseOfModulesAlone) {
  EXPECT_EQ(module_names(""), Names{});
  EXPECT_EQ(module_names("layers.0.wq"), (Names{"layers", "0", "wq"}));
  EXPECT_EQ(module_names("L['self'].wq"), (Names{"wq"}));
  EXPECT_EQ(module_names("_export_root.layers.0.__dict__['_modules']['block'].w1"),
            (Names{"layers", "0", "block", "w1"}));
  EXPECT_EQ(module_names("..['x']."), (Names{"x"}));
  EXPECT_EQ(module_names(std::string(100000, '.') + "a").size(), 1u);
}

TEST(ModulePattern, HasStarsForNumbers) {
  EXPECT_EQ(module_pattern("layers.0.wq"), "layers.*.wq");
  EXPECT_EQ(module_pattern("_export_root.layers.17.__dict__['_modules']['w1']"), "layers.*.w1");
  EXPECT_EQ(module_pattern("1.2"), "*.*");
  EXPECT_EQ(module_pattern(""), "");
}

NodeDecision decision(const std::string& path, double compute, double comm) {
  NodeDecision d;
  d.module_path = path;
  d.compute_us = compute;
  d.comm_us = comm;
  return d;
}

TEST(ModuleTree, SumsUpAndTellsLikeModulesOnce) {
  Plan plan;
  plan.summary.decisions = {decision("", 1, 0),
                            decision("blocks.0.fc", 2, 10),
                            decision("blocks.1.fc", 3, 20),
                            decision("blocks.2.fc", 4, 30),
                            decision("blocks.2", 5, 0),
                            decision("blocks.3.other", 6, 40)};
  const Module root = module_tree(plan);
  EXPECT_EQ(root.compute_us, 21);
  EXPECT_EQ(root.comm_us, 100);
  EXPECT_EQ(root.num_nodes, 6u);
  ASSERT_EQ(root.modules.size(), 1u);
  const Module& blocks = root.modules[0];
  EXPECT_EQ(blocks.name, "blocks");
  EXPECT_EQ(blocks.compute_us, 20);
  ASSERT_EQ(blocks.modules.size(), 2u);
  EXPECT_EQ(blocks.modules[0].name, "0..2");
  EXPECT_EQ(blocks.modules[0].count, 3u);
  EXPECT_EQ(blocks.modules[0].compute_us, 14);
  EXPECT_EQ(blocks.modules[0].modules[0].name, "fc");
  EXPECT_EQ(blocks.modules[0].modules[0].comm_us, 60);
  EXPECT_EQ(blocks.modules[1].name, "3.other");  // a single module: one line
}

TEST(ModuleTree, OfADeepPathEndsSomewhere) {
  Plan plan;
  std::string path;
  for (int i = 0; i < 100000; ++i) path += "a.b.";
  plan.summary.decisions = {decision(path, 1, 0), decision(path + "c", 1, 0)};
  EXPECT_EQ(module_tree(plan).compute_us, 2);
}

uint32_t count_parameters(const Module& m) {
  auto count = static_cast<uint32_t>(m.parameters.size());
  for (const Module& sub : m.modules) count += count_parameters(sub);
  return m.count * count;
}

TEST(ModuleTree, HoldsEveryParameterOfAModel) {
  const auto& llama = answers::testing::kCases[1];
  const auto model = answers::testing::model_of(llama);
  Monitor monitor;
  const auto plan = testing::compile_packed(*model, model->options(), monitor);
  ASSERT_TRUE(plan.ok());
  const Module root = module_tree(plan->plan);
  EXPECT_EQ(count_parameters(root), 22u);  // and a buffer
  EXPECT_EQ(root.num_nodes, plan->plan.summary.num_nodes);
  EXPECT_NEAR(root.compute_us, plan->plan.summary.compute_us, 1e-9 * root.compute_us);
  EXPECT_NEAR(root.comm_us, plan->plan.summary.comm_us, 1e-9 * root.comm_us);
  const std::string text = module_tree_text(root);
  EXPECT_NE(text.find("layers.0..1"), std::string::npos) << text;
  EXPECT_NE(text.find("(2 alike)"), std::string::npos) << text;
  EXPECT_NE(text.find(".weight"), std::string::npos);
}

}  // namespace
}  // namespace shw
