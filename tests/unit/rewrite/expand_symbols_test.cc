// Graphs with symbols, expanded to the sizes of their buckets.
#include "rewrite/expand_symbols.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "graph/text.h"
#include "ops/entries.h"
#include "rewrite/verify.h"

namespace shw {
namespace {

Graph parsed(const std::string& text) {
  const Result<Graph> g = parse_graph(text);
  EXPECT_TRUE(g.ok()) << g.status().message();
  if (!g.ok()) return {};
  const Status status = verify_graph(*g);
  EXPECT_TRUE(status.ok()) << status.message() << " at " << status.node_name();
  return *g;
}

Graph read(const std::string& name) {
  std::ifstream file(SHW_TEST_DATA "/symbolic/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return parsed(text.str());
}

Graph expanded(const Graph& graph, const std::vector<BucketSizes>& buckets) {
  const Result<Graph> g = expand_symbols(graph, buckets);
  EXPECT_TRUE(g.ok()) << g.status().message() << " at " << g.status().node_name();
  return g.ok() ? *g : Graph();
}

Status refusal(const Graph& graph, const std::vector<BucketSizes>& buckets) {
  const Result<Graph> g = expand_symbols(graph, buckets);
  EXPECT_FALSE(g.ok());
  return g.status();
}

uint32_t count(const Graph& g, OpKind op) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < g.num_nodes(); ++i) n += g.op(NodeId{i}) == op;
  return n;
}

TEST(ExpandSymbols, SharesWhatDependsOnNoSymbol) {
  const Graph g = expanded(read("decode.swt"), {{"decode", "cache", {64, 16}}});
  EXPECT_FALSE(g.symbols().has_exprs());
  const std::vector<EntryInfo> entries = g.entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "decode@cache=16");
  EXPECT_EQ(entries[1].name, "decode@cache=64");
  EXPECT_EQ(entries[2].name, "full");
  EXPECT_EQ(entries[0].bucket_of, "decode");
  EXPECT_EQ(entries[1].bucket, (std::vector<int64_t>{64}));
  EXPECT_EQ(entries[2].bucket_of, "");
  EXPECT_EQ(entries[0].weight, 50);
  EXPECT_EQ(entries[1].weight, 50);
  EXPECT_EQ(entries[2].weight, 1);
  EXPECT_EQ(count(g, OpKind::kIndexPut), 1u);  // of the cache, which has a single size
  EXPECT_EQ(count(g, OpKind::kSlice), 2u);
  int states = 0, masks = 0;
  for (const InputInfo& in : g.inputs()) {
    states += in.storage == InputStorage::kState;
    if (in.name != "mask") continue;
    ++masks;
    EXPECT_EQ(in.sizes, (Exprs{{1, {}}, {0, {{0, 1}}}}));
  }
  EXPECT_EQ(states, 1);
  EXPECT_EQ(masks, 2);
  // Nodes that are made more than once get different names. Their origin is the node of the
  // caller's graph.
  bool found = false;
  for (uint32_t i = 0; i < g.num_nodes(); ++i)
    if (g.name(NodeId{i}) == "kt@cache=64") {
      found = true;
      EXPECT_EQ(g.type(NodeId{i}).shape, (Dims{8, 64}));
      EXPECT_EQ(g.type(NodeId{i}).strides, (Dims{1, 8}));
      EXPECT_EQ(g.origin_name(NodeId{i}), "kt");
    }
  EXPECT_TRUE(found);
}

TEST(ExpandSymbols, OneBucketIsAtTheHintAndKeepsTheNames) {
  const Graph symbolic = read("decode.swt"), g = expanded(symbolic, {});
  const std::vector<EntryInfo> entries = g.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].name, "decode");
  EXPECT_EQ(entries[0].bucket, (std::vector<int64_t>{16}));
  EXPECT_EQ(entries[0].weight, 100);
  ASSERT_EQ(g.num_nodes(), symbolic.num_nodes());
  for (uint32_t i = 0; i < g.num_nodes(); ++i) {
    EXPECT_EQ(g.name(NodeId{i}), symbolic.name(NodeId{i}));
    EXPECT_EQ(g.type(NodeId{i}), symbolic.type(NodeId{i}));
    EXPECT_EQ(g.attrs(NodeId{i}), symbolic.attrs(NodeId{i}));
  }
}

TEST(ExpandSymbols, EntriesFollowTheBucketOfTheSameSizes) {
  const Graph g =
      expanded(read("two_sizes.swt"), {{"", "batch", {8, 16, 8}}, {"", "prefix", {4, 8}}});
  const std::vector<EntryInfo> entries = g.entries();
  ASSERT_EQ(entries.size(), 8u);
  EXPECT_EQ(entries[1].name, "forward@batch=8,prefix=8");
  EXPECT_EQ(entries[5].name, "backward@batch=8,prefix=8");
  for (uint32_t e = 0; e < 4; ++e) {
    EXPECT_EQ(entries[e].weight, 1.5);
    EXPECT_EQ(entries[4 + e].weight, 0.5);
    EXPECT_EQ(entries[4 + e].after, std::vector<uint32_t>{e});
    EXPECT_EQ(entries[4 + e].bucket, entries[e].bucket);
    // The tangent belongs to the result of the same sizes.
    ASSERT_EQ(entries[4 + e].inputs.size(), 1u);
    const InputInfo& tangent = g.inputs()[entries[4 + e].inputs[0]];
    EXPECT_EQ(std::vector<uint32_t>{static_cast<uint32_t>(tangent.position)}, entries[e].outputs);
  }
  uint32_t parameters = 0;
  for (const InputInfo& in : g.inputs()) parameters += in.role == InputRole::kParameter;
  EXPECT_EQ(parameters, 1u);
}

TEST(ExpandSymbols, WhatIsSaidOfAnEntryCountsBeforeWhatIsSaidOfAll) {
  const std::string text = R"(
symbol n min=1 max=64 hint=4
input input.0: %x : f32[n]
%y = neg(%x) : f32[n]
%z = exp(%x) : f32[n]
return output.0 = %y, output.1 = %z
entry a inputs=[0] outputs=[0]
entry b inputs=[0] outputs=[1]
)";
  const Graph g = expanded(parsed(text), {{"", "n", {8}}, {"b", "n", {2, 3}}});
  ASSERT_EQ(g.entries().size(), 3u);
  EXPECT_EQ(g.entries()[0].name, "a");
  EXPECT_EQ(g.entries()[0].bucket, (std::vector<int64_t>{8}));
  EXPECT_EQ(g.entries()[1].name, "b@n=2");
  EXPECT_EQ(g.entries()[2].name, "b@n=3");
}

TEST(ExpandSymbols, RefusesBucketsThatCannotBe) {
  const Graph decode = read("decode.swt"), two = read("two_sizes.swt");
  const auto words = [](const Graph& g, const std::vector<BucketSizes>& buckets) {
    return refusal(g, buckets).message();
  };
  EXPECT_EQ(words(decode, {{"decode", "cache", {16, 65}}}),
            "symbol 'cache': 65 is not from 1 to 64");
  EXPECT_EQ(words(two, {{"", "batch", {6}}}), "symbol 'batch': 6 is not a multiple of 4");
  EXPECT_EQ(words(two, {{"", "n", {6}}}),
            "buckets of a symbol 'n', which the graph does not have; it has batch, prefix");
  EXPECT_EQ(words(decode, {{"encode", "cache", {6}}}),
            "buckets of an entry 'encode', which there is not");
  EXPECT_EQ(words(decode, {{"full", "cache", {6}}}),
            "buckets of symbol 'cache', which entry 'full' does not depend on");
  EXPECT_EQ(words(decode, {{"decode", "cache", {}}}), "no sizes of symbol 'cache'");
  EXPECT_EQ(
      words(two, {{"forward", "batch", {16}}}),
      "entry 'backward' runs after 'forward', of which 0 buckets have its sizes; there must be "
      "one");
}

TEST(ExpandSymbols, RefusesMoreBucketsThanTheLimit) {
  std::vector<int64_t> sizes;
  for (int64_t i = 1; i <= 17; ++i) sizes.push_back(i);
  const std::string text = R"(
symbol a max=64 hint=4
symbol b max=64 hint=4
input input.0: %x : f32[a,b]
%y = neg(%x) : f32[a,b]
return output.0 = %y
)";
  EXPECT_EQ(refusal(parsed(text), {{"", "a", sizes}, {"", "b", sizes}}).message(),
            "entry 'step' has more buckets than the limit of 256");
}

TEST(ExpandSymbols, NamesTheNodeWhoseExpressionsAreWrongAtOtherSizes) {
  const std::string text = R"(
symbol n min=1 max=64 hint=4
input input.0: %x : f32[n,2]
%t = t(%x) : f32[2,n]{1,2}
%v = view(%t, size=[8]) : f32[8]
return output.0 = %v
)";
  const Graph g = parsed(text);
  EXPECT_TRUE(expand_symbols(g, {}).ok());
  const std::vector<BucketSizes> buckets = {{"", "n", {8}}};
  const Status s = refusal(g, buckets);
  EXPECT_EQ(s.node_name(), "v");
  EXPECT_EQ(s.node_index(), 2);
  EXPECT_EQ(s.message().substr(0, 8), "at n=8: ") << s.message();
}

TEST(ExpandSymbols, SharedInputsHaveSizesThatAreNumbers) {
  for (const char* input :
       {"input param.w: %x : f32[n]", "input buffer.w: %x : f32[n] {storage=state}"}) {
    const Graph g = parsed(std::string("symbol n max=64 hint=4\n") + input +
                           "\n%y = neg(%x) : f32[n]\nreturn output.0 = %y\n");
    const Status s = refusal(g, {});
    EXPECT_EQ(s.node_name(), "x");
    EXPECT_NE(s.message().find("is shared by all buckets"), std::string::npos) << s.message();
  }
}

TEST(BucketSizes, AreReadFromText) {
  EXPECT_EQ(*parse_bucket_sizes("decode:cache=16,64"), (BucketSizes{"decode", "cache", {16, 64}}));
  EXPECT_EQ(*parse_bucket_sizes("cache=16"), (BucketSizes{"", "cache", {16}}));
  EXPECT_EQ(*parse_bucket_sizes("a:b=c:n=1"), (BucketSizes{"a:b=c", "n", {1}}));
  for (const char* text : {"", "cache", "cache=", "=4", ":cache=4", "decode:=4", "cache=4,",
                           "cache=4x", "cache=99999999999999999999", "f32=4"})
    EXPECT_FALSE(parse_bucket_sizes(text).ok()) << text;
}

}  // namespace
}  // namespace shw
