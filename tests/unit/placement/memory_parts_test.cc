// The bytes held at each point are split into named parts: the parts must be complete and carry the
// right names.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "graph/text.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "memory_model.h"
#include "placement/memory.h"

namespace shw {
namespace {

// A graph with two halves. The backward half reads %m (through a view) and %x. Only the forward
// half reads %e. %w is returned unchanged, through an alias that the rewrites add. Its gradient is
// returned through a view.
constexpr const char* kHalves = R"(
input input.0: %x : f32[8,16]
input buffer.b: %b : f32[16]
input param.layer.w: %w : f32[16,16]
%e = exp(%x) : f32[8,16] {module="layer"}
%m = mm(%e, %w) : f32[8,16] {module="layer"}
%v = view(%m, size=[128]) : f32[128] {module="layer"}
%y = neg(%m) : f32[8,16] {module="layer"}
%s = exp(%v) : f32[128] {phase=backward, module="layer"}
%q = view(%s, size=[8,16]) : f32[8,16] {phase=backward, module="layer"}
%t = permute(%x, dims=[1,0]) : f32[16,8] {phase=backward}
%d = mm(%t, %q) : f32[16,16] {phase=backward}
%g = view(%d, size=[16,16]) : f32[16,16] {phase=backward}
return output.0 = %y, output.1 = %w, grad.layer.w = %g
)";

using Held = std::map<std::pair<std::string, std::string>, double>;  // by kind and node

Held held_at(const PreparedModel& model, std::span<const uint32_t> choice, const char* name) {
  const Graph& graph = model.graph();
  Held held;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    if (graph.name(NodeId{i}) == name)
      for (const MemoryPart& p : model.memory().parts(graph, choice, NodeId{i}))
        held[{std::string(to_string(p.kind)), graph.name(p.of)}] += p.bytes;
  return held;
}

TEST(MemoryParts, AreNamedForWhatTheyAreOf) {
  const auto graph = parse_graph(kHalves);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto model = model_for(write_graph(*graph), "one=1", 2);
  ASSERT_NE(model, nullptr);
  const std::vector<uint32_t> choice(model->graph().num_nodes(), 0);
  Held all{{{"parameters", "w"}, 1024}, {{"optimizer_state", "w"}, 2048},
           {{"results", "w"}, 1024},    {{"inputs", "x"}, 512},
           {{"inputs", "b"}, 64},       {{"results", "y"}, 512},
           {{"gradients", "w"}, 1024}};
  Held forward = all;
  forward[{"temporaries", "e"}] = 512;
  forward[{"activations", "m"}] = 512;
  EXPECT_EQ(held_at(*model, choice, "m"), forward);
  Held backward = all;
  backward[{"activations", "m"}] = 512;
  backward[{"temporaries", "s"}] = 512;
  EXPECT_EQ(held_at(*model, choice, "s"), backward);
}

TEST(MemoryParts, AddUpAtEveryPoint) {
  const auto json =
      import::read_json_file(SHW_TEST_DATA "/graphs/llama_tiny_2x4.graph.pre.json.gz");
  const auto graph = import::import_fx_json(*json);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const auto model = model_for(write_graph(*graph), "dp=2,tp=4", 1.5);
  ASSERT_NE(model, nullptr);
  std::mt19937 random(11);
  std::vector<uint32_t> choice;
  for (uint32_t i = 0; i < model->graph().num_nodes(); ++i)
    choice.push_back(static_cast<uint32_t>(random() % model->strategies().of(NodeId{i}).count));
  const std::vector<double> bytes = model->memory().bytes_at_points(choice);
  for (uint32_t i = 0; i < bytes.size(); ++i) {
    double sum = 0;
    for (const MemoryPart& p : model->memory().parts(model->graph(), choice, NodeId{i}))
      sum += p.bytes;
    EXPECT_EQ(sum, bytes[i]) << "point " << i;
  }
}

}  // namespace
}  // namespace shw
