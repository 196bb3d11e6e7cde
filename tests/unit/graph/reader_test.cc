#include "graph/reader.h"

#include <gtest/gtest.h>

#include <cstring>

#include "graph/diff.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "unit/graph/graph_file.h"

namespace shw {
namespace {

Graph graph_with_everything() {
  Graph g;
  const TensorType t = row_major(Dtype::kF32, {4, 8});
  g.add_input("w", t, {.role = InputRole::kParameter, .name = "layer.w"}, {.source = "model.py:3"});
  g.add_input("x", {{4, 8}, {1, 4}, Dtype::kF32}, {.name = "0", .position = 0});
  g.add_input("t", t, {.role = InputRole::kTangent, .name = "0", .position = 1},
              {.phase = Phase::kBackward});
  Attrs attrs;
  attrs.set(AttrKey::kSelf, 3.5);
  attrs.set(AttrKey::kOther, -0.0);
  attrs.set(AttrKey::kDims, std::vector<int64_t>{0, -1});
  attrs.set(AttrKey::kSize, std::vector<int64_t>{});
  attrs.set(AttrKey::kKeepDim, false);
  attrs.set(AttrKey::kDtype, Dtype::kBF16);
  attrs.set(AttrKey::kEquation, std::string("ab,bc->ac"));
  attrs.set(AttrKey::kKernel, std::string());
  attrs.set(AttrKey::kDim, int64_t{INT64_MIN});
  g.add_node(OpKind::kSum, "s", {NodeId{0}, kNoNode}, std::move(attrs), t,
             {Phase::kBackward, Recompute::kMustRecompute, 3, int64_t{1} << 40, "layer", "s.py"});
  const std::optional<TensorType> places[] = {t, std::nullopt, row_major(Dtype::kI64, {})};
  g.add_node(OpKind::kSdpa, "q", std::vector<NodeId>{NodeId{3}}, {}, places, true, {});
  g.symbols().table = {{"batch", 1, 64, 4, 4}, {"n", 0, INT64_MAX, 1, 8}};
  g.symbols().shapes[{0, 0}] = {{0, {{0, 1}}}, {-8, {{0, 2}, {1, 1}}}};
  g.symbols().attributes[{3, AttrKey::kDims}] = {{{-4, {{0, 1}}}, {-9, {{1, 1}}}}, true};
  g.symbols().attributes[{3, AttrKey::kDim}] = {{{INT64_MIN, {{0, 2}, {1, -1}}}}, false};
  g.add_output({NodeId{3}, OutputRole::kResult, "0", -1});
  g.add_output({kNoNode, OutputRole::kGradient, "", 0});
  g.add_output({NodeId{1}, OutputRole::kUpdate, "", 1});
  return g;
}

TEST(GraphReader, ReadsBackEverythingThatWasWritten) {
  const Graph g = graph_with_everything();
  const Result<Graph> back = read_graph(write_graph(g));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(first_difference(*back, g), "");
  EXPECT_EQ(fingerprint(*back), fingerprint(g));
}

TEST(GraphReader, WritesTheSameBytesAgain) {
  const std::vector<uint8_t> bytes = write_graph(graph_with_everything());
  EXPECT_EQ(write_graph(*read_graph(bytes)), bytes);
}

TEST(GraphReader, ReadsFromEveryAlignment) {
  const std::vector<uint8_t> bytes = write_graph(graph_with_everything());
  std::vector<uint8_t> storage(bytes.size() + 16);
  for (size_t offset = 0; offset < 16; ++offset) {
    SCOPED_TRACE(offset);
    std::memcpy(storage.data() + offset, bytes.data(), bytes.size());
    const Result<Graph> g = read_graph({storage.data() + offset, bytes.size()});
    ASSERT_TRUE(g.ok()) << g.status().message();
    EXPECT_EQ(first_difference(*g, graph_with_everything()), "");
  }
}

// Whichever byte the file is cut at and whichever bit is flipped, reading gives a graph or a
// status. A graph that is accepted survives the round trip.
TEST(GraphReader, SurvivesTruncationAndEveryFlippedBit) {
  const std::vector<uint8_t> bytes = write_graph(graph_with_everything());
  constexpr size_t kPadding = 4;  // at the end of the file, never read
  for (size_t n = 0; n + kPadding <= bytes.size(); ++n)
    EXPECT_FALSE(read_graph({bytes.data(), n}).ok()) << n << " bytes";
  size_t refused = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    SCOPED_TRACE(bit);
    std::vector<uint8_t> flipped = bytes;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    const Result<Graph> g = read_graph(flipped);
    if (!g.ok()) {
      ++refused;
      EXPECT_FALSE(g.status().message().empty());
      continue;
    }
    const Result<Graph> again = read_graph(write_graph(*g));
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(first_difference(*again, *g), "");
  }
  EXPECT_GT(refused, bytes.size());  // more than one bit of each byte matters
}

TEST(GraphReader, RefusesWhatIsLargerThanTheLimits) {
  const std::vector<uint8_t> bytes = testing::small_graph().bytes();
  const auto message = [&bytes](const GraphLimits& limits) {
    const Result<Graph> g = read_graph(bytes, limits);
    return g.ok() ? std::string("accepted") : g.status().message();
  };
  EXPECT_EQ(message({}), "accepted");
  EXPECT_EQ(message({.max_bytes = 100}),
            "the graph has " + std::to_string(bytes.size()) +
                " bytes, more than the limit of 100; weights do not belong into it");
  EXPECT_EQ(message({.max_nodes = 2}), "the graph has 3 nodes, more than the limit of 2");
  EXPECT_EQ(message({.max_list_items = 3}),
            "operands, results and attributes are more than the limit of 3");
  EXPECT_EQ(message({.max_text_bytes = 3}), "names and paths take more than the limit of 3 bytes");
}

}  // namespace
}  // namespace shw
