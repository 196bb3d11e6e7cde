// Compares recipes with the optimum (src/compare). With simulated steps, no recipe is faster than
// the optimum. By price, no recipe is cheaper than the optimum, and the table marks each recipe
// that is simulated faster. Each recipe's plan does what its name says.
#include "compare/compare.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "packed.h"
#include "plan/placements.h"
#include "planned.h"
#include "recipes/model_parts.h"

namespace shw::compare {
namespace {

using answers::testing::model_of;

struct Model {
  const char* name;
  const char* path;
  // Some recipes are simulated faster than the optimum. The price counts the reductions of
  // gradients in full, but a large batch hides them behind the backward pass
  // (src/compare/README.md).
  bool hides_reductions = false;
};
// A decoder at its real size, small decoders and encoders, a mixture of experts, and vision models.
const Model kModels[] = {
    {"llama8b", "/graphs/llama8b_L2_8x8_einsum.graph.pre.json.gz"},
    {"llama_tiny", "/graphs/llama_tiny_2x4.graph.pre.json.gz"},
    {"block", "/graphs/block_1d8.graph.pre.json.gz", true},
    {"bert", "/graphs/bert_mlm.graph.pre.json.gz"},
    {"experts", "/torch/qwen3_moe.graph.json.gz"},
    {"beit", "/torch/beit.graph.json.gz"},
    {"resnet", "/torch/resnet.graph.json.gz"},
    {"whisper", "/torch/whisper.graph.json.gz"},
};
const char* const kMeshes[] = {"dp=8", "dp=2,tp=4", "dp=4,tp=4", "dp=2,cp=2,tp=2", "dp=8,tp=8"};

std::vector<uint8_t> graph_of(const Model& model) {
  const auto json = import::read_json_file(std::string(SHW_TEST_DATA) + model.path);
  EXPECT_TRUE(json.ok()) << json.status().message();
  const auto graph = import::import_fx_json(*json);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return write_graph(*graph);
}

CompileOptions options_on(const char* mesh, Overlap overlap = Overlap::kDefault) {
  CompileOptions options;
  options.overlap.kind = overlap;
  options.mesh = mesh;
  options.keep_graph = false;
  return options;
}

Result<Table> compared(const PreparedModel& model, const CompareOptions& wanted = {}) {
  Monitor monitor;
  return compare(model, model.options(), wanted, monitor);
}

const Row& row(const Table& table, std::string_view name) {
  return *std::ranges::find(table.rows, name, &Row::name);
}

// Returns the number of recipes that are simulated faster than the optimum.
uint32_t expect_none_cheaper(const Table& table) {
  uint32_t ahead = 0;
  for (const Row& r : table.rows) {
    SCOPED_TRACE(r.name);
    EXPECT_EQ(r.has_plan(), r.figures.step_us > 0);
    if (!r.has_plan()) continue;
    EXPECT_TRUE(r.proven);
    EXPECT_GE(r.figures.price_us, table.optimum().figures.price_us * (1 - 1e-9));
    ahead += r.kind == RowKind::kRecipe && table.is_ahead(r);
  }
  return ahead;
}

void expect_none_ahead(const Table& table) {
  for (const Row& r : table.rows)
    EXPECT_FALSE(table.is_ahead(r)) << r.name << "\n" << to_text(table);
}

// The optimum is the fastest of several candidates, which include the recipes and the plan under
// the options. So nothing in the table is faster.
class CompareOn : public ::testing::TestWithParam<const char*> {};
TEST_P(CompareOn, NothingIsAheadOfTheOptimum) {
  for (const Model& m : kModels) {
    SCOPED_TRACE(m.name);
    const auto table = compared(*model_of(options_on(GetParam()), graph_of(m)));
    ASSERT_TRUE(table.ok()) << table.status().message();
    expect_none_ahead(*table);
  }
}
INSTANTIATE_TEST_SUITE_P(Meshes, CompareOn, ::testing::ValuesIn(kMeshes), [](const auto& mesh) {
  std::string name = mesh.param;
  for (char& c : name)
    if (c == '=' || c == ',') c = '_';
  return name;
});

// The same holds under a memory limit, where each search is only approximate. It also holds with
// layouts from a file; here these are the layouts of the fastest plan.
TEST(Compare, NothingIsAheadWithinALimitOrOfAFile) {
  const std::vector<uint8_t> graph = graph_of(kModels[2]);
  CompileOptions options = options_on("dp=2,tp=4", Overlap::kSimulated);
  options.parameter_budget.kind = ParameterBudget::Kind::kNone;
  Monitor monitor;
  const auto fast = shw::testing::compile_packed(*model_of(options, graph), options, monitor);
  ASSERT_TRUE(fast.ok());
  const CompareOptions with_plan{{}, {{"fast", placements_json(fast->plan)}}};
  options = options_on("dp=2,tp=4");
  const auto whole = compared(*model_of(options, graph), with_plan);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  expect_none_ahead(*whole);
  for (const double share : {0.9, 0.8, 0.7}) {
    options.memory_limit_bytes =
        static_cast<int64_t>(share * static_cast<double>(whole->optimum().figures.peak_bytes));
    const auto table = compared(*model_of(options, graph), with_plan);
    ASSERT_TRUE(table.ok()) << table.status().message();
    expect_none_ahead(*table);
    EXPECT_LE(table->optimum().figures.peak_bytes, options.memory_limit_bytes);
  }
}

// The row of the options is the plan that these options give. The optimum is at least as good as
// every row.
TEST(Compare, TheOptionsDecideTheirRowAlone) {
  const std::vector<uint8_t> graph = graph_of(kModels[2]);
  const auto step_of_options = [&](Overlap overlap) {
    const CompileOptions options = options_on("dp=2,tp=4", overlap);
    const auto model = model_of(options, graph);
    const auto table = compared(*model);
    EXPECT_TRUE(table.ok()) << table.status().message();
    Monitor monitor;
    const auto plan = shw::testing::compile_packed(*model, options, monitor);
    EXPECT_TRUE(plan.ok());
    EXPECT_DOUBLE_EQ(row(*table, "options").figures.price_us, plan->plan.summary.objective_us);
    return row(*table, "options").figures.step_us;
  };
  EXPECT_EQ(step_of_options(Overlap::kDefault), step_of_options(Overlap::kNone));
  EXPECT_LT(step_of_options(Overlap::kSimulated), step_of_options(Overlap::kNone));
}

TEST(Compare, ByPriceNoRecipeIsCheaper) {
  const bool all = std::getenv("SHW_TEST_ALL") != nullptr;
  for (const Model& m : kModels) {
    const std::vector<uint8_t> graph = graph_of(m);
    for (const char* mesh : kMeshes) {
      if (!all && mesh != kMeshes[1]) continue;
      SCOPED_TRACE(std::string(m.name) + " on " + mesh);
      const auto table = compared(*model_of(options_on(mesh, Overlap::kNone), graph));
      ASSERT_TRUE(table.ok()) << table.status().message();
      const uint32_t ahead = expect_none_cheaper(*table);
      EXPECT_TRUE(m.hides_reductions || ahead == 0) << to_text(*table);
    }
  }
}

// By price, some recipes are simulated faster than the optimum, and the table says so. With prices
// that count what a schedule hides, and by simulated steps, the optimum is faster than each recipe.
TEST(Compare, ByPriceRecipesCanBeAhead) {
  const std::vector<uint8_t> graph = graph_of(kModels[2]);
  const auto by = [&](Overlap overlap) {
    return compared(*model_of(options_on("dp=2,tp=4", overlap), graph));
  };
  const auto plain = by(Overlap::kNone), bounded = by(Overlap::kBounded),
             fastest = by(Overlap::kDefault);
  ASSERT_TRUE(plain.ok() && bounded.ok() && fastest.ok());
  EXPECT_TRUE(plain->is_ahead(row(*plain, "ddp")));
  EXPECT_NE(to_text(*plain).find("faster than the optimum, whose price is lower"),
            std::string::npos);
  EXPECT_EQ(expect_none_cheaper(*bounded), 0u) << to_text(*bounded);
  EXPECT_LT(bounded->optimum().figures.step_us, row(*plain, "ddp").figures.step_us);
  EXPECT_LE(fastest->optimum().figures.step_us, row(*plain, "ddp").figures.step_us);
}

// The plan of --overlap simulated is no slower than the optimum by price.
TEST(Compare, TheFastestIsNoSlowerThanTheCheapest) {
  for (const size_t i : {1, 2}) {
    const std::vector<uint8_t> graph = graph_of(kModels[i]);
    for (const char* mesh : {kMeshes[0], kMeshes[1]}) {
      SCOPED_TRACE(std::string(kModels[i].name) + " on " + mesh);
      const auto plain =
          compared(*model_of(options_on(mesh, Overlap::kNone), graph), {{"ddp"}, {}});
      const auto table = compared(*model_of(options_on(mesh, Overlap::kSimulated), graph));
      ASSERT_TRUE(plain.ok() && table.ok()) << table.status().message();
      expect_none_ahead(*table);
      EXPECT_LE(table->optimum().figures.step_us, plain->optimum().figures.step_us);
    }
  }
}

// The effect of each recipe shows in its figures.
TEST(Compare, RecipesAreWhatTheirNamesSay) {
  const auto model = model_of(options_on("dp=2,tp=4"), graph_of(kModels[0]));
  const auto table = compared(*model);
  ASSERT_TRUE(table.ok()) << table.status().message();
  const auto peak = [&](const char* name) { return row(*table, name).figures.peak_bytes; };
  const auto sent = [&](const char* name) { return row(*table, name).figures.wire_bytes; };
  for (const Row& r : table->rows) EXPECT_EQ(r.num_free, 0u) << r.name;
  EXPECT_GT(peak("ddp"), peak("hsdp"));   // whole parameters on each rank …
  EXPECT_GT(peak("hsdp"), peak("fsdp"));  // … in quarters … in eighths
  EXPECT_GT(peak("tp-sp"), peak("fsdp-tp"));
  // An all-reduce sends as much as a gather and a reduce-scatter. Gathered parameters are kept from
  // forward to backward unless something is recomputed, so both recipes send the same bytes.
  EXPECT_EQ(sent("ddp"), sent("fsdp"));
  // Under "tp", every rank computes the norms of all tokens.
  EXPECT_GT(row(*table, "tp").figures.compute_us, row(*table, "tp-sp").figures.compute_us);
}

TEST(Compare, WhatDoesNotApplySaysWhy) {
  const auto resnet = compared(*model_of(options_on("dp=4"), graph_of(kModels[6])));
  ASSERT_TRUE(resnet.ok());
  EXPECT_NE(row(*resnet, "tp").why_not.find("no matrix products"), std::string::npos);
  EXPECT_NE(row(*resnet, "hsdp").why_not.find("2 mesh dims"), std::string::npos);
  const auto block = compared(*model_of(options_on("dp=8,tp=8"), graph_of(kModels[1])));
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(row(*block, "fsdp").why_not, "the batch of 8 is no multiple of 64 ranks");
}

// The parts of a model include both ends of each skip connection, in both passes, and the weights
// between them.
TEST(Compare, FindsThePartsOfAModel) {
  const auto model = model_of(options_on("dp=2,tp=4"), graph_of(kModels[1]));
  const auto parts = recipes::ModelParts::of(model->graph());
  EXPECT_EQ(parts.batch, 8);
  EXPECT_EQ(parts.sequence, 32);
  EXPECT_EQ(parts.num_block_weights, 14u);  // seven per layer
  EXPECT_EQ(parts.sequence_inputs.size(), 1u);
  uint32_t weights = 0;
  for (const uint8_t is : parts.is_weight) weights += is;
  EXPECT_EQ(weights, 16u);  // with embedding and head
}

TEST(Compare, AForeignPlanIsScoredAsItIs) {
  const auto model = model_of(options_on("dp=2,tp=4"), graph_of(kModels[1]));
  Monitor monitor;
  const auto planned = shw::testing::compile_packed(*model, model->options(), monitor);
  ASSERT_TRUE(planned.ok());
  const std::string saved = placements_json(planned->plan);
  const auto same =
      compared(*model, {{"ddp"}, {{"mine", saved}, {"named", R"({"param.norm.weight": "RR"})"}}});
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_DOUBLE_EQ(row(*same, "mine").figures.price_us, planned->plan.summary.objective_us);
  EXPECT_DOUBLE_EQ(row(*same, "mine").figures.step_us, row(*same, "options").figures.step_us);
  EXPECT_EQ(row(*same, "named").figures.price_us, same->optimum().figures.price_us);
}

// An export of the reference planner's own answer. Its graph has more nodes than the model's graph.
TEST(Compare, ReadsAnExport) {
  const auto model = model_of(options_on("dp=2,tp=4"), graph_of(kModels[1]));
  const char* const kExport = R"({"mesh": {"shape": [2, 4]}, "summary": {}, "nodes": [
      {"name": "primals_1", "placement": "S(0)R", "inputs": []},
      {"name": "of_another_rewrite", "placement": "RR", "inputs": []}, {"name": "output"}]})";
  const auto read = compared(*model, {{"ddp"}, {{"theirs", kExport}}});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(row(*read, "theirs").num_unknown, 1u);
}

TEST(Compare, RefusesWhatItCannotRead) {
  const auto model = model_of(options_on("dp=2,tp=4"), graph_of(kModels[1]));
  const std::pair<const char*, const char*> kCases[] = {
      {"[]", "expected a JSON object"},
      {"{", "plan: "},
      {R"({"param.norm.wait": "RR"})", "did you mean"},
      {R"({"param.norm.weight": 3})", "is no text"},
      {R"({"param.norm.weight": "S(7)R"})", "cannot have the layout"},
      {R"({"param.norm.weight": "X"})", "layout"},
      {R"({"mesh": {"shape": [8]}, "nodes": []})", "another mesh"},
      {R"({"mesh": {"shape": [2, 4]}, "nodes": [{"name": "x", "placement": "RR"}]})",
       "none of its"},
      {R"({"version": 2})", "another version"}};
  for (const auto& [json, cause] : kCases) {
    const auto table = compared(*model, {{"ddp"}, {{"theirs", json}}});
    ASSERT_FALSE(table.ok()) << json;
    EXPECT_NE(table.status().message().find(cause), std::string::npos) << table.status().message();
  }
  EXPECT_EQ(compared(*model, {{"zero"}, {}}).status().message(),
            "there is no recipe 'zero'; there are ddp, fsdp, hsdp, tp, tp-sp, fsdp-tp, cp");
}

}  // namespace
}  // namespace shw::compare
