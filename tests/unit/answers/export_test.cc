// Compares exports field by field with those that the reference planner wrote for the same models:
// the graphs of tests/data/graphs, at the batch sizes for which the reference planned.
#include "answers/export.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "import/aten_table.h"
#include "planned.h"

namespace shw::answers {
namespace {

using nlohmann::json;

struct GoldenCase {
  const char *golden, *graph, *mesh, *layout;
  std::map<int64_t, int64_t> sizes;  // size in the graph → size in the golden run
};
const GoldenCase kGolden[] = {
    {"ffn_with_multiple_input_output_1d_highNone", "ffn_1d8", "dp=256", "S(0)", {{16384, 524288}}},
    {"ffn_with_multiple_input_output_2d_highNone",
     "ffn_1d8",
     "dp=32,tp=8",
     "S(0)R",
     {{16384, 65536}}},
    {"transformer_block_1d_highNone",
     "block_1d8",
     "dp=256",
     "S(0)",
     {{64, 2048}, {16384, 524288}, {3072, 98304}}},
    {"transformer_block_2d_highNone",
     "block_1d8",
     "dp=32,tp=8",
     "S(0)R",
     {{64, 256}, {16384, 65536}, {3072, 12288}}}};

void resize(json& value, const std::map<int64_t, int64_t>& sizes) {
  if (value.is_number_integer()) {
    const auto it = sizes.find(value.get<int64_t>());
    if (it != sizes.end()) value = it->second;
  } else if (value.is_structured()) {
    for (json& item : value) resize(item, sizes);
  }
}

json exported(const GoldenCase& c) {
  auto file = import::read_json_file(std::string(SHW_TEST_DATA) + "/graphs/" + c.graph +
                                     ".graph.pre.json.gz");
  EXPECT_TRUE(file.ok());
  resize(*file, c.sizes);
  const auto graph = import::import_fx_json(*file);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options;
  options.mesh = c.mesh;
  options.rules = Rules::kCompat;
  options.input_layout = options.output_layout = c.layout;
  Monitor monitor;
  const auto model = testing::model_of(options, write_graph(*graph));
  const auto placed = place(testing::asked(*model), {}, monitor);
  EXPECT_TRUE(placed.ok()) << placed.status().message();
  return json::parse(export_json(*model, *placed, import::aten_target));
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& item : object.items()) keys.insert(item.key());
  return keys;
}

bool near(const json& a, const json& b) {
  return std::abs(a.get<double>() - b.get<double>()) <= 1e-9 * std::abs(b.get<double>());
}

class Export : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Export, HasTheReferencesFieldsAndFigures) {
  const auto file = import::read_json_file(std::string(SHW_TEST_DATA) + "/reference/" +
                                           GetParam().golden + ".json.gz");
  ASSERT_TRUE(file.ok());
  const json &want = *file, got = exported(GetParam());
  EXPECT_EQ(keys_of(got), keys_of(want));
  EXPECT_EQ(got["mesh"], want["mesh"]);
  for (const char* sum : {"total", "comm", "compute", "transition"})
    EXPECT_TRUE(near(got["summary"][sum], want["summary"][sum])) << sum;
  ASSERT_EQ(got["nodes"].size(), want["nodes"].size());
  size_t ties = 0;
  for (size_t i = 0; i < want["nodes"].size(); ++i) {
    const json &g = got["nodes"][i], &w = want["nodes"][i];
    SCOPED_TRACE(w["name"]);
    std::set<std::string> g_keys = keys_of(g), w_keys = keys_of(w);
    for (const char* optional :
         {"module_path", "shard_order", "ac_region", "cluster_id", "cluster_root"})
      g_keys.erase(optional), w_keys.erase(optional);
    EXPECT_EQ(g_keys, w_keys);
    for (const char* key : {"name", "op", "phase", "placeholder_kind", "dtype", "shape"})
      EXPECT_EQ(g.value(key, json()), w.value(key, json())) << key;
    ASSERT_EQ(g["inputs"].size(), w["inputs"].size());
    bool tie = g.value("placement", "") != w.value("placement", "");
    for (size_t k = 0; k < w["inputs"].size(); ++k) {
      const json &gi = g["inputs"][k], &wi = w["inputs"][k];
      EXPECT_EQ(keys_of(gi), keys_of(wi));
      EXPECT_EQ(gi["name"], wi["name"]);
      tie |= gi.value("src_placement", "") != wi.value("src_placement", "") ||
             gi.value("dst_placement", "") != wi.value("dst_placement", "");
    }
    ties += tie;
    if (tie || i + 1 == want["nodes"].size()) continue;
    for (const char* cost : {"compute_cost", "transition_cost"})
      EXPECT_TRUE(near(g[cost], w[cost])) << cost;
    for (size_t k = 0; k < w["inputs"].size(); ++k)
      for (const char* cost : {"comm_cost", "transition_cost"})
        EXPECT_TRUE(near(g["inputs"][k][cost], w["inputs"][k][cost])) << cost << " of " << k;
  }
  // There are optima of equal cost: for example, a transpose may come before or after a free slice.
  EXPECT_LE(ties, want["nodes"].size() / 3);
}

TEST_P(Export, AddsUp) {
  const json got = exported(GetParam());
  double compute = 0, comm = 0, transition = 0;
  for (const json& node : got["nodes"]) {
    compute += node.value("compute_cost", 0.0);
    transition += node.value("transition_cost", 0.0);
    for (const json& input : node["inputs"]) comm += input.value("comm_cost", 0.0);
  }
  EXPECT_NEAR(compute, got["summary"]["compute"], 1e-9 * compute);
  EXPECT_NEAR(comm, got["summary"]["comm"], 1e-9 * comm);
  EXPECT_EQ(transition, got["summary"]["transition"]);
}

INSTANTIATE_TEST_SUITE_P(Golden, Export, ::testing::ValuesIn(kGolden),
                         [](const auto& c) { return std::string(c.param.golden); });

TEST(ExportNames, TellShardOrdersTuplesAndOurOperations) {
  const auto model = testing::model_of(testing::kCases[1]);
  Monitor monitor;
  const auto placed = place(testing::asked(*model), {}, monitor);
  ASSERT_TRUE(placed.ok());
  const json got = json::parse(export_json(*model, *placed));
  bool ordered = false, tuple = false, ours = false;
  for (const json& node : got["nodes"]) {
    const std::string placement = node.value("placement", "");
    EXPECT_EQ(placement.find('|'), std::string::npos);
    ordered |= node.value("shard_order", "") == "1,0";
    tuple |= placement.starts_with("(");
    ours |= node["op"] == "sdpa";
  }
  EXPECT_TRUE(ordered && tuple && ours);
}

TEST(ExportClusters, FoldLayersThatAreAlike) {
  const auto model = testing::model_of(testing::kCases[2]);  // two layers
  Monitor monitor;
  const auto placed = place(testing::asked(*model), {}, monitor);
  ASSERT_TRUE(placed.ok());
  const json got = json::parse(export_json(*model, *placed));
  std::map<std::string, json> by_name;
  for (const json& node : got["nodes"]) by_name[node["name"]] = node;
  std::map<int, std::set<std::string>> paths;  // cluster → module paths of its nodes
  size_t in_layers = 0, folded = 0;
  for (const json& node : got["nodes"]) {
    const std::string path = node.value("module_path", "");
    if (node.contains("placeholder_kind")) continue;
    in_layers += path.find("layers.") != path.npos;
    if (!node.contains("cluster_id")) continue;
    const json& root = by_name.at(node["cluster_root"]);
    EXPECT_EQ(root["cluster_id"], node["cluster_id"]);
    EXPECT_EQ(root["op"], node["op"]);
    EXPECT_EQ(root["shape"], node["shape"]);
    EXPECT_NE(root.value("module_path", "").find("layers.0"), std::string::npos);
    EXPECT_TRUE(paths[node["cluster_id"]].insert(path).second) << path;
    ++folded;
  }
  // An output of only one layer has an alias that the other layer lacks.
  EXPECT_GE(folded, in_layers - 4);
  for (const auto& [id, of] : paths) EXPECT_EQ(of.size(), 2u);
}

TEST(ExportSource, TellsFileLineFunctionAndCode) {
  auto file = import::read_json_file(SHW_TEST_DATA "/graphs/ffn_1d8.graph.pre.json.gz");
  ASSERT_TRUE(file.ok());
  for (json& node : (*file)["nodes"])
    if (node["op"] == "call_function")
      node["stack_trace"] =
          "  File \"/m/train.py\", line 7, in <module>\n    run()\n"
          "  File \"/m/model.py\", line 42, in forward\n    return self.w(x)\n";
  const auto graph = import::import_fx_json(*file);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  CompileOptions options;
  options.mesh = "dp=8";
  Monitor monitor;
  const auto model = testing::model_of(options, write_graph(*graph));
  const auto placed = place(testing::asked(*model), {}, monitor);
  ASSERT_TRUE(placed.ok());
  const json got = json::parse(export_json(*model, *placed));
  size_t traced_nodes = 0;
  for (const json& node : got["nodes"]) {
    if (!node.contains("source")) continue;
    ++traced_nodes;
    EXPECT_EQ(node["source"], (json{{"file", "/m/model.py"},
                                    {"line", 42},
                                    {"func", "forward"},
                                    {"code", "return self.w(x)"}}));
  }
  EXPECT_GT(traced_nodes, 10u);
}

}  // namespace
}  // namespace shw::answers
