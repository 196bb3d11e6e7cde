#include "import/fx_json.h"

#include <gtest/gtest.h>

#include "fx_parts.h"
#include "graph/text.h"
#include "import/json_file.h"
#include "rewrite/verify.h"

namespace shw::import {
namespace {

using nlohmann::json;
using shw::testing::ref;
using shw::testing::tensor;

json graph_file(const std::string& name) {
  Result<json> file = read_json_file(SHW_TEST_DATA "/graphs/" + name + ".graph.pre.json.gz");
  EXPECT_TRUE(file.ok()) << file.status().message();
  return std::move(*file);
}

json placeholder(const char* name, json desc, json value) {
  return {{"name", name}, {"op", "placeholder"}, {"target", name},    {"args", json::array()},
          {"val", value}, {"desc", desc},        {"phase", "forward"}};
}

// Lists are passed as vectors. With a single element in braces, compilers disagree on whether the
// result is a copy of the json or an array that contains it.
json call(const char* name, const char* target, std::vector<json> args, json value) {
  return {{"name", name}, {"op", "call_function"},    {"target", target},  {"args", args},
          {"val", value}, {"kwargs", json::object()}, {"phase", "forward"}};
}

// x [2,4], y = f(x), with `nodes` in between.
json small(std::vector<json> nodes, json result) {
  json all = json::array();
  all.push_back(placeholder("x", {{"cls", "PlainAOTInput"}, {"idx", 0}}, tensor({2, 4})));
  for (const json& n : nodes) all.push_back(n);
  all.push_back({{"name", "output"},
                 {"op", "output"},
                 {"args", json::array({json::array({result})})},
                 {"desc", json::array({{{"cls", "PlainAOTOutput"}, {"idx", 0}}})}});
  return {{"format", "ap-graph-1"}, {"nodes", all}};
}

std::string text_of(const json& file) {
  const Result<Graph> g = import_fx_json(file);
  if (!g.ok()) return g.status().message();
  const Status status = verify_graph(*g);
  EXPECT_TRUE(status.ok()) << status.message();
  return print_graph(*g);
}

TEST(FxJson, ImportsRolesAndNames) {
  const Result<Graph> g = import_fx_json(graph_file("llama_tiny_2x4"));
  ASSERT_TRUE(g.ok()) << g.status().message();
  EXPECT_TRUE(verify_graph(*g).ok());
  EXPECT_EQ(g->num_nodes(), 454u);
  ASSERT_EQ(g->inputs().size(), 24u);
  EXPECT_EQ(g->full_name(g->inputs()[0]), "param.tok_embeddings.weight");
  EXPECT_EQ(g->full_name(g->inputs()[21]), "buffer.freqs_cis");
  EXPECT_EQ(g->full_name(g->inputs()[22]), "input.0");
  EXPECT_EQ(g->full_name(g->inputs()[23]), "tangent.0");
  EXPECT_EQ(g->inputs()[23].position, 0);
  ASSERT_EQ(g->outputs().size(), 24u);
  EXPECT_EQ(g->full_name(g->outputs()[0]), "output");
  EXPECT_EQ(g->full_name(g->outputs()[2]), "grad.layers.0.attention.wq.weight");
  EXPECT_FALSE(g->outputs()[22].node.valid());  // freqs_cis has no gradient
  EXPECT_EQ(g->full_name(g->outputs()[22]), "grad.buffer.freqs_cis");
}

TEST(FxJson, TangentPointsToItsOutput) {
  const Result<Graph> g = import_fx_json(graph_file("ffn_1d8"));  // the second of 3 outputs
  ASSERT_TRUE(g.ok()) << g.status().message();
  const InputInfo& tangent = g->inputs().back();
  EXPECT_EQ(tangent, (InputInfo{tangent.node, InputRole::kTangent, "1", 1}));
}

TEST(FxJson, ImportsMetadata) {
  const Result<Graph> g = import_fx_json(graph_file("llama8b_L2_8x8_einsum"));
  ASSERT_TRUE(g.ok()) << g.status().message();
  int saved = 0, recomputed = 0, in_regions = 0;
  for (uint32_t i = 0; i < g->num_nodes(); ++i) {
    const NodeMeta& m = g->meta(NodeId{i});
    saved += m.recompute == Recompute::kMustSave;
    recomputed += m.recompute == Recompute::kPreferRecompute;
    in_regions += m.ac_graph_id >= 0;
    EXPECT_EQ(m.module_path.find("L['self']"), std::string::npos);
  }
  EXPECT_EQ(saved, 18);
  EXPECT_EQ(recomputed, 178);
  EXPECT_EQ(in_regions, 196);
}

// cuDNN's attention returns nine results, of which we keep numbers 0, 1, 6 and 7.
TEST(FxJson, BringsAttentionKernelsIntoOneForm) {
  const Result<Graph> g = import_fx_json(graph_file("llama8b_L2_8x8_einsum"));
  ASSERT_TRUE(g.ok()) << g.status().message();
  for (uint32_t i = 0; i < g->num_nodes(); ++i) {
    const NodeId n{i};
    if (g->op(n) == OpKind::kSdpa) {
      EXPECT_EQ(g->results(n).size(), 4u);
      EXPECT_EQ(g->attrs(n).get_string(AttrKey::kKernel), "cudnn");
      EXPECT_TRUE(g->attrs(n).get_bool(AttrKey::kCausal, false));
    }
    if (g->op(n) != OpKind::kSdpaBackward) continue;
    ASSERT_EQ(g->operands(n).size(), 9u);
    EXPECT_FALSE(g->operands(n)[4].valid());  // no bias
    for (size_t k : {5u, 6u, 7u, 8u}) {       // out, log-sum-exp, seed, offset
      const NodeId o = g->operands(n)[k];
      ASSERT_EQ(g->op(o), OpKind::kGetItem);
      EXPECT_EQ(g->attrs(o).get_int(AttrKey::kIndex, -1), static_cast<int64_t>(k) - 5);
    }
  }
}

TEST(FxJson, ListsAllUnknownOpsAtOnce) {
  const Result<Graph> g = import_fx_json(small({call("a", "aten.qr.default", {}, tensor({2})),
                                                call("b", "aten.svd.default", {}, tensor({2})),
                                                call("c", "aten.qr.default", {}, tensor({2}))},
                                               ref("c")));
  ASSERT_FALSE(g.ok());
  EXPECT_EQ(g.status().code(), Code::kUnimplemented);
  EXPECT_EQ(g.status().message(),
            "the graph has 2 ops that are not known: aten.qr.default (2, first at node 'a'), "
            "aten.svd.default (1, first at node 'b'); decompose them before the export "
            "(decomposition_table), or leave them out of the traced function");
}

// Import leaves out arguments that have no effect, but never a tensor.
TEST(FxJson, LeavesOutNoTensor) {
  EXPECT_EQ(text_of(small({call("y", "aten._grouped_mm.default",
                                {ref("x"), ref("x"), nullptr, ref("x")}, tensor({2, 2}))},
                          ref("y"))),
            "a tensor as argument 'bias' of aten._grouped_mm.default");
}

// Running statistics: the graph returns the new value of a buffer.
TEST(FxJson, ImportsUpdatesOfBuffers) {
  json file = small({call("new", "aten.add.Tensor", {ref("x"), 1}, tensor({2, 4}))}, ref("new"));
  json& desc = file["nodes"].back()["desc"][0];
  const json buffer = {{"cls", "BufferAOTInput"}, {"target", "bn.running_mean"}};
  file["nodes"][0]["desc"] = buffer;
  desc = {{"cls", "InputMutationAOTOutput"}, {"mutated_input", buffer}};
  EXPECT_EQ(text_of(file),
            "input buffer.bn.running_mean: %x : f32[2,4]\n"
            "%new = add(%x, none, other=1) : f32[2,4]\n"
            "return update.buffer.bn.running_mean = %new\n");
  desc["mutated_input"]["target"] = "bn.running_var";
  EXPECT_EQ(text_of(file),
            "output 0 belongs to no input: "
            "{\"cls\":\"InputMutationAOTOutput\",\"mutated_input\":{\"cls\":\"B...");
}

TEST(FxJson, TakesScalarsInPlaceOfTensors) {
  EXPECT_EQ(text_of(small({call("a", "aten.sub.Tensor", {1, ref("x")}, tensor({2, 4})),
                           call("b", "aten.add.Tensor", {ref("a"), 2.5}, tensor({2, 4}))},
                          ref("b"))),
            "input input.0: %x : f32[2,4] {position=0}\n"
            "%a = sub(none, %x, self=1) : f32[2,4]\n"
            "%b = add(%a, none, other=2.5) : f32[2,4]\n"
            "return output.0 = %b\n");
}

TEST(FxJson, TakesKeywordArguments) {
  json node = call("s", "aten.sum.dim_IntList", {ref("x")}, tensor({2, 1}));
  node["kwargs"] = {{"dim", {1}}, {"keepdim", true}};
  EXPECT_EQ(text_of(small({node}, ref("s"))),
            "input input.0: %x : f32[2,4] {position=0}\n"
            "%s = sum(%x, dims=[1], keepdim=true) : f32[2,1]\n"
            "return output.0 = %s\n");
  node["kwargs"] = {{"dims_", {1}}};
  EXPECT_EQ(text_of(small({node}, ref("s"))), "unknown argument 'dims_'");
}

TEST(FxJson, NamesTheFaultAndTheNode) {
  const auto fails = [](const json& file, int64_t node) {
    const Result<Graph> g = import_fx_json(file);
    EXPECT_FALSE(g.ok());
    EXPECT_EQ(g.status().node_index(), node);
    return g.status().message();
  };
  const json y = tensor({2, 4});
  EXPECT_EQ(fails(json::array(), -1), "the file's 'format' is not \"ap-graph-1\"");
  EXPECT_EQ(fails({{"format", "ap-graph-1"}}, -1), "the file has no list 'nodes'");
  EXPECT_EQ(fails(small({call("a", "aten.neg.default", {ref("z")}, y)}, ref("a")), 1),
            "argument 'self' is node 'z', which does not come before its use");
  EXPECT_EQ(fails(small({call("a", "aten.neg.default", {3}, y)}, ref("a")), 1),
            "argument 'self' cannot be 3");
  EXPECT_EQ(fails(small({call("a", "aten.neg.default", {ref("x"), 1}, y)}, ref("a")), 1),
            "argument 1 is one too many");
  EXPECT_EQ(fails(small({call("x", "aten.neg.default", {ref("x")}, y)}, ref("x")), 1),
            "an earlier node has this name already");
  EXPECT_EQ(fails(small({call("a", "aten.neg.default", {ref("x")}, nullptr)}, ref("a")), 1),
            "the node has no 'val'");
  EXPECT_EQ(fails(small({call("a", "aten.neg.default", {ref("x")}, tensor({-2, 4}))}, ref("a")), 1),
            "dim 0 is negative: -2");
  EXPECT_EQ(
      fails(small({call("a", "aten.neg.default", {ref("x")}, tensor({2, 4}, "float8"))}, ref("a")),
            1),
      "dtype 'float8' is not supported");
  EXPECT_EQ(fails(small({call("a", "aten.view.default", {ref("x"), {8, "s0"}}, y)}, ref("a")), 1),
            "argument 'size' cannot be [8,\"s0\"]");
  EXPECT_EQ(fails(small(json::array(), ref("q")), 1), "output 0 is not a node: {\"n\":\"q\"}");
}

// A linear layer in 8-bit floats as torch.export writes it. A view transposes the weight.
TEST(FxJson, ImportsScaledProductsOfFloat8) {
  json w = tensor({64, 32}, "float8_e4m3fn");
  w["stride"] = {1, 64};
  json product = call(
      "y", "aten._scaled_mm.default",
      {ref("q"), ref("t"), ref("s"), ref("s"), nullptr, nullptr, json{{"dtype", "bfloat16"}}, true},
      tensor({2, 32}, "bfloat16"));
  const auto plain = [](int index) { return json{{"cls", "PlainAOTInput"}, {"idx", index}}; };
  json all = json::array();
  all.push_back(placeholder("x", plain(0), tensor({2, 64})));
  all.push_back(placeholder("w", plain(1), tensor({32, 64}, "float8_e4m3fn")));
  all.push_back(placeholder("s", plain(2), tensor({})));
  all.push_back(call("q", "prims.convert_element_type.default",
                     {ref("x"), json{{"dtype", "float8_e5m2"}}}, tensor({2, 64}, "float8_e5m2")));
  all.push_back(call("t", "aten.t.default", {ref("w")}, w));
  all.push_back(product);
  all.push_back({{"name", "output"},
                 {"op", "output"},
                 {"args", json::array({json::array({ref("y")})})},
                 {"desc", json::array({{{"cls", "PlainAOTOutput"}, {"idx", 0}}})}});
  const std::string text = text_of({{"format", "ap-graph-1"}, {"nodes", all}});
  EXPECT_NE(text.find("%q = convert_element_type(%x, dtype=f8e5m2) : f8e5m2[2,64]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("%y = scaled_mm(%q, %t, %s, %s, none, dtype=bf16) : bf16[2,32]"),
            std::string::npos)
      << text;
  all[5]["args"][5] = ref("s");  // it would scale a result in 8-bit floats
  EXPECT_EQ(import_fx_json({{"format", "ap-graph-1"}, {"nodes", all}}).status().message(),
            "a tensor as argument 'scale_result' of aten._scaled_mm.default");
}

// Replaces every member of a real file with a value of another kind. Import must return a graph or
// a status.
TEST(FxJson, SurvivesDamage) {
  const json good = graph_file("ffn_1d8");
  size_t refused = 0, tried = 0;
  for (size_t i = 0; i < good["nodes"].size(); ++i) {
    for (const auto& [key, value] : good["nodes"][i].items()) {
      for (const json& damage : {json(), json(-7), json("text"), json::array({nullptr, "x"}),
                                 json{{"n", "nothing"}}, json{{"cls", "GradAOTOutput"}}}) {
        json bad = good;
        bad["nodes"][i][key] = damage;
        const Result<Graph> g = import_fx_json(bad);
        ++tried;
        if (g.ok()) {
          const Status status = verify_graph(*g);
          EXPECT_TRUE(status.ok() || !status.message().empty());
        } else {
          ++refused;
          EXPECT_FALSE(g.status().message().empty());
        }
      }
    }
  }
  EXPECT_GT(refused, tried / 4);  // name, op, target, args, val, desc matter; the rest is metadata
}

}  // namespace
}  // namespace shw::import
