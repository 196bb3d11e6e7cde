#include "redistribution/redistributor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "lowering/transfer.h"
#include "lowering/versions.h"
#include "sanitized.h"
#include "sharding/unfolding.h"
#include "simple_prices.h"
#include "virtual_ranks.h"

namespace shw {
namespace {

using testing::piece_of;
using testing::simple_prices;
using testing::VirtualRanks;

Layout layout_of(const std::string& text, const Mesh& mesh) {
  return *parse_layout(text, mesh.rank());
}

std::string route_text(const Route& route) {
  static const char* const kNames[] = {"local",  "gather",   "scatter",
                                       "reduce", "exchange", "permute"};
  std::string text;
  for (const Move& m : route.moves) {
    text += text.empty() ? "" : "; ";
    text += kNames[static_cast<int>(m.kind)];
    for (uint8_t a : m.axes) text += " " + std::to_string(a);
    for (uint8_t a : m.to_axes) text += (a == m.to_axes[0] ? " as " : " ") + std::to_string(a);
    if (m.from_dim >= 0) text += " from " + std::to_string(m.from_dim);
    if (m.to_dim >= 0) text += " to " + std::to_string(m.to_dim);
    for (const DimBlocks& b : m.several) text += " of " + std::to_string(b.dim);
  }
  return text;
}

std::string plan(const Mesh& mesh, const Dims& shape, const std::string& from,
                 const std::string& to) {
  const MovePrices prices = simple_prices();
  Redistributor r(mesh, prices);
  const auto route = r.route(shape, 4, layout_of(from, mesh), layout_of(to, mesh));
  return route.ok() ? route_text(**route) : route.status().message();
}

const Mesh& mesh_8x8() {
  static const Mesh mesh = *Mesh::parse("dp=8,tp=8");
  return mesh;
}

TEST(Redistribute, UnshardsSeveralMeshDimsOfOneTensorDimAtOnce) {
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "S(0)S(0)", "RR"), "gather 0 1 from 0");
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "S(0)S(0)|1,0", "RR"), "gather 1 0 from 0");
}

TEST(Redistribute, GathersTheInnerShardAlone) {
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "S(0)S(0)", "S(0)R"), "gather 1 from 0");
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "S(0)S(0)|1,0", "RS(0)"), "gather 0 from 0");
}

// Three mesh dims shard one tensor dim: tp first, then cp, then dp. One collective gathers what two
// of them have cut, with its members numbered in that order.
TEST(Redistribute, GathersAllButTheFirstCutAtOnce) {
  const Mesh mesh = *Mesh::parse("dp=2,cp=2,tp=2");
  EXPECT_EQ(plan(mesh, {4096, 4096}, "S(0)S(0)S(0)|2,1,0", "RRS(0)"), "gather 1 0 from 0");
  EXPECT_EQ(plan(mesh, {4096, 4096}, "S(0)S(0)S(0)", "S(0)RR"), "gather 1 2 from 0");
}

TEST(Redistribute, ScattersToTheWantedShardOrder) {
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "PP", "S(0)S(0)"), "scatter 0 1 to 0");
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "PP", "S(0)S(0)|1,0"), "scatter 1 0 to 0");
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "PS(0)", "S(0)S(0)|1,0"), "scatter 0 to 0");
}

TEST(Redistribute, ReducesSeveralMeshDimsAtOnce) {
  EXPECT_EQ(plan(mesh_8x8(), {8, 8}, "PP", "RR"), "reduce 0 1");
}

TEST(Redistribute, PermutesTheOuterShardInsideBeforeItGoes) {
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "S(0)S(0)", "RS(0)"),
            "permute 0 1 as 1 0; gather 0 from 0");
}

// If mesh dims only swap their tensor dims, every block is sent once.
TEST(Redistribute, PermutesMeshDimsInOneCollective) {
  const auto expect = [](const char* mesh, const Dims& shape, const char* from, const char* to,
                         const char* route) {
    EXPECT_EQ(plan(*Mesh::parse(mesh), shape, from, to), route) << from << " -> " << to;
  };
  expect("x=8,y=8", {4096, 4096}, "S(0)S(1)", "S(1)S(0)", "permute 0 1 as 1 0");
  expect("x=8,y=8", {4096, 4096}, "S(0)R", "RS(0)", "permute 0 1 as 1 0");
  expect("x=2,y=4", {4096, 4096}, "S(0)S(0)", "S(0)S(0)|1,0", "permute 0 1 as 1 0");
  // The third mesh dim numbers the same blocks before and after.
  expect("x=2,y=2,z=2", {64, 64}, "S(0)S(1)S(1)", "S(1)S(0)S(1)", "permute 0 1 as 1 0");
  expect("x=2,y=2,z=2", {64, 64, 64}, "S(0)S(1)S(2)", "S(1)S(2)S(0)", "permute 0 1 2 as 2 0 1");
  // Four blocks are the same blocks whether one mesh dim or two make them.
  expect("x=4,y=2,z=2", {64, 64}, "S(0)RR", "RS(0)S(0)", "permute 0 1 2 as 1 2 0");
  // Beyond four mesh dims.
  expect("a=2,b=2,c=2,d=2,e=2", {64, 64}, "S(0)S(1)S(0)S(1)R", "S(1)S(0)S(1)S(0)R",
         "permute 0 2 1 3 as 1 3 0 2");
  // Uneven blocks are the same only if they are cut in the same steps.
  expect("x=3,y=3", {8, 8}, "S(0)R", "RS(0)", "permute 0 1 as 1 0");
  EXPECT_EQ(plan(*Mesh::parse("x=2,y=3"), {7, 8}, "S(0)S(0)", "S(0)S(0)|1,0").find("permute"),
            std::string::npos);
}

// One collective over all mesh dims. Its members are numbered tensor dim by tensor dim.
TEST(Redistribute, GathersAndScattersSeveralTensorDimsAtOnce) {
  EXPECT_EQ(plan(mesh_8x8(), {16, 16}, "S(0)S(1)", "RR"), "gather 0 1 of 0 of 1");
  EXPECT_EQ(plan(mesh_8x8(), {16, 16}, "S(1)S(0)", "RR"), "gather 1 0 of 0 of 1");
  EXPECT_EQ(plan(mesh_8x8(), {16, 16}, "PP", "S(1)S(0)"), "scatter 1 0 of 0 of 1");
  // First exchanging a piece saves the copy of the whole tensor.
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "S(0)S(1)", "RR"),
            "exchange 1 from 1 to 0; gather 0 1 from 0");
  const Mesh cube = *Mesh::parse("x=2,y=2,z=2");
  EXPECT_EQ(plan(cube, {64, 64, 64}, "S(2)S(0)S(1)", "RRR"), "gather 1 2 0 of 0 of 1 of 2");
  EXPECT_EQ(plan(cube, {64, 64}, "S(1)S(0)S(1)", "S(1)RR"), "gather 1 2 of 0 of 1");
  EXPECT_EQ(plan(cube, {64, 64}, "PPP", "S(1)S(0)S(1)"), "scatter 1 0 2 of 0 of 1");
  // The shard that is cut first is gathered last.
  EXPECT_EQ(plan(cube, {64, 64}, "S(1)S(0)S(1)|2,1,0", "RRS(1)"), "gather 1 0 of 0 of 1");
  // Uneven blocks are gathered one tensor dim after the other.
  EXPECT_EQ(plan(*Mesh::parse("x=2,y=3"), {7, 8}, "S(0)S(1)", "RR"),
            "gather 0 from 0; gather 1 from 1");
}

// y is split into parts 4·2. Its outer part takes over the cut of x. Numbers from 16 on denote
// parts.
TEST(Redistribute, MovesPartsOfMeshDims) {
  const Mesh mesh = with_parts(*Mesh::parse("x=4,y=8"), 4);
  EXPECT_EQ(plan(mesh, {4096, 4096}, "S(0)R", "S(1)S(0)"),
            "local 16 to 1; local 17 to 0; permute 0 16 as 16 0");
  EXPECT_EQ(plan(mesh, {4096, 4096}, "S(0)S(1)", "S(1)S(0)"),
            "exchange 17 from 1 to 0; permute 0 16 as 16 0");
  // Whole dims are moved if parts do not help.
  EXPECT_EQ(plan(mesh, {4096, 4096}, "S(0)S(0)", "RR"), "gather 0 1 from 0");
  EXPECT_EQ(plan(mesh, {4096, 4096}, "S(1)S(0)", "S(1)S(1)"), "exchange 1 from 0 to 1");
  EXPECT_EQ(plan(mesh, {4096, 4096}, "S(0)S(0)", "S(0)S(0)|1,0"), "permute 0 1 as 1 0");
  // Blocks of blocks of 12 differ from the eighths of 12.
  EXPECT_EQ(plan(mesh, {12, 4096}, "RS(0)", "S(0)S(1)"),
            plan(*Mesh::parse("x=4,y=8"), {12, 4096}, "RS(0)", "S(0)S(1)"));
}

// The price of every route between layouts of a tensor, uneven ones included, is the price of its
// steps. This includes copies: tensors are padded before they are cut, and narrowed when they are
// whole.
void expect_routes_cost_their_steps(const Mesh& mesh, const Dims& shape) {
  const MovePrices prices = simple_prices();
  Redistributor r(mesh, prices);
  std::vector<Layout> layouts(1);
  for (int m = 0; m < mesh.rank(); ++m) {
    std::vector<Layout> longer;
    for (const Layout& l : layouts)
      for (int d = -2; d < static_cast<int>(shape.size()); ++d) {
        longer.push_back(l);
        longer.back()[m] = d == -2   ? Placement::partial()
                           : d == -1 ? Placement::replicate()
                                     : Placement::shard(d);
      }
    layouts = longer;
  }
  std::erase_if(layouts, [&](const Layout& l) { return !is_shardable(shape, l, mesh); });
  for (const Layout& from : layouts)
    for (const Layout& to : layouts) {
      const auto route = r.route(shape, 8, from, to);
      if (!route.ok()) continue;
      Program program;
      program.mesh = mesh.axes();
      ProgramBuilder builder(program);
      ValueId piece = builder.fresh(row_major(Dtype::kF64, local_shape(shape, from, mesh)),
                                    StorageKind::kInput);
      for (const Move& move : (*route)->moves)
        piece = emit_move(builder, move, piece, mesh, prices);
      double us = 0;
      for (const ProgramStep& s : program.steps) us += s.cost_us;
      EXPECT_NEAR((*route)->cost_us, us, 1e-9 * us)
          << mesh.to_string() << " " << to_string(from, mesh.rank()) << " -> "
          << to_string(to, mesh.rank()) << ": " << route_text(**route);
    }
}

TEST(Redistribute, RoutesCostWhatTheirStepsCost) {
  expect_routes_cost_their_steps(*Mesh::parse("x=3"), {5, 7});
  expect_routes_cost_their_steps(*Mesh::parse("x=2,y=3"), {7, 9});
  expect_routes_cost_their_steps(*Mesh::parse("x=2,y=2,z=2"), {6, 10});
  expect_routes_cost_their_steps(with_parts(*Mesh::parse("x=2,y=4"), 4), {8, 13, 4});
}

TEST(Redistribute, SlicesBeforeItReduces) {
  EXPECT_EQ(plan(mesh_8x8(), {4096, 4096}, "PR", "S(0)S(1)"), "local 1 to 1; scatter 0 to 0");
}

TEST(Redistribute, KeepsPartialsThatStay) {
  EXPECT_EQ(plan(mesh_8x8(), {64, 64}, "PP", "PR"), "reduce 1");
  EXPECT_EQ(plan(mesh_8x8(), {64, 64}, "PS(0)", "PR"), "gather 1 from 0");
  EXPECT_EQ(plan(mesh_8x8(), {64, 64}, "P(avg)P(avg)", "S(0)P(avg)"), "scatter 0 to 0");
}

TEST(Redistribute, RefusesToMakePartials) {
  EXPECT_NE(plan(mesh_8x8(), {64, 64}, "RR", "PR").find("only the operation that makes"),
            std::string::npos);
  EXPECT_NE(plan(mesh_8x8(), {64, 64}, "PR", "P(max)R").find("only the operation that makes"),
            std::string::npos);
  EXPECT_NE(plan(mesh_8x8(), {64, 64}, "P(max)P", "RR").find("do not commute"), std::string::npos);
}

TEST(Redistribute, TreatsMeshDimsOfSizeOneAsReplicated) {
  const Mesh mesh = *Mesh::parse("a=1,b=4");
  const MovePrices prices = simple_prices();
  Redistributor r(mesh, prices);
  EXPECT_EQ(to_string(r.canonical(layout_of("S(0)S(0)", mesh)), 2), "RS(0)");
  EXPECT_EQ(to_string(r.canonical(layout_of("PM", mesh)), 2), "RP");
}

// Every even layout of a tensor of `shape`, in every shard order. Partials are included on request,
// and so are the strided shards in `strided`.
std::vector<Layout> all_layouts(const Mesh& mesh, const Dims& shape, ReduceOp op, bool partials,
                                const std::vector<Placement>& strided = {}) {
  std::vector<Placement> choices = {Placement::replicate()};
  for (int d = 0; d < static_cast<int>(shape.size()); ++d) choices.push_back(Placement::shard(d));
  if (partials) choices.push_back(Placement::partial(op));
  choices.insert(choices.end(), strided.begin(), strided.end());
  std::vector<Layout> all(1);
  for (int m = 0; m < mesh.rank(); ++m) {
    std::vector<Layout> longer;
    for (const Layout& l : all)
      for (Placement p : choices) {
        longer.push_back(l);
        longer.back()[m] = p;
      }
    all = longer;
  }
  std::vector<Layout> ordered;
  for (Layout l : all) {
    if (!is_evenly_sharded(shape, l, mesh)) continue;
    do {
      const Layout n = normalised(l);
      if (std::find(ordered.begin(), ordered.end(), n) == ordered.end()) ordered.push_back(n);
    } while (std::next_permutation(l.order.begin(), l.order.begin() + mesh.rank()));
  }
  return ordered;
}

// What a rank holds of `whole` under a layout with partials. The ranks along partial mesh dims
// reduce to `whole`. Values are small integers and powers of two, so that every reduction is exact.
std::vector<double> contribution(const std::vector<double>& whole, const Dims& shape,
                                 const Layout& layout, const Mesh& mesh, int64_t rank) {
  Layout blocks = layout;
  int64_t members = 1, number = 0;
  ReduceOp op = ReduceOp::kSum;
  for (int m = 0; m < mesh.rank(); ++m) {
    if (!layout[m].is_partial()) continue;
    op = layout[m].reduce_op();
    members *= mesh.size(m);
    number = number * mesh.size(m) + mesh.coordinate(rank, m);
    blocks[m] = Placement::replicate();
  }
  std::vector<double> piece = piece_of(whole, shape, blocks, mesh, rank);
  for (size_t i = 0; i < piece.size(); ++i) {
    const int64_t owner = static_cast<int64_t>(i) % members;
    if (op == ReduceOp::kMax)
      piece[i] -= number == owner ? 0 : static_cast<double>(1 + number);
    else if (op == ReduceOp::kAvg)
      piece[i] = number == owner ? piece[i] * static_cast<double>(members) : 0;
    else if (number != owner)
      piece[i] = static_cast<double>(number + 3);
    else
      for (int64_t other = 0; other < members; ++other)
        if (other != owner) piece[i] -= static_cast<double>(other + 3);
  }
  return piece;
}

// Values on ranks along partial mesh dims must reduce to the right piece. All other values must be
// equal to it.
void expect_holds(const VirtualRanks& ranks, ValueId value, const std::vector<double>& whole,
                  const Dims& shape, const Layout& layout, const Mesh& mesh) {
  Layout blocks = layout;
  for (int m = 0; m < mesh.rank(); ++m)
    if (layout[m].is_partial()) blocks[m] = Placement::replicate();
  for (int64_t r = 0; r < mesh.num_ranks(); ++r) {
    std::vector<double> held = ranks.read(r, value);
    if (layout.has_partial()) {
      int64_t members = 0;
      ReduceOp op = ReduceOp::kSum;
      for (int64_t o = 0; o < mesh.num_ranks(); ++o) {
        bool peer = true;
        for (int m = 0; m < mesh.rank(); ++m) {
          if (layout[m].is_partial())
            op = layout[m].reduce_op();
          else
            peer &= mesh.coordinate(o, m) == mesh.coordinate(r, m);
        }
        if (!peer) continue;
        const std::vector<double> other = ranks.read(o, value);
        for (size_t i = 0; i < held.size(); ++i)
          held[i] = members == 0           ? other[i]
                    : op == ReduceOp::kMax ? std::max(held[i], other[i])
                                           : held[i] + other[i];
        ++members;
      }
      if (op == ReduceOp::kAvg)
        for (double& x : held) x /= static_cast<double>(members);
    }
    ASSERT_EQ(held, piece_of(whole, shape, blocks, mesh, r)) << "on rank " << r;
  }
}

// Converts a value from layout `from`, stored in memory in the dim order `lies`, into layout `to`.
void check_pair(const Mesh& mesh, const Dims& shape, const Layout& from, const Layout& to,
                const std::vector<size_t>& lies) {
  SCOPED_TRACE(mesh.to_string() + " " + to_string(row_major(Dtype::kF64, shape)) + " " +
               to_string(from, mesh.rank()) + " -> " + to_string(to, mesh.rank()));
  const MovePrices prices = simple_prices();
  Redistributor redistributor(mesh, prices);
  Program program;
  program.mesh = mesh.axes();
  ProgramBuilder builder(program);
  Versions versions(1, builder, redistributor, prices);

  const Dims local = local_shape(shape, from, mesh);
  Dims in_memory;
  for (size_t d : lies) in_memory.push_back(local[d]);
  TensorType seen{local, local, Dtype::kF64};
  for (size_t i = 0; i < lies.size(); ++i) seen.strides[lies[i]] = row_major_strides(in_memory)[i];
  const ValueId given = builder.fresh(row_major(Dtype::kF64, in_memory), StorageKind::kInput, 0);
  const PortId port = program.ports.push_back(
      {"x", PortRole::kInput, row_major(Dtype::kF64, in_memory), Layout{}, given});
  const ValueId source = builder.window_like(given, seen);
  versions.define(0, row_major(Dtype::kF64, shape), from, source);
  const auto made = versions.get(0, to);
  ASSERT_TRUE(made.ok()) << made.status().message();
  ProgramEntry& entry = program.entries.emplace_back();
  entry.name = "step";
  entry.inputs = {port};
  entry.num_steps = static_cast<uint32_t>(program.steps.size());
  const Status sound = verify(program, false);
  ASSERT_TRUE(sound.ok()) << sound.message() << "\n" << to_text(program);
  EXPECT_EQ(program.values[*made].type.shape, local_shape(shape, to, mesh));

  std::vector<double> whole(static_cast<size_t>(row_major(Dtype::kF64, shape).numel()));
  std::iota(whole.begin(), whole.end(), 1);
  VirtualRanks ranks(program);
  ranks.kernel = [](const ProgramStep& s, const std::vector<std::vector<double>>& in) {
    EXPECT_EQ(s.kernel, "mul");
    std::vector<double> out = in[0];
    for (double& x : out) x *= s.attrs.get_number(AttrKey::kOther, 0);
    return std::vector<std::vector<double>>{out};
  };
  for (int64_t r = 0; r < mesh.num_ranks(); ++r)
    ranks.write(r, source, contribution(whole, shape, from, mesh, r));
  ranks.run();
  expect_holds(ranks, *made, whole, shape, to, mesh);
}

void check_all_pairs(const Mesh& mesh, const Dims& shape, ReduceOp op, bool transposed,
                     const std::vector<Placement>& strided = {}) {
  std::vector<size_t> lies(shape.size());
  std::iota(lies.begin(), lies.end(), size_t{0});
  if (transposed) std::reverse(lies.begin(), lies.end());
  const auto sources = all_layouts(mesh, shape, op, true, strided);
  int checked = 0;
  for (const Layout& from : sources)
    for (const Layout& to : sources) {
      bool possible = true;
      for (int m = 0; m < mesh.rank(); ++m) possible &= !to[m].is_partial() || from[m] == to[m];
      if (!possible) continue;
      check_pair(mesh, shape, from, to, lies);
      if (::testing::Test::HasFatalFailure()) return;
      ++checked;
    }
  EXPECT_GT(checked, 0);
}

TEST(Redistribute, MovesDataBitExactlyByParts) {
  check_all_pairs(with_parts(*Mesh::parse("x=2,y=4"), 4), {8, 16}, ReduceOp::kSum, false);
  check_all_pairs(with_parts(*Mesh::parse("x=8,y=2"), 4), {16, 16}, ReduceOp::kMax, true);
}

TEST(Redistribute, MovesDataBitExactlyOnALine) {
  const Mesh mesh = *Mesh::parse("x=8");
  check_all_pairs(mesh, {16}, ReduceOp::kSum, false);
  check_all_pairs(mesh, {8, 16}, ReduceOp::kAvg, false);
  check_all_pairs(mesh, {16, 8}, ReduceOp::kMax, true);
  check_all_pairs(mesh, {8, 8, 8}, ReduceOp::kSum, true);
}

TEST(Redistribute, MovesDataBitExactlyOnAGrid) {
  const Mesh mesh = *Mesh::parse("x=2,y=4");
  check_all_pairs(mesh, {16}, ReduceOp::kMax, false);
  check_all_pairs(mesh, {8, 4}, ReduceOp::kSum, false);
  check_all_pairs(mesh, {8, 16}, ReduceOp::kAvg, true);
  check_all_pairs(mesh, {4, 8, 4}, ReduceOp::kSum, false);
}

TEST(Redistribute, MovesDataBitExactlyInACube) {
  const Mesh mesh = *Mesh::parse("x=2,y=2,z=2");
  check_all_pairs(mesh, {8}, ReduceOp::kSum, false);
  check_all_pairs(mesh, {8, 4}, ReduceOp::kSum, true);
  check_all_pairs(mesh, {4, 2, 2}, ReduceOp::kAvg, false);
}

// Random pairs, because there are millions.
TEST(Redistribute, MovesDataBitExactlyOnFiveAndSixMeshDims) {
  std::mt19937 random(3);
  for (const char* text :
       {"a=2,b=2,c=2,d=2,e=2", "a=2,b=3,c=2,d=2,e=1", "a=2,b=2,c=2,d=2,e=2,f=2"}) {
    const Mesh mesh = *Mesh::parse(text);
    const Dims shape = {96, 64};
    const auto any_layout = [&] {
      Layout l;
      do {
        for (int m = 0; m < mesh.rank(); ++m) {
          const auto choice = static_cast<int>(random() % 3);
          l[m] = choice == 0 || mesh.size(m) == 1 ? Placement::replicate()
                                                  : Placement::shard(choice - 1);
        }
        std::shuffle(l.order.begin(), l.order.begin() + mesh.rank(), random);
      } while (!is_evenly_sharded(shape, l, mesh));
      return normalised(l);
    };
    for (int i = 0; i < (testing::kSanitized ? 8 : 40); ++i) {
      const Layout from = any_layout(), to = any_layout();
      check_pair(mesh, shape, from, to, {0, 1});
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Holds for all factors, whether or not the two layouts unfold together.
TEST(Redistribute, MovesStridedShardsBitExactly) {
  const auto ss = [](int dim, int64_t factor) { return Placement::strided(dim, factor); };
  check_all_pairs(*Mesh::parse("x=4"), {48}, ReduceOp::kSum, false, {ss(0, 4), ss(0, 3), ss(0, 2)});
  if (testing::kSanitized) return;
  check_all_pairs(*Mesh::parse("x=2,y=2,z=2"), {16, 2}, ReduceOp::kSum, false, {ss(0, 4)});
  const Mesh grid = *Mesh::parse("x=2,y=4");
  check_all_pairs(grid, {32}, ReduceOp::kMax, false, {ss(0, 4), ss(0, 2)});
  check_all_pairs(grid, {32, 4}, ReduceOp::kSum, true, {ss(0, 4)});
  check_all_pairs(grid, {8, 16}, ReduceOp::kAvg, false, {ss(1, 4), ss(0, 2)});
}

// The sequence dim of a flattened [8, 64], sharded by batch and by sequence, is gathered along its
// own mesh dim only.
TEST(Redistribute, GathersAStridedShardAlone) {
  const Mesh& mesh = mesh_8x8();
  const Dims shape = {8 * 64, 16};
  const Layout from = layout_of("S(0)SS(0,8)", mesh), to = layout_of("S(0)R", mesh);
  const auto u = Unfolding::of(shape, mesh, {from, to});
  ASSERT_TRUE(u.has_value());
  const MovePrices prices = simple_prices();
  Redistributor r(mesh, prices);
  const auto route = r.route(u->shape(), 4, u->unfolded(from), u->unfolded(to));
  ASSERT_TRUE(route.ok());
  EXPECT_EQ(route_text(**route), "gather 1 from 1");
}

// The reference planner treats sums and averages as the same, but they differ.
TEST(Redistribute, TurnsSumsIntoAveragesAndBackWithoutCommunication) {
  const Mesh mesh = *Mesh::parse("x=2,y=4");
  EXPECT_EQ(plan(mesh, {8, 8}, "PP", "P(avg)P"), "local 0");
  for (const auto& [from, to] : {std::pair("PP", "P(avg)P(avg)"),
                                 {"P(avg)S(0)", "PS(0)"},
                                 {"S(1)P", "S(0)P(avg)"},
                                 {"P(avg)P(avg)", "S(0)P"}})
    check_pair(mesh, {8, 8}, layout_of(from, mesh), layout_of(to, mesh), {0, 1});
}

// The numeric case of the reference's column-major groups: 3 rows per shard, and mesh dim 1 cuts
// first. A group in rank order would give other rows, so the numbering matters.
TEST(Redistribute, NumbersACombinedGroupByShardOrder) {
  const Mesh mesh = *Mesh::parse("dp=4,tp=2");
  const Layout from = layout_of("S(0)S(0)|1,0", mesh);
  check_pair(mesh, {24, 5}, from, layout_of("RR", mesh), {0, 1});

  const MovePrices prices = simple_prices();
  Redistributor r(mesh, prices);
  const auto route = r.route({24, 5}, 8, from, layout_of("RR", mesh));
  ASSERT_TRUE(route.ok());
  ASSERT_EQ((*route)->moves.size(), 1u);
  Move wrong = (*route)->moves[0];
  std::reverse(wrong.axes.begin(), wrong.axes.end());
  std::vector<double> whole(24 * 5);
  std::iota(whole.begin(), whole.end(), 0);
  Program program;
  program.mesh = {{"dp", 4}, {"tp", 2}};
  ProgramBuilder builder(program);
  const ValueId in = builder.fresh(row_major(Dtype::kF64, {3, 5}), StorageKind::kInput);
  const ValueId out = emit_move(builder, wrong, in, mesh, prices);
  VirtualRanks ranks(program);
  for (int64_t rank = 0; rank < 8; ++rank)
    ranks.write(rank, in, piece_of(whole, {24, 5}, from, mesh, rank));
  ranks.run();
  EXPECT_NE(ranks.read(0, out), whole);
}

TEST(Redistribute, GathersWhatTwoOfThreeMeshDimsCutBitExactly) {
  const Mesh mesh = *Mesh::parse("dp=3,cp=2,tp=2");
  for (const char* from : {"S(0)S(0)S(0)|2,1,0", "S(0)S(0)S(0)|2,0,1"})
    check_pair(mesh, {24, 5}, layout_of(from, mesh), layout_of("RRS(0)", mesh), {0, 1});
}

// A value on a 2×4 mesh, and its versions on request.
class OneValue {
 public:
  OneValue(const std::string& layout, const Dims& shape) {
    const Layout made = layout_of(layout, mesh_);
    versions_.define(0, row_major(Dtype::kF32, shape), made,
                     builder_.fresh(row_major(Dtype::kF32, local_shape(shape, made, mesh_)),
                                    StorageKind::kInput));
  }
  Result<ValueId> get(const Layout& layout) { return versions_.get(0, layout); }
  Result<ValueId> get(const std::string& layout) { return get(layout_of(layout, mesh_)); }
  size_t steps() const { return program_.steps.size(); }

 private:
  const Mesh mesh_ = *Mesh::parse("x=2,y=4");
  const MovePrices prices_ = simple_prices();
  Redistributor redistributor_{mesh_, prices_};
  Program program_;
  ProgramBuilder builder_{program_};
  Versions versions_{1, builder_, redistributor_, prices_};
};

TEST(Versions, AnswerEveryRequestOnceAndForAll) {
  const Dims shape = {16, 8, 8};
  const auto layouts = all_layouts(*Mesh::parse("x=2,y=4"), shape, ReduceOp::kSum, false);
  for (uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<Layout> wanted = layouts;
    std::shuffle(wanted.begin(), wanted.end(), std::mt19937(seed));
    OneValue value("PS(1)", shape);
    std::vector<ValueId> got;
    for (const Layout& l : wanted) got.push_back(*value.get(l));
    const size_t steps = value.steps();
    // At most one move for each version, and one or two copies with it.
    EXPECT_LE(steps, 3 * layouts.size());
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(*value.get(wanted[i]), got[i]);
    EXPECT_EQ(value.steps(), steps);
  }
}

TEST(Versions, TakeEqualCopiesForAnAverageOverRanks) {
  OneValue value("RS(0)", {16, 8});
  ASSERT_TRUE(value.get("P(avg)S(0)").ok());
  ASSERT_TRUE(value.get("P(max)S(0)").ok());
  EXPECT_EQ(value.steps(), 0u);
  EXPECT_FALSE(value.get("PS(0)").ok()) << "a sum of equal copies is not the value";
}

TEST(Versions, NeverMakeAVersionTwice) {
  const Mesh mesh = *Mesh::parse("x=2,y=4");
  const MovePrices prices = simple_prices();
  Redistributor redistributor(mesh, prices);
  Program program;
  program.mesh = {{"x", 2}, {"y", 4}};
  ProgramBuilder builder(program);
  Versions versions(1, builder, redistributor, prices);
  const TensorType global = row_major(Dtype::kF32, {64, 64});
  versions.define(0, global, layout_of("PS(1)", mesh),
                  builder.fresh(row_major(Dtype::kF32, {64, 16}), StorageKind::kInput));
  const ValueId gathered = *versions.get(0, layout_of("S(0)R", mesh));
  const size_t steps = program.steps.size();
  EXPECT_EQ(*versions.get(0, layout_of("S(0)R", mesh)), gathered);
  EXPECT_EQ(program.steps.size(), steps);
  // An intermediate layout of an earlier move is a version too.
  ASSERT_TRUE(versions.get(0, layout_of("S(0)S(1)", mesh)).ok());
  EXPECT_EQ(program.steps.size(), steps);
  // The next version is made from the nearest version, not from the original.
  ASSERT_TRUE(versions.get(0, layout_of("RR", mesh)).ok());
  EXPECT_EQ(program.steps.back().kernel, "all_gather");
}

}  // namespace
}  // namespace shw
