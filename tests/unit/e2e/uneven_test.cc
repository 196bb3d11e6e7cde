// Every change between two layouts of a tensor whose sizes no mesh divides, on virtual ranks.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "cost/collective.h"
#include "lowering/lower.h"
#include "passes/pass.h"
#include "plan/plan.h"
#include "redistribution/move_prices.h"
#include "runtime/virtual_ranks.h"

namespace shw {
namespace {

std::vector<Layout> layouts(const Dims& shape, const Mesh& mesh) {
  std::vector<Layout> list;
  const auto options = static_cast<int>(shape.size()) + 1;
  int count = 1;
  for (int m = 0; m < mesh.rank(); ++m) count *= options;
  for (int i = 0; i < count; ++i) {
    Layout l;
    for (int m = 0, rest = i; m < mesh.rank(); ++m, rest /= options)
      if (rest % options > 0) l[m] = Placement::shard(rest % options - 1);
    if (!is_shardable(shape, l, mesh)) continue;
    list.push_back(l);
    l.order = {1, 0, 2, 3, 4, 5};
    if (l = normalised(l); l != list.back()) list.push_back(l);
  }
  return list;
}

// The tensor is an input in layout `from`, passes through an op that does not change it, and leaves
// in layout `to`.
void expect_same(const Dims& shape, const Mesh& mesh, const Layout& from, const Layout& to) {
  SCOPED_TRACE(to_string(from, mesh.rank()) + " to " + to_string(to, mesh.rank()));
  const TensorType type = row_major(Dtype::kF32, shape);
  Graph g;
  const NodeId in = g.add_input("x", type, {.name = "0"});
  const NodeId out = g.add_node(OpKind::kRelu, "y", {in}, {}, type);
  g.add_output({.node = out, .name = "0"});
  Assignment a(g);
  a.results(in)[0] = from;
  a.operands(out)[0] = a.results(out)[0] = to;
  const auto model = cost::CollectiveModel::create(*cost::hardware_by_name("h100"), mesh);
  Monitor monitor;
  Plan plan;
  const MovePrices prices = move_prices(*model);
  Redistributor redistributor(mesh, prices);
  auto program = lower(g, a, redistributor, {}, monitor);
  ASSERT_TRUE(program.ok()) << program.status().message();
  plan.program = std::move(*program);
  ASSERT_TRUE(run_passes(plan.program, default_passes(), {}, monitor).ok());
  auto loaded = read_plan(write_plan(plan));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const auto ranks =
      runtime::VirtualRanks::create(std::make_shared<const Plan>(std::move(*loaded)));
  ASSERT_TRUE(ranks.ok()) << ranks.status().message();
  std::vector<float> whole(static_cast<size_t>(type.numel()));
  std::iota(whole.begin(), whole.end(), 1.0f);
  const runtime::HostTensorView view{type, whole.data()};
  const auto got = (*ranks)->run("step", std::vector{view});
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(std::memcmp((*got)[0].data.data(), whole.data(), whole.size() * sizeof(float)), 0);
}

TEST(Uneven, EveryChangeOfLayoutKeepsTheTensor) {
  size_t changes = 0;
  for (const auto& [mesh_text, shape] :
       {std::pair("a=4", Dims{7, 13, 5}), std::pair("a=2,b=3", Dims{7, 10}),
        std::pair("a=4,b=2", Dims{13, 9}), std::pair("a=2,b=2,c=2", Dims{11, 7})}) {
    SCOPED_TRACE(mesh_text);
    const Mesh mesh = *Mesh::parse(mesh_text);
    const auto all = layouts(shape, mesh);
    for (const Layout& from : all)
      for (const Layout& to : all) {
        expect_same(shape, mesh, from, to);
        ++changes;
      }
  }
  EXPECT_GT(changes, 1000u);
}

TEST(Uneven, PiecesBelongToTheFirstRanks) {
  const Mesh mesh = *Mesh::parse("a=4");
  const Layout layout = *parse_layout("S(0)", 1);
  const std::vector<std::pair<int64_t, int64_t>> want = {{0, 2}, {2, 2}, {4, 1}, {5, 0}};
  for (int64_t r = 0; r < 4; ++r) {
    const Block b = local_block(Dims{5, 3}, layout, mesh, r);
    EXPECT_EQ(b.offset[0], want[static_cast<size_t>(r)].first);
    EXPECT_EQ(b.size[0], want[static_cast<size_t>(r)].second);
  }
  EXPECT_EQ(local_shape(Dims{5, 3}, layout, mesh), (Dims{2, 3}));
}

}  // namespace
}  // namespace shw
