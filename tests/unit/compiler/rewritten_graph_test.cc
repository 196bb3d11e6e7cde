// Models of several meshes share one rewritten graph, and give the plans that each gives alone.
#include "compiler/rewritten_graph.h"

#include <gtest/gtest.h>

#include "compiler/pipeline.h"
#include "compiler/place.h"
#include "unit/compiler/test_graphs.h"

namespace shw {
namespace {

TEST(RewrittenGraph, ServesSeveralMeshes) {
  const std::vector<uint8_t> bytes = testing::test_graph("block_1d8");
  Monitor monitor;
  CompileOptions options;
  const auto graph = RewrittenGraph::read(bytes, options, monitor);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ((*graph)->phases.size(), 2u);
  for (const char* mesh : {"dp=8", "dp=2,tp=4", "a=2,b=2,c=2"}) {
    SCOPED_TRACE(mesh);
    options.mesh = mesh;
    const auto model = PreparedModel::create(*graph, options, monitor);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(&(*model)->graph(), &(*graph)->graph);
    const auto shared = compile(**model, options, monitor);
    ASSERT_TRUE(shared.ok()) << shared.status().message();
    const auto alone = compile(bytes, options, monitor);
    ASSERT_TRUE(alone.ok()) << alone.status().message();
    EXPECT_EQ(shared->bytes, alone->bytes);
  }
}

TEST(RewrittenGraph, RefusesWhatIsNoGraph) {
  Monitor monitor;
  const std::vector<uint8_t> bytes(64, 7);
  EXPECT_EQ(RewrittenGraph::read(bytes, {}, monitor).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw
