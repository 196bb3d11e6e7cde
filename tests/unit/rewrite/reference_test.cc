// Rewrites the reference planner's own graphs. Our result must equal its rewritten graph node by
// node: names, ops, operands, attributes, types and metadata.
#include <gtest/gtest.h>

#include "graph/diff.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "rewrite/pass.h"
#include "rewrite/verify.h"

namespace shw {
namespace {

Graph imported(const std::string& name) {
  const auto file = import::read_json_file(SHW_TEST_DATA "/graphs/" + name + ".json.gz");
  EXPECT_TRUE(file.ok()) << file.status().message();
  Result<Graph> graph = import::import_fx_json(*file);
  EXPECT_TRUE(graph.ok()) << graph.status().message() << " at " << graph.status().node_name();
  const Status status = verify_graph(*graph);
  EXPECT_TRUE(status.ok()) << status.message() << " at " << status.node_name();
  return std::move(*graph);
}

struct Case {
  const char *pre, *post;
  bool einsum;
};

class ReferenceRewrites : public ::testing::TestWithParam<Case> {};

TEST_P(ReferenceRewrites, AreReproducedNodeByNode) {
  const Case& c = GetParam();
  const Graph post = imported(c.post);
  std::vector<PassStats> stats;
  const Result<Graph> ours = run_rewrites(imported(c.pre), {.einsum = c.einsum}, &stats);
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  EXPECT_EQ(first_difference(*ours, post), "");
  EXPECT_EQ(stats[0].changes, 0);  // these files were written after the reference's clean-up
}

// clean_up keeps only the choice points that are needed. So a second run of the other two passes
// changes nothing, except for the aliases of outputs, which FX would insert again too.
TEST_P(ReferenceRewrites, EinsumIsIdempotent) {
  const Case& c = GetParam();
  if (!c.einsum) return;
  const Graph post = imported(c.post);
  const Result<Rewritten> again = kViewMmToEinsum.run(post);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->changes, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, ReferenceRewrites,
    ::testing::Values(
        Case{"ffn_1d8.graph.pre", "ffn_1d8.graph.post", true},
        Case{"block_1d8.graph.pre", "block_1d8.graph.post", true},
        Case{"llama_tiny_2x4.graph.pre", "llama_tiny_2x4.graph.post", true},
        Case{"llama8b_L2_8x8_einsum.graph.pre", "llama8b_L2_8x8_einsum.graph.post", true},
        Case{"llama8b_L2_8x8_einsum.graph.pre", "llama8b_L2_8x8_mm.graph.post", false}),
    [](const auto& param) {
      std::string name = param.param.post;
      for (char& ch : name)
        if (ch == '.') ch = '_';
      return name;
    });

TEST(RunRewrites, StopsWhenCancelled) {
  const std::atomic<bool> cancel = true;
  Monitor monitor;
  monitor.cancel = &cancel;
  const Result<Graph> g = run_rewrites(imported("ffn_1d8.graph.pre"), {}, nullptr, &monitor);
  ASSERT_FALSE(g.ok());
  EXPECT_EQ(g.status().code(), Code::kCancelled);
}

TEST(RunRewrites, GivesTheSameBytesEveryTime) {
  const Graph pre = imported("llama_tiny_2x4.graph.pre");
  EXPECT_EQ(write_graph(*run_rewrites(pre)), write_graph(*run_rewrites(pre)));
}

}  // namespace
}  // namespace shw
