// Calls that import expands into several nodes: the graphs must be valid and have the types that
// PyTorch recorded. unit/e2e/decompositions_test.cc checks what they compute.
#include "import/decompositions.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "document.h"
#include "fx_parts.h"
#include "import/aten_table.h"
#include "import/decompose.h"
#include "import/fx_json.h"
#include "rewrite/verify.h"

namespace shw::import {
namespace {

using nlohmann::json;
using shw::testing::ref;
using shw::testing::tensor;

// A graph with one call on these operands, named "a", "b", …. It returns the call's first result.
json graph_of(const char* target, const std::vector<json>& operands, const std::vector<json>& args,
              const json& value, const json& kwargs = json::object()) {
  json nodes = json::array();
  for (size_t i = 0; i < operands.size(); ++i)
    nodes.push_back({{"name", std::string(1, static_cast<char>('a' + i))},
                     {"op", "placeholder"},
                     {"val", operands[i]},
                     {"desc", {{"cls", "PlainAOTInput"}, {"idx", i}}}});
  nodes.push_back({{"name", "y"},
                   {"op", "call_function"},
                   {"target", target},
                   {"args", args},
                   {"kwargs", kwargs},
                   {"val", value}});
  const char* result = "y";
  if (value.is_array()) {
    nodes.push_back({{"name", "y0"},
                     {"op", "call_function"},
                     {"target", "<built-in function getitem>"},
                     {"args", json::array({ref("y"), 0})},
                     {"kwargs", json::object()},
                     {"val", value[0]}});
    result = "y0";
  }
  nodes.push_back({{"name", "output"},
                   {"op", "output"},
                   {"args", json::array({json::array({ref(result)})})},
                   {"desc", json::array({{{"cls", "PlainAOTOutput"}, {"idx", 0}}})}});
  return {{"format", "ap-graph-1"}, {"nodes", nodes}};
}

Result<Graph> imported(const json& file) {
  Result<Graph> graph = import_fx_json(file);
  if (!graph.ok()) return graph;
  const Status status = verify_graph(*graph);
  if (!status.ok()) return status;
  return graph;
}

struct CallCase {
  const char* target;
  std::vector<json> operands, args;
  json value;
  json kwargs = json::object();
};

std::vector<CallCase> cases() {
  const json a = ref("a"), b = ref("b"), c = ref("c"), d = ref("d"), e = ref("e"), null;
  const json m = tensor({4, 6}), v = tensor({6}), image = tensor({2, 3, 8, 8});
  const json long_ = tensor({8}, "int64");
  std::vector<CallCase> list;
  for (const char* op : {"acos",       "acosh",     "asin",     "asinh", "atan",
                         "atanh",      "cosh",      "sinh",     "tan",   "exp2",
                         "log2",       "log10",     "frac",     "trunc", "hardsigmoid",
                         "hardswish",  "mish",      "square",   "sgn",   "elu",
                         "leaky_relu", "softplus",  "hardtanh", "zero",  "lift_fresh_copy",
                         "logit",      "nan_to_num"}) {
    static std::set<std::string> names;
    const std::string& name = *names.insert("aten." + std::string(op) + ".default").first;
    list.push_back({name.c_str(), {m}, {a}, m});
  }
  for (const char* op : {"isinf", "isnan", "isfinite"}) {
    static std::set<std::string> names;
    const std::string& name = *names.insert("aten." + std::string(op) + ".default").first;
    list.push_back({name.c_str(), {m}, {a}, tensor({4, 6}, "bool")});
  }
  list.push_back({"aten.addcmul.default", {m, v, m}, {a, b, c}, m, {{"value", 0.5}}});
  list.push_back({"aten.addcdiv.default", {m, v, m}, {a, b, c}, m});
  list.push_back({"aten.pow.Scalar", {m}, {2, a}, m});
  list.push_back({"aten.rsub.Scalar", {m}, {a, 1}, m});
  list.push_back({"aten.div.Tensor_mode", {long_}, {a, 3}, long_, {{"rounding_mode", "trunc"}}});
  list.push_back({"aten.fmod.Scalar", {long_}, {a, -3}, long_});
  list.push_back({"aten.clamp.Tensor", {m, v, v}, {a, b, c}, m});
  list.push_back({"aten.clamp_min.Tensor", {m, v}, {a, b}, m});
  list.push_back({"aten.copy.default", {m, v}, {a, b}, m});
  list.push_back({"aten.glu.default", {m}, {a, 1}, tensor({4, 3})});
  list.push_back({"aten.glu_backward.default", {tensor({4, 3}), m}, {a, b, 1}, m});
  list.push_back({"aten.var_mean.correction",
                  {m},
                  {a, {1}},
                  json::array({tensor({4}), tensor({4})}),
                  {{"correction", 0}}});
  list.push_back({"aten.logsumexp.default", {m}, {a, {1}}, tensor({4})});
  list.push_back({"aten.linalg_vector_norm.default", {m}, {a, 3, {1}}, tensor({4})});
  list.push_back({"aten.arange.start_step", {}, {1, 9, 2}, tensor({4}, "int64")});
  list.push_back({"aten.linspace.default", {}, {0, 1, 5}, tensor({5})});
  list.push_back({"aten.as_strided.default", {m}, {a, {3, 2}, {2, 5}, 1}, tensor({3, 2})});
  list.push_back(
      {"aten.as_strided_scatter.default", {m, tensor({3, 2})}, {a, b, {3, 2}, {2, 5}, 1}, m});
  list.push_back({"aten.diagonal.default", {m}, {a, 1}, tensor({5})});
  list.push_back({"aten.roll.default", {m}, {a, {2}, {1}}, m});
  list.push_back({"aten.unfold.default", {m}, {a, 1, 3, 2}, tensor({4, 2, 3})});
  list.push_back({"aten.unfold_backward.default", {tensor({4, 2, 3})}, {a, {4, 6}, 1, 3, 2}, m});
  list.push_back({"aten.reflection_pad1d.default", {m}, {a, {2, 1}}, tensor({4, 9})});
  list.push_back(
      {"aten.replication_pad1d_backward.default", {tensor({4, 9}), m}, {a, b, {2, 1}}, m});
  list.push_back({"aten.max_pool2d_with_indices.default",
                  {image},
                  {a, {3, 3}, {2, 2}, {1, 1}},
                  json::array({tensor({2, 3, 4, 4}), tensor({2, 3, 4, 4}, "int64")})});
  list.push_back({"aten.max_pool2d_with_indices_backward.default",
                  {tensor({2, 3, 4, 4}), image, tensor({2, 3, 4, 4}, "int64")},
                  {a, b, {3, 3}, {2, 2}, {1, 1}, {1, 1}, false, c},
                  image});
  list.push_back({"aten.avg_pool2d.default",
                  {image},
                  {a, {3, 3}, {2, 2}, {1, 1}, true, false},
                  tensor({2, 3, 5, 5})});
  list.push_back({"aten.avg_pool2d_backward.default",
                  {tensor({2, 3, 4, 4}), image},
                  {a, b, {3, 3}, {2, 2}, {1, 1}, false, true, null},
                  image});
  list.push_back({"aten._adaptive_avg_pool2d.default", {image}, {a, {1, 4}}, tensor({2, 3, 1, 4})});
  list.push_back(
      {"aten._adaptive_avg_pool2d_backward.default", {tensor({2, 3, 1, 4}), image}, {a, b}, image});
  list.push_back({"aten.convolution.default",
                  {image, tensor({3, 5, 2, 2}), tensor({5})},
                  {a, b, c, {2, 2}, {0, 0}, {1, 1}, true, {0, 0}, 1},
                  tensor({2, 5, 16, 16})});
  list.push_back({"aten.native_group_norm.default",
                  {tensor({2, 6, 4}), v, v},
                  {a, b, c, 2, 6, 4, 3, 1e-5},
                  json::array({tensor({2, 6, 4}), tensor({2, 3}), tensor({2, 3})})});
  list.push_back({"aten.native_group_norm_backward.default",
                  {tensor({2, 6, 4}), tensor({2, 6, 4}), tensor({2, 3}), tensor({2, 3}), v},
                  {a, b, c, d, e, 2, 6, 4, 3, {true, true, true}},
                  json::array({tensor({2, 6, 4}), v, v})});
  list.push_back({"aten._weight_norm_interface.default",
                  {m, tensor({4, 1})},
                  {a, b, 0},
                  json::array({m, tensor({4, 1})})});
  list.push_back({"aten._weight_norm_interface_backward.default",
                  {m, m, tensor({4, 1}), tensor({4, 1})},
                  {a, b, c, d, 0},
                  json::array({m, tensor({4, 1})})});
  list.push_back({"aten._thnn_fused_gru_cell.default",
                  {tensor({4, 9}), tensor({4, 9}), tensor({4, 3}), tensor({9}), tensor({9})},
                  {a, b, c, d, e},
                  json::array({tensor({4, 3}), tensor({4, 15})})});
  list.push_back(
      {"aten._thnn_fused_gru_cell_backward.default",
       {tensor({4, 3}), tensor({4, 15})},
       {a, b, true},
       json::array({tensor({4, 9}), tensor({4, 9}), tensor({4, 3}), tensor({9}), tensor({9})})});
  list.push_back({"aten._fft_r2c.default", {m}, {a, {1}, 0, true}, tensor({4, 4}, "complex64")});
  list.push_back({"aten._fft_c2r.default", {tensor({4, 4}, "complex64")}, {a, {1}, 2, 6}, m});
  list.push_back({"aten._fft_c2c.default",
                  {tensor({4, 6}, "complex64")},
                  {a, {0, 1}, 1, true},
                  tensor({4, 6}, "complex64")});
  list.push_back({"aten.histc.default", {v}, {a, 4, 0, 3}, tensor({4})});
  list.push_back({"aten.bucketize.Tensor", {m, v}, {a, b}, tensor({4, 6}, "int64")});
  list.push_back(
      {"aten.scatter_reduce.two", {m, tensor({4, 6}, "int64"), m}, {a, 0, b, c, "mean", false}, m});
  list.push_back({"aten.randint.low", {}, {2, 9, {4, 6}}, tensor({4, 6}, "int64")});
  list.push_back({"aten.bernoulli.p", {m}, {a, 0.25}, m});
  list.push_back({"aten.polar.default", {m, m}, {a, b}, tensor({4, 6}, "complex64")});
  return list;
}

TEST(Decompositions, BecomeNodesOfTheRecordedType) {
  for (const CallCase& c : cases()) {
    const Result<Graph> g = imported(graph_of(c.target, c.operands, c.args, c.value, c.kwargs));
    EXPECT_TRUE(g.ok()) << c.target << ": " << g.status().message();
  }
}

TEST(Decompositions, HaveTextsThatNameFunctionsAndOps) {
  std::set<std::string_view> functions;
#define X(name) functions.insert(#name);
  SHW_DECOMPOSERS(X)
#undef X
  for (std::string_view name : decomposed_targets()) {
    const auto how = find_decomposition(name);
    ASSERT_TRUE(how) << name;
    if (how->text.starts_with('@')) {
      EXPECT_EQ(functions.count(how->text.substr(1)), 1u) << name;
    }
    static const std::set<std::string_view> kSometimes = {
        "convolution", "convolution_backward", "native_layer_norm", "native_layer_norm_backward"};
    if (kSometimes.count(name) == 0) {
      EXPECT_FALSE(find_aten_op("aten." + std::string(name) + ".default")) << name;
    }
  }
  for (const AtenOp& op : aten_ops()) EXPECT_NE(op.op, OpKind::kCount) << op.target;
}

TEST(Decompositions, RefuseWithAReason) {
  const json file = graph_of("aten.nonzero.default", {tensor({4})}, {ref("a")}, tensor({2, 1}));
  EXPECT_NE(import_fx_json(file).status().message().find("depends on the values"),
            std::string::npos);
  const json sparse = graph_of("aten._adaptive_avg_pool2d.default", {tensor({2, 3, 8, 8})},
                               {ref("a"), {3, 3}}, tensor({2, 3, 3, 3}));
  EXPECT_EQ(import_fx_json(sparse).status().message(),
            "adaptive pooling into sizes that do not divide is not supported");
  EXPECT_EQ(import_fx_json(sparse).status().node_name(), "y");
  const json wide = graph_of("prims.convert_element_type.default", {tensor({4})},
                             {ref("a"), {{"dtype", "complex128"}}}, tensor({4}));
  EXPECT_EQ(import_fx_json(wide).status().code(), Code::kUnimplemented);
  EXPECT_EQ(import_fx_json(wide).status().message(), "dtype 'complex128' is not supported");
}

// In a bf16 model that was traced on a CPU, mean and rstd are recorded in bf16. The backward pass
// takes them in f32; the result, in bf16.
TEST(Decompositions, KeepStatisticsOfLayerNormForItsBackward) {
  const json x = tensor({4, 6}, "bfloat16"), w = tensor({6}, "bfloat16"),
             row = tensor({4, 1}, "bfloat16");
  json file = graph_of("aten.native_layer_norm.default", {x, w, w},
                       {ref("a"), {6}, ref("b"), ref("c"), 1e-5}, {x, row, row});
  const auto element = [](const char* name, const char* of, int place, const json& value) {
    return json{{"name", name},
                {"op", "call_function"},
                {"target", "<built-in function getitem>"},
                {"args", {ref(of), place}},
                {"kwargs", json::object()},
                {"val", value}};
  };
  const json backward = {
      {"name", "z"},
      {"op", "call_function"},
      {"target", "aten.native_layer_norm_backward.default"},
      {"args",
       {ref("a"), ref("a"), {6}, ref("y1"), ref("y2"), ref("b"), ref("c"), {true, true, false}}},
      {"kwargs", json::object()},
      {"val", {x, w, nullptr}}};
  json& nodes = file["nodes"];
  for (const json& node : {element("y1", "y", 1, row), element("y2", "y", 2, row), backward,
                           element("z0", "z", 0, x), element("z1", "z", 1, w)})
    nodes.insert(nodes.end() - 1, node);
  json &results = nodes.back()["args"][0], &descs = nodes.back()["desc"];
  for (const char* name : {"y1", "z0", "z1"}) {
    results.push_back(ref(name));
    descs.push_back({{"cls", "PlainAOTOutput"}, {"idx", descs.size()}});
  }
  const Result<Graph> g = imported(file);
  ASSERT_TRUE(g.ok()) << g.status().message();
  ASSERT_EQ(g->outputs().size(), 4u);
  EXPECT_EQ(to_string(g->type(g->outputs()[1].node)), "bf16[4,1]");
  for (NodeId n{0}; n.v < g->num_nodes(); ++n.v) {
    if (g->op(n) != OpKind::kLayerNormBackward) continue;
    EXPECT_EQ(to_string(g->type(g->operands(n)[2])), "f32[4,1]");
    EXPECT_EQ(to_string(g->type(g->operands(n)[3])), "f32[4,1]");
  }
}

// A tensor without dims does not determine the dtype of a product.
TEST(Decompositions, ConvertScalarsAsPyTorchDoes) {
  const json one = tensor({}, "float64"), m = tensor({4, 6});
  EXPECT_TRUE(imported(graph_of("aten.mul.Tensor", {m, one}, {ref("a"), ref("b")}, m)).ok());
  const json whole = tensor({4}, "int64"), real = tensor({4});
  EXPECT_TRUE(
      imported(graph_of("aten.mul.Tensor", {whole, tensor({})}, {ref("a"), ref("b")}, real)).ok());
}

TEST(Decompositions, TakeConstantsFromTheGraph) {
  json file = graph_of("aten.lift_fresh_copy.default", {}, {ref("k")}, tensor({2}, "int64"));
  const json constant = {{"name", "k"},
                         {"op", "get_attr"},
                         {"target", "_tensor_constant0"},
                         {"args", json::array()},
                         {"val", tensor({2}, "int64")},
                         {"data", {3, -1}}};
  file["nodes"].insert(file["nodes"].begin(), constant);
  const Result<Graph> g = imported(file);
  ASSERT_TRUE(g.ok()) << g.status().message();
  ASSERT_EQ(g->inputs().size(), 1u);
  EXPECT_EQ(g->inputs()[0].role, InputRole::kConstant);
  EXPECT_EQ((*g->inputs()[0].data)[0], 3);
  EXPECT_EQ((*g->inputs()[0].data)[8], 255);
  file["nodes"][0].erase("data");
  EXPECT_EQ(imported(file)->full_name(imported(file)->inputs()[0]), "buffer._tensor_constant0");
  file["nodes"][0]["data"] = {3};
  EXPECT_EQ(imported(file).status().message(), "'data' is not a list of the 2 elements of i64[2]");
}

// src/import/OPS.md lists all known operations. With SHW_WRITE_OPS set, the test writes the file.
TEST(Decompositions, AreListedInTheDocument) {
  std::map<std::string, std::string> rows;
  for (const AtenOp& op : aten_ops())
    rows[std::string(op.target)] = "direct | `" + std::string(op_name(op.op)) + "`";
  for (std::string_view name : decomposed_targets()) {
    std::string full = name.find("prims.") == 0 || name.find("transformers.") == 0
                           ? std::string(name)
                           : "aten." + std::string(name);
    const size_t dot = full.find('.');
    if (full.find('.', dot + 1) == full.npos) full += ".default";
    if (rows.count(full) == 0)
      rows[full] =
          "decomposed | " +
          std::string(find_decomposition(name)->text.starts_with('@') ? "by its sizes" : "");
  }
  std::ostringstream text;
  text << "# Overloads that import knows\n\n`direct`: one op of ours. `decomposed`: several. What "
          "is "
          "not listed is refused by name, with its node and module.\nGenerated by "
          "`SHW_WRITE_OPS=1 unit_import`.\n\n"
          "| overload | how | op |\n|---|---|---|\n";
  for (const auto& [target, how] : rows) text << "| `" << target << "` | " << how << " |\n";
  testing::expect_document("src/import/OPS.md", "SHW_WRITE_OPS", text.str());
}

}  // namespace
}  // namespace shw::import
