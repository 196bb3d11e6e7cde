// Compares the complete, ordered strategy lists of single ops with the reference's
// (tests/data/strategies).
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "ops/op_def.h"
#include "strategy/strategies.h"

namespace shw {
namespace {

using Lists = std::map<std::string, std::vector<std::string>>;

Lists golden() {
  std::ifstream file(SHW_TEST_DATA "/strategies/by_op.txt");
  Lists lists;
  std::string line, key;
  while (std::getline(file, line)) {
    if (line.rfind("## ", 0) == 0)
      key = line.substr(3);
    else
      lists[key].push_back(line);
  }
  return lists;
}

// One node whose inputs offer every combination of replicated and sharded layouts.
struct OneOp {
  Graph graph;
  std::vector<NodeId> operands;

  NodeId input(Dims shape, Dtype dtype = Dtype::kF32) {
    operands.push_back(graph.add_input("", row_major(dtype, shape), {}));
    return operands.back();
  }
  NodeId add(OpKind op, Attrs attrs = {}) {
    std::vector<OptionalType> types;
    for (NodeId o : operands)
      types.push_back(o.valid() ? OptionalType(graph.type(o)) : std::nullopt);
    auto results = op_def(op).infer({types, &attrs});
    EXPECT_TRUE(results.ok()) << results.status().message();
    return graph.add_node(op, "", operands, attrs, *results, results->size() > 1, {});
  }
};

Attrs attrs(std::initializer_list<Attrs::Item> items) {
  Attrs a;
  for (const auto& [key, value] : items) a.set(key, value);
  return a;
}
AttrValue ints(std::vector<int64_t> v) { return v; }

// Ops that LLaMA and GPT-2 do not use.
OneOp make_more(const std::string& op) {
  OneOp g;
  const Dims d2{8192, 8192}, d3{1024, 8192, 4096}, scores{8192, 128256};
  const AttrValue last = int64_t{-1}, one = int64_t{1}, zero = int64_t{0};
  if (op == "gelu")
    g.input(d2), g.add(OpKind::kGelu);
  else if (op == "amax[1]k")
    g.input(d2),
        g.add(OpKind::kAmax, attrs({{AttrKey::kDims, ints({1})}, {AttrKey::kKeepDim, true}}));
  else if (op == "softmax")
    g.input({64, 64, 1024, 1024}), g.add(OpKind::kSoftmax, attrs({{AttrKey::kDim, last}}));
  else if (op == "softmax_bwd")
    g.input({64, 64, 1024, 1024}), g.input({64, 64, 1024, 1024}),
        g.add(OpKind::kSoftmaxBackward, attrs({{AttrKey::kDim, last}}));
  else if (op == "log_softmax")
    g.input(scores), g.add(OpKind::kLogSoftmax, attrs({{AttrKey::kDim, one}}));
  else if (op == "nll_loss_fwd mean")
    g.input(scores), g.input({8192}, Dtype::kI64), g.operands.push_back(kNoNode),
        g.add(OpKind::kNllLoss, attrs({{AttrKey::kReduction, one}}));
  else if (op == "bmm")
    g.input({64, 1024, 4096}), g.input({64, 4096, 1024}), g.add(OpKind::kBmm);
  else if (op == "convolution")
    g.input({1024, 3, 224, 224}), g.input({768, 3, 16, 16}), g.input({768}),
        g.add(OpKind::kConvolution, attrs({{AttrKey::kStride, ints({16, 16})}}));
  else if (op == "gather")
    g.input(scores), g.input({8192, 1}, Dtype::kI64),
        g.add(OpKind::kGather, attrs({{AttrKey::kDim, one}}));
  else if (op == "scatter.value")
    g.input(scores), g.input({8192, 1}, Dtype::kI64), g.operands.push_back(kNoNode),
        g.add(OpKind::kScatter, attrs({{AttrKey::kDim, one}, {AttrKey::kSrc, -1.0}}));
  else if (op == "index_select")
    g.input(d2), g.input({8192}, Dtype::kI64),
        g.add(OpKind::kIndexSelect, attrs({{AttrKey::kDim, zero}}));
  else if (op == "select")
    g.input(d3), g.add(OpKind::kSelect, attrs({{AttrKey::kDim, one}, {AttrKey::kIndex, zero}}));
  else if (op == "stack")
    g.input(d2), g.input(d2), g.add(OpKind::kStack, attrs({{AttrKey::kDim, zero}}));
  else if (op == "t")
    g.input(d2), g.add(OpKind::kT);
  else if (op == "_to_copy")
    g.input(d2), g.add(OpKind::kToCopy, attrs({{AttrKey::kDtype, Dtype::kBF16}}));
  else if (op == "native_dropout")
    g.input(d2), g.add(OpKind::kDropout, attrs({{AttrKey::kP, 0.1}}));
  else if (op == "constant_pad_nd")
    g.input(d2), g.add(OpKind::kPad, attrs({{AttrKey::kPad, ints({0, 128})}}));
  else if (op == "full_like")
    g.input(d2), g.add(OpKind::kFullLike, attrs({{AttrKey::kFillValue, 0.0}}));
  else if (op == "topk")
    g.input({8192, 64}), g.add(OpKind::kTopk, attrs({{AttrKey::kK, int64_t{8}}}));
  else
    ADD_FAILURE() << "no case for " << op;
  return g;
}

OneOp make(const std::string& op) {
  OneOp g;
  const Dims d2{8192, 8192}, d3{1024, 8192, 4096}, d4{1024, 8192, 128, 128};
  const std::map<std::string, OpKind> unary = {{"exp", OpKind::kExp},
                                               {"neg", OpKind::kNeg},
                                               {"relu", OpKind::kRelu},
                                               {"rsqrt", OpKind::kRsqrt}};
  if (op == "mm")
    g.input(d2), g.input(d2), g.add(OpKind::kMm);
  else if (op == "einsum_fwd")
    g.input(d3), g.input({4096, 8192}),
        g.add(OpKind::kEinsum, attrs({{AttrKey::kEquation, std::string("abk,kn->abn")}}));
  else if (op == "einsum_bwd")
    g.input(d3), g.input({1024, 8192, 512}),
        g.add(OpKind::kEinsum, attrs({{AttrKey::kEquation, std::string("abn,abk->kn")}}));
  else if (op == "add same")
    g.input(d3), g.input(d3), g.add(OpKind::kAdd);
  else if (op == "add bcast1d")
    g.input(d3), g.input({4096}), g.add(OpKind::kAdd);
  else if (op == "add scalar arg")
    g.input(d2), g.operands.push_back(kNoNode),
        g.add(OpKind::kAdd, attrs({{AttrKey::kOther, 2.0}}));
  else if (op == "mul")
    g.input(d2), g.input(d2), g.add(OpKind::kMul);
  else if (op == "mul bcast")
    g.input(d2), g.input({8192}), g.add(OpKind::kMul);
  else if (op == "div")
    g.input(d2), g.input({8192, 1}), g.add(OpKind::kDiv);
  else if (unary.count(op))
    g.input(d2), g.add(unary.at(op));
  else if (op == "pow")
    g.input(d2), g.add(OpKind::kPow, attrs({{AttrKey::kExponent, int64_t{2}}}));
  else if (op == "sum[2]k")
    g.input(d3),
        g.add(OpKind::kSum, attrs({{AttrKey::kDims, ints({2})}, {AttrKey::kKeepDim, true}}));
  else if (op == "sum[0,1]")
    g.input(d3), g.add(OpKind::kSum, attrs({{AttrKey::kDims, ints({0, 1})}}));
  else if (op == "mean[2]k")
    g.input(d3),
        g.add(OpKind::kMean, attrs({{AttrKey::kDims, ints({-1})}, {AttrKey::kKeepDim, true}}));
  else if (op == "embedding")
    g.input({128256, 4096}), g.input({1024, 8192}, Dtype::kI64), g.add(OpKind::kEmbedding);
  else if (op == "embedding_bwd")
    g.input(d3), g.input({1024, 8192}, Dtype::kI64),
        g.add(OpKind::kEmbeddingDenseBackward, attrs({{AttrKey::kNumWeights, int64_t{128256}}}));
  else if (op == "permute")
    g.input(d4), g.add(OpKind::kPermute, attrs({{AttrKey::kDims, ints({0, 2, 1, 3})}}));
  else if (op == "view split")
    g.input(d3), g.add(OpKind::kView, attrs({{AttrKey::kSize, ints({1024, 8192, 32, 128})}}));
  else if (op == "view flatten last")
    g.input({1024, 8192, 32, 128}),
        g.add(OpKind::kView, attrs({{AttrKey::kSize, ints({1024, 8192, -1})}}));
  else if (op == "view flatten batch")
    g.input({64, 8192, 4096}),
        g.add(OpKind::kView, attrs({{AttrKey::kSize, ints({524288, 4096})}}));
  else if (op == "unsqueeze")
    g.input(d2), g.add(OpKind::kUnsqueeze, attrs({{AttrKey::kDim, int64_t{1}}}));
  else if (op == "expand")
    g.input({1024, 8192, 1, 128}),
        g.add(OpKind::kExpand, attrs({{AttrKey::kSize, ints({-1, -1, 4, -1})}}));
  else if (op == "alias")
    g.input(d2), g.add(OpKind::kAlias);
  else if (op == "clone")
    g.input(d2), g.add(OpKind::kClone);
  else if (op == "convert")
    g.input(d2), g.add(OpKind::kConvertElementType, attrs({{AttrKey::kDtype, Dtype::kBF16}}));
  else if (op == "sdpa_eff")
    g.input(d4), g.input(d4), g.input(d4), g.operands.push_back(kNoNode),
        g.add(OpKind::kSdpa,
              attrs({{AttrKey::kComputeLse, true}, {AttrKey::kKernel, std::string("efficient")}}));
  else if (op == "where")
    g.input(d2, Dtype::kBool), g.input(d2), g.input(d2), g.add(OpKind::kWhere);
  else if (op == "cumsum")
    g.input(d2), g.add(OpKind::kCumsum, attrs({{AttrKey::kDim, int64_t{1}}}));
  else if (op == "cat d0")
    g.input(d2), g.input(d2), g.add(OpKind::kCat, attrs({{AttrKey::kDim, int64_t{0}}}));
  else if (op == "slice d1")
    g.input(d2), g.add(OpKind::kSlice, attrs({{AttrKey::kDim, int64_t{1}},
                                              {AttrKey::kStart, int64_t{0}},
                                              {AttrKey::kEnd, int64_t{1024}}}));
  else if (op == "split")
    g.input({8192, 12288}),
        g.add(OpKind::kSplit,
              attrs({{AttrKey::kSplitSize, int64_t{4096}}, {AttrKey::kDim, int64_t{1}}}));
  else if (op == "split_with_sizes")
    g.input({8192, 12288}),
        g.add(OpKind::kSplitWithSizes, attrs({{AttrKey::kSplitSizes, ints({4096, 4096, 4096})},
                                              {AttrKey::kDim, int64_t{1}}}));
  else if (op == "layer_norm")
    g.input(d3), g.input({4096}), g.input({4096}),
        g.add(OpKind::kLayerNorm, attrs({{AttrKey::kNormalizedShape, ints({4096})}}));
  else if (op == "layer_norm_bwd")
    g.input(d3), g.input(d3), g.input({1024, 8192, 1}), g.input({1024, 8192, 1}), g.input({4096}),
        g.input({4096}),
        g.add(OpKind::kLayerNormBackward, attrs({{AttrKey::kNormalizedShape, ints({4096})}}));
  else if (op == "full")
    g.add(OpKind::kFull, attrs({{AttrKey::kSize, ints({8192, 8192})}, {AttrKey::kFillValue, 0.0}}));
  else if (op == "iota")
    g.add(OpKind::kIota, attrs({{AttrKey::kLength, int64_t{8192}}}));
  else
    return make_more(op);
  return g;
}

// "(S(0), R, none) -> R" without the absent operands, which the reference does not print.
std::string without_none(std::string s) {
  for (size_t at; (at = s.find(", none")) != std::string::npos;) s.erase(at, 6);
  return s;
}

TEST(Strategies, OfEveryOpAreTheReferencesInOrder) {
  const Lists lists = golden();
  ASSERT_EQ(lists.size(), 114u);
  for (const auto& [key, want] : lists) {
    SCOPED_TRACE(key);
    const bool flat = key.rfind("1d8/", 0) == 0;
    const OneOp g = make(key.substr(key.find('/') + 1));
    Monitor monitor;
    const auto s = Strategies::enumerate(g.graph, *Mesh::parse(flat ? "d=64" : "a=8,b=8"),
                                         {.rules = Rules::kCompat}, monitor);
    ASSERT_TRUE(s.ok()) << s.status().message();
    const NodeId n{g.graph.num_nodes() - 1};
    std::vector<std::string> got;
    for (uint32_t i = 0; i < s->of(n).count; ++i)
      got.push_back(without_none(strategy_text(*s, n, i, flat ? 1 : 2)));
    EXPECT_EQ(got, want);
  }
}

}  // namespace
}  // namespace shw
