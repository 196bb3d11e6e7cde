#include "lowering/lower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "lowering/shard_order.h"
#include "redistribution/move_prices.h"
#include "simple_prices.h"
#include "virtual_ranks.h"

namespace shw {
namespace {

using testing::piece_of;
using testing::simple_prices;
using testing::VirtualRanks;

// Builds a graph together with the layouts that the planner would have chosen.
class Sketch {
 public:
  explicit Sketch(const std::string& mesh) : mesh_(*Mesh::parse(mesh)) {}

  NodeId input(InputRole role, const std::string& name, Dims shape, const std::string& layout) {
    const NodeId n =
        graph.add_input(name, row_major(Dtype::kF32, shape), {kNoNode, role, name, -1});
    layouts_.push_back({{layout}, {}});
    return n;
  }
  NodeId op(OpKind kind, std::initializer_list<NodeId> operands,
            const std::vector<std::string>& wants, TensorType result, const std::string& makes,
            Attrs attrs = {}) {
    const NodeId n =
        graph.add_node(kind, std::string(op_name(kind)), operands, std::move(attrs), result);
    layouts_.push_back({{makes}, wants});
    return n;
  }
  NodeId tuple(OpKind kind, std::initializer_list<NodeId> operands,
               const std::vector<std::string>& wants,
               std::span<const std::optional<TensorType>> results,
               const std::vector<std::string>& makes) {
    const NodeId n =
        graph.add_node(kind, std::string(op_name(kind)), operands, {}, results, true, {});
    layouts_.push_back({makes, wants});
    return n;
  }
  NodeId add(NodeId a, NodeId b, const std::string& layout) {
    return op(OpKind::kAdd, {a, b}, {layout, layout}, plain(a), layout);
  }
  NodeId relu(NodeId a, const std::string& layout) {
    return op(OpKind::kRelu, {a}, {layout}, plain(a), layout);
  }
  NodeId alias(NodeId a, const std::string& layout) {
    return op(OpKind::kAlias, {a}, {layout}, graph.type(a), layout);
  }
  void result(NodeId n) { graph.add_output({n, OutputRole::kResult, "", -1}); }
  void gradient(NodeId n, int32_t of) { graph.add_output({n, OutputRole::kGradient, "", of}); }

  Result<Program> lower(bool choose_orders = true) {
    Assignment assignment(graph);
    for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
      const auto& [results, operands] = layouts_[i];
      for (size_t r = 0; r < results.size(); ++r)
        assignment.results(NodeId{i})[r] = *parse_layout(results[r], mesh_.rank());
      for (size_t k = 0; k < operands.size(); ++k)
        assignment.operands(NodeId{i})[k] = *parse_layout(operands[k], mesh_.rank());
    }
    Monitor monitor;
    const MovePrices prices = simple_prices();
    Redistributor redistributor(mesh_, prices);
    if (choose_orders)
      SHW_RETURN_IF_ERROR(choose_shard_orders(graph, redistributor, {}, assignment, monitor));
    return shw::lower(graph, assignment, redistributor, {}, monitor);
  }

  Graph graph;

 private:
  TensorType plain(NodeId n) const { return row_major(graph.type(n).dtype, graph.type(n).shape); }
  const Mesh mesh_;
  std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> layouts_;
};

std::vector<std::string> kernels(const Program& p) {
  std::vector<std::string> names;
  for (const ProgramStep& s : p.steps) names.push_back(s.kernel);
  return names;
}
size_t collectives(const Program& p) {
  return static_cast<size_t>(std::count_if(
      p.steps.begin(), p.steps.end(),
      [](const ProgramStep& s) { return s.collective.kind != CollectiveKind::kNone; }));
}
using Names = std::vector<std::string>;

// ---- Versions instead of aliases: the cases of the reference's alias elimination.

// x (S0) passes through a choice point at R. `users` are the layouts that the consumers need.
Program round_trip(const std::vector<std::string>& users, const std::string& choice) {
  Sketch s("x=4");
  const NodeId in = s.input(InputRole::kInput, "0", {8, 8}, "S(0)");
  const NodeId x = s.relu(in, "S(0)");
  const NodeId a = s.alias(x, choice);
  for (const std::string& layout : users) s.result(s.relu(a, layout));
  const auto p = s.lower();
  EXPECT_TRUE(p.ok()) << p.status().message();
  return *p;
}

TEST(Lower, ReadsTheOriginalWhereAConsumerWantsItsLayout) {
  EXPECT_EQ(kernels(round_trip({"S(0)", "R"}, "R")), (Names{"relu", "relu", "all_gather", "relu"}));
}
TEST(Lower, NeedsNoCollectiveWhenAllConsumersWantTheOriginal) {
  EXPECT_EQ(collectives(round_trip({"S(0)", "S(0)"}, "R")), 0u);
}
TEST(Lower, MakesTheChoiceOnceForAllConsumers) {
  EXPECT_EQ(collectives(round_trip({"R", "R", "R"}, "R")), 1u);
}
TEST(Lower, SlicesWhatAnEarlierConsumerGathered) {
  EXPECT_EQ(kernels(round_trip({"R", "S(1)"}, "R")),
            (Names{"relu", "all_gather", "relu", "local_slice", "relu"}));
}
TEST(Lower, ReadsOneVersionTwiceWithinAConsumer) {
  Sketch s("x=4");
  const NodeId x = s.relu(s.input(InputRole::kInput, "0", {8, 8}, "S(0)"), "S(0)");
  const NodeId a = s.alias(s.alias(x, "R"), "S(1)");  // an alias of an alias
  s.result(s.add(a, a, "S(0)"));
  EXPECT_EQ(kernels(*s.lower()), (Names{"relu", "add"}));
}

// ---- Shard orders

// A weight is sharded on both mesh dims and gathered along the first one for its use. Its gradient
// takes the opposite way. The reference planner hard-codes this pattern.
Sketch weight_and_gradient() {
  Sketch s("dp=4,tp=2");
  const NodeId w = s.input(InputRole::kParameter, "w", {16, 8}, "S(0)S(0)");
  const NodeId x = s.input(InputRole::kInput, "0", {32, 8}, "S(0)R");
  Attrs forward, backward, swap;
  forward.set(AttrKey::kEquation, std::string("bk,nk->bn"));
  backward.set(AttrKey::kEquation, std::string("bn,bk->nk"));
  const NodeId y = s.op(OpKind::kEinsum, {x, w}, {"S(0)R", "RS(0)"},
                        row_major(Dtype::kF32, {32, 16}), "S(0)S(1)", forward);
  s.result(y);
  const NodeId t = s.input(InputRole::kTangent, "0", {32, 16}, "S(0)S(1)");
  const NodeId g = s.op(OpKind::kEinsum, {t, x}, {"S(0)S(1)", "S(0)R"},
                        row_major(Dtype::kF32, {16, 8}), "PS(0)", backward);
  s.gradient(s.alias(g, "S(0)S(0)"), 0);
  return s;
}

TEST(ShardOrder, MakesAParametersUseAndItsGradientOneCollectiveEach) {
  Sketch s = weight_and_gradient();
  const auto p = s.lower();
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(kernels(*p), (Names{"all_gather", "einsum", "einsum", "reduce_scatter"}));
  EXPECT_EQ(p->steps[0].collective.axes, std::vector<uint8_t>{0});
  EXPECT_EQ(p->steps[3].collective.axes, std::vector<uint8_t>{0});
  const ProgramEntry& e = p->entries[0];
  EXPECT_EQ(to_string(p->ports[e.inputs[0]].layout, 2), "S(0)S(0)|1,0");
  EXPECT_EQ(p->ports[e.inputs[0]].layout, p->ports[e.outputs[1]].layout)
      << "a parameter and its gradient lie alike";
}

TEST(ShardOrder, CostsMoreCollectivesWhenLeftAsItIs) {
  Sketch s = weight_and_gradient();
  EXPECT_GT(collectives(*s.lower(/*choose_orders=*/false)), 2u);
}

TEST(ShardOrder, KeepsTheDefaultForInputsAndResults) {
  Sketch s("dp=4,tp=2");
  const NodeId x = s.input(InputRole::kInput, "0", {16, 8}, "S(0)S(0)");
  const NodeId y = s.relu(x, "RS(0)");
  s.result(s.alias(s.relu(y, "S(0)S(0)"), "S(0)S(0)"));
  const auto p = s.lower();
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(p->ports[p->entries[0].inputs[0]].layout.order, Layout{}.order);
  EXPECT_EQ(p->ports[p->entries[0].outputs[0]].layout.order, Layout{}.order);
}

// ---- Ports

TEST(Lower, CopiesOutputsThatWouldShareStorage) {
  Sketch s("x=2");
  const NodeId in = s.input(InputRole::kInput, "0", {4, 4}, "S(0)");
  const NodeId y = s.relu(in, "S(0)");
  s.result(in);  // an input
  s.result(y);
  s.result(y);  // another output
  const auto p = s.lower();
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(kernels(*p), (Names{"relu", "clone", "clone"}));
  std::set<uint32_t> storages;
  for (PortId id : p->entries[0].outputs) storages.insert(p->values[p->ports[id].value].storage.v);
  EXPECT_EQ(storages.size(), 3u);
  EXPECT_EQ(p->ports[p->entries[0].outputs[0]].name, "output");
}

TEST(Lower, WritesAProductInTheOrderOfItsPermute) {
  Sketch s("x=4");
  const NodeId a = s.input(InputRole::kInput, "0", {8, 16}, "S(0)");
  const NodeId b = s.input(InputRole::kInput, "1", {8, 12}, "S(0)");
  Attrs equation, swap;
  equation.set(AttrKey::kEquation, std::string("bn,bk->nk"));
  swap.set(AttrKey::kDims, std::vector<int64_t>{1, 0});
  const NodeId g = s.op(OpKind::kEinsum, {a, b}, {"S(0)", "S(0)"}, row_major(Dtype::kF32, {16, 12}),
                        "P", equation);
  const NodeId t = s.op(OpKind::kPermute, {g}, {"P"}, {{12, 16}, {1, 12}, Dtype::kF32}, "P", swap);
  s.result(s.alias(t, "S(0)"));
  const auto p = s.lower();
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(kernels(*p), (Names{"einsum", "reduce_scatter"})) << "no copy";
  EXPECT_EQ(p->steps[0].attrs.get_string(AttrKey::kEquation), "bn,bk->kn");
  EXPECT_EQ(to_string(p->values[p->steps[0].outputs[0]].type), "f32[12,16]");
}

// The heads are written side by side without a copy, although the backward half reads the result
// with the heads separate.
TEST(Lower, WritesAttentionInTheOrderOfItsPermute) {
  Sketch s("x=2");
  const TensorType heads = row_major(Dtype::kF32, {2, 4, 8, 16});
  const NodeId q = s.input(InputRole::kInput, "q", heads.shape, "S(1)");
  const std::optional<TensorType> results[] = {heads, row_major(Dtype::kF32, {2, 4, 8}),
                                               std::nullopt, std::nullopt};
  const NodeId attention = s.tuple(OpKind::kSdpa, {q, q, q}, {"S(1)", "S(1)", "S(1)"}, results,
                                   {"S(1)", "S(1)", "R", "R"});
  Attrs first, order, shape;
  first.set(AttrKey::kIndex, int64_t{0});
  order.set(AttrKey::kDims, std::vector<int64_t>{0, 2, 1, 3});
  shape.set(AttrKey::kSize, std::vector<int64_t>{2, 8, 64});
  const NodeId out = s.op(OpKind::kGetItem, {attention}, {"S(1)"}, heads, "S(1)", first);
  const NodeId beside = s.op(OpKind::kPermute, {s.alias(out, "S(1)")}, {"S(1)"},
                             {{2, 8, 4, 16}, {512, 16, 128, 1}, Dtype::kF32}, "S(2)", order);
  const NodeId flat =
      s.op(OpKind::kView, {beside}, {"S(2)"}, row_major(Dtype::kF32, {2, 8, 64}), "S(2)", shape);
  s.result(s.relu(flat, "S(2)"));
  s.result(s.relu(out, "S(1)"));
  const auto p = s.lower();
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(kernels(*p), (Names{"sdpa", "relu", "relu"})) << "no copy";
  EXPECT_EQ(p->steps[0].attrs.get_ints(AttrKey::kDims), (std::vector<int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(to_string(p->values[p->steps[0].outputs[0]].type), "f32[2,8,2,16]");
}

// ---- Refusals

TEST(Lower, RefusesShardsThatRunOutOfElementsAndNamesThePlace) {
  Sketch s("dp=4,tp=3");
  const NodeId in = s.input(InputRole::kInput, "0", {8, 2}, "S(0)R");
  s.result(s.relu(in, "S(0)S(1)"));
  const auto p = s.lower();
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(p.status().node_name(), "relu");
  EXPECT_EQ(p.status().node_index(), 1);
  for (const char* part : {"f32[8,2]", "S(0)S(1)"})
    EXPECT_NE(p.status().message().find(part), std::string::npos) << p.status().message();
}

TEST(Lower, RefusesAConsumerThatWantsAPartialOfWhatIsNone) {
  Sketch s("x=4");
  s.result(s.relu(s.input(InputRole::kInput, "0", {8, 8}, "S(0)"), "P"));
  const auto p = s.lower();
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(p.status().node_name(), "relu");
}

TEST(Lower, StopsWhenCancelled) {
  Sketch s("x=4");
  s.result(s.relu(s.input(InputRole::kInput, "0", {8, 8}, "S(0)"), "R"));
  Assignment assignment(s.graph);
  std::atomic<bool> cancel = true;
  Monitor monitor;
  monitor.cancel = &cancel;
  const MovePrices prices = simple_prices();
  Redistributor redistributor(*Mesh::parse("x=4"), prices);
  const auto p = lower(s.graph, assignment, redistributor, {}, monitor);
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.status().code(), Code::kCancelled);
}

// ---- Whole programs on virtual ranks

// Sums over the letters of the equation that the result does not have. Operands are row-major.
std::vector<double> einsum(const std::string& equation, const Dims& a_shape, const Dims& b_shape,
                           const std::vector<double>& a, const std::vector<double>& b) {
  const size_t comma = equation.find(','), arrow = equation.find("->");
  const std::string lhs = equation.substr(0, comma),
                    rhs = equation.substr(comma + 1, arrow - comma - 1),
                    out = equation.substr(arrow + 2);
  std::map<char, int64_t> size, at;
  for (size_t i = 0; i < lhs.size(); ++i) size[lhs[i]] = a_shape[i];
  for (size_t i = 0; i < rhs.size(); ++i) size[rhs[i]] = b_shape[i];
  const auto index = [&](const std::string& letters) {
    int64_t offset = 0;
    for (char c : letters) offset = offset * size[c] + at[c];
    return static_cast<size_t>(offset);
  };
  int64_t total = 1, count = 1;
  for (const auto& [c, n] : size) total *= n;
  for (char c : out) count *= size[c];
  std::vector<double> result(static_cast<size_t>(count), 0);
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i;
    for (auto& [c, n] : size) at[c] = rest % n, rest /= n;
    result[index(out)] += a[index(lhs)] * b[index(rhs)];
  }
  return result;
}

// Runs a lowered program on integers and compares every output with that of the same graph on one
// rank.
class WholeProgram {
 public:
  using Values = std::vector<std::vector<double>>;

  static Values run(const Program& p) {
    VirtualRanks ranks(p);
    const Mesh mesh = *Mesh::create(p.mesh);
    ranks.kernel = [&](const ProgramStep& s, const Values& in) -> Values {
      const auto shape = [&](size_t k) { return p.values[s.inputs[k]].type.shape; };
      std::vector<double> out = in[0];
      if (s.kernel == "einsum")
        out = einsum(std::string(s.attrs.get_string(AttrKey::kEquation)), shape(0), shape(1), in[0],
                     in[1]);
      else if (s.kernel == "relu")
        for (double& x : out) x = std::max(x, 0.0);
      else if (s.kernel == "add")
        for (size_t i = 0; i < out.size(); ++i) out[i] += in[1][i];
      else
        ADD_FAILURE() << "no kernel " << s.kernel;
      return {out};
    };
    const ProgramEntry& e = p.entries[0];
    for (size_t k = 0; k < e.inputs.size(); ++k) {
      const Port& port = p.ports[e.inputs[k]];
      std::vector<double> whole(static_cast<size_t>(port.global.numel()));
      for (size_t i = 0; i < whole.size(); ++i)
        whole[i] = static_cast<double>(static_cast<int>((i * 7 + k * 3) % 11) - 5);
      for (int64_t r = 0; r < mesh.num_ranks(); ++r)
        ranks.write(r, port.value, piece_of(whole, port.global.shape, port.layout, mesh, r));
    }
    ranks.run();
    Values outputs;
    for (PortId id : e.outputs) outputs.push_back(gather(ranks, p.ports[id], mesh));
    return outputs;
  }

 private:
  // Assembles the whole tensor element by element. Every rank's piece must be a piece of the same
  // tensor.
  static std::vector<double> gather(const VirtualRanks& ranks, const Port& port, const Mesh& mesh) {
    std::vector<double> numbers(static_cast<size_t>(port.global.numel()));
    std::iota(numbers.begin(), numbers.end(), 0);
    std::vector<double> whole(numbers.size(), -1e9);
    for (int64_t r = 0; r < mesh.num_ranks(); ++r) {
      const auto place = piece_of(numbers, port.global.shape, port.layout, mesh, r);
      const auto piece = ranks.read(r, port.value);
      for (size_t i = 0; i < piece.size(); ++i) {
        double& x = whole[static_cast<size_t>(place[i])];
        EXPECT_TRUE(x == -1e9 || x == piece[i]) << "ranks disagree";
        x = piece[i];
      }
    }
    return whole;
  }
};

// The layout of each tensor in `heads()`.
struct Layouts {
  const char *mesh, *weight, *used, *batch, *hidden, *tangent, *partial;
};

// A linear layer whose result is split into heads, and its weight's gradient.
Program heads(const Layouts& l) {
  Sketch s(l.mesh);
  Attrs forward, backward, swap, split, turn;
  forward.set(AttrKey::kEquation, std::string("abk,kn->abn"));
  backward.set(AttrKey::kEquation, std::string("abn,abk->kn"));
  swap.set(AttrKey::kDims, std::vector<int64_t>{1, 0});
  split.set(AttrKey::kSize, std::vector<int64_t>{16, 4, 8, 4});
  turn.set(AttrKey::kDims, std::vector<int64_t>{0, 2, 1, 3});
  const auto f32 = [](Dims d) { return row_major(Dtype::kF32, d); };
  // The layout of the permuted weight: the dims in the layout's text are swapped.
  std::string permuted = l.used;
  for (char& c : permuted) c = c == '0' ? '1' : c == '1' ? '0' : c;

  const NodeId w = s.input(InputRole::kParameter, "w", {32, 8}, l.weight);
  const NodeId x = s.input(InputRole::kInput, "0", {16, 4, 8}, l.batch);
  const NodeId wt =
      s.op(OpKind::kPermute, {w}, {l.used}, {{8, 32}, {1, 8}, Dtype::kF32}, permuted, swap);
  const NodeId y = s.op(OpKind::kEinsum, {x, s.alias(wt, permuted)}, {l.batch, permuted},
                        f32({16, 4, 32}), l.hidden, forward);
  const NodeId z = s.alias(s.relu(y, l.hidden), l.hidden);
  const NodeId v = s.op(OpKind::kView, {z}, {l.hidden}, f32({16, 4, 8, 4}), l.hidden, split);
  const TensorType turned{{16, 8, 4, 4}, {128, 4, 32, 1}, Dtype::kF32};
  std::string by_head = l.hidden;
  for (char& c : by_head) c = c == '2' ? '1' : c == '1' ? '2' : c;
  s.result(s.alias(s.op(OpKind::kPermute, {v}, {l.hidden}, turned, by_head, turn), by_head));
  s.result(s.alias(z, l.batch));
  const NodeId t = s.input(InputRole::kTangent, "0", {16, 4, 32}, l.tangent);
  const NodeId tz = s.add(t, z, l.hidden);
  const NodeId g =
      s.op(OpKind::kEinsum, {tz, x}, {l.hidden, l.batch}, f32({8, 32}), l.partial, backward);
  std::string partial = l.partial;
  for (char& c : partial) c = c == '0' ? '1' : c == '1' ? '0' : c;
  const NodeId gt =
      s.op(OpKind::kPermute, {g}, {l.partial}, {{32, 8}, {1, 32}, Dtype::kF32}, partial, swap);
  s.gradient(s.alias(gt, l.weight), 0);
  const auto p = s.lower();
  EXPECT_TRUE(p.ok()) << p.status().message() << " at " << p.status().node_name();
  return p.ok() ? *p : Program{};
}

TEST(Lower, ComputesTheSameOnAnyMeshBitExactly) {
  const auto whole = WholeProgram::run(heads({"x=1", "R", "R", "R", "R", "R", "R"}));
  const Layouts cases[] = {
      {"x=8", "S(0)", "R", "S(0)", "S(0)", "S(0)", "P"},     // sharded parameters and data
      {"x=8", "S(0)", "S(0)", "R", "S(2)", "S(2)", "S(1)"},  // Megatron's column
      {"x=8", "S(1)", "S(0)", "R", "S(2)", "S(0)", "S(1)"},
      {"dp=2,tp=4", "S(0)S(0)", "RS(0)", "S(0)R", "S(0)S(2)", "S(0)S(1)", "PS(1)"},
      {"dp=4,tp=2", "S(0)S(0)", "RS(0)", "S(0)R", "S(0)S(2)", "S(1)S(2)", "PS(1)"},
      {"dp=4,tp=2", "S(0)S(0)", "RR", "S(0)S(0)", "S(0)S(0)", "RR", "PP"},
      {"dp=4,tp=2", "S(1)S(0)", "RS(0)", "S(0)R", "S(0)S(2)", "S(0)S(2)", "PS(1)"},
      {"a=2,b=2,c=2", "S(0)S(0)S(0)", "RRS(0)", "S(0)S(0)R", "S(0)S(0)S(2)", "S(0)S(1)S(2)",
       "PPS(1)"},
      {"a=2,b=2,c=2", "S(0)S(1)S(0)", "RRR", "S(0)S(1)S(0)", "S(0)S(1)S(0)", "S(0)RS(1)", "PPP"},
      {"a=2,b=1,c=4", "S(0)S(0)S(1)", "RS(0)R", "S(0)RS(1)", "S(0)S(2)S(1)", "RRR", "PS(1)P"},
  };
  for (const Layouts& l : cases) {
    SCOPED_TRACE(std::string(l.mesh) + ", weight " + l.weight + " used as " + l.used);
    EXPECT_EQ(WholeProgram::run(heads(l)), whole);
  }
}

}  // namespace
}  // namespace shw
