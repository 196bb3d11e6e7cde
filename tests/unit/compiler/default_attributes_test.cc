// An attribute that is written out with its default value must mean the same as an omitted
// attribute: for type inference, for the planner and for the kernel. The cases are generated from
// the table of operations: every operation and every attribute of it that has a default.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "ops/defaults.h"
#include "packed.h"
#include "runtime/virtual_ranks.h"
#include "unit/e2e/one_op.h"

namespace shw {
namespace {

using runtime::HostTensor;
using runtime::HostTensorView;
using testing::OpCase;
using testing::Operand;

struct DefaultCase {
  OpCase op;  // a case in which the attribute may be absent, without it
  Param param;
  AttrKey key;
};

Result<std::vector<OptionalType>> inferred(const OpCase& c) {
  std::vector<OptionalType> types;
  for (const Operand& o : c.operands)
    types.push_back(o.present ? OptionalType(o.type) : std::nullopt);
  return op_def(c.op).infer({types, &c.attrs});
}

OpCase written_out(const DefaultCase& d) {
  OpCase c = d.op;
  c.attrs.set(d.key, *default_of(d.param));
  return c;
}

// Adds a region, whose body is the caller's, to the cases of all operations.
std::vector<OpCase> all_cases() {
  std::vector<OpCase> cases = testing::op_cases();
  OpCase region{.name = "region", .op = OpKind::kLocalMap, .operands = {{}}, .attrs = {}};
  region.operands[0].type = row_major(Dtype::kF32, {8, 4});
  region.attrs.set(AttrKey::kRegion, std::string("body"));
  region.attrs.set(AttrKey::kInPlacements, std::string("S(0)R"));
  region.attrs.set(AttrKey::kOutPlacements, std::string("S(0)R"));
  region.attrs.set(AttrKey::kResultTypes, std::string("f32[8,4]"));
  cases.push_back(region);
  return cases;
}

// Every attribute with a default, each in the first case of its operation that works without the
// attribute.
std::vector<DefaultCase> default_cases() {
  std::vector<DefaultCase> found;
  for (uint16_t k = 0; k < static_cast<uint16_t>(OpKind::kCount); ++k)
    for (const Param& param : op_def(static_cast<OpKind>(k)).params) {
      if (param.required() || param.otherwise.empty()) continue;
      if (!default_of(param)) {
        ADD_FAILURE() << op_name(static_cast<OpKind>(k)) << ": " << param.otherwise << " is no "
                      << param.name;
        continue;
      }
      const AttrKey key = *attr_key_from_name(param.name);
      bool works = false;
      for (OpCase c : all_cases()) {
        if (works || c.op != static_cast<OpKind>(k)) continue;
        c.attrs.erase(key);
        works = inferred(c).ok();
        if (works) found.push_back({c, param, key});
      }
      EXPECT_TRUE(works) << op_name(static_cast<OpKind>(k)) << ": no case leaves out "
                         << param.name;
    }
  return found;
}

std::string describe(const DefaultCase& d) {
  return std::string(op_name(d.op.op)) + ", " + std::string(d.param.name) + " = " +
         std::string(d.param.otherwise) + " (" + d.op.name + ")";
}

Graph graph_of(const OpCase& c) {
  Graph graph;
  std::vector<NodeId> operands;
  for (size_t k = 0; k < c.operands.size(); ++k)
    operands.push_back(c.operands[k].present
                           ? graph.add_input("x" + std::to_string(k), c.operands[k].type,
                                             {.role = InputRole::kInput, .name = std::to_string(k)})
                           : kNoNode);
  const auto results = inferred(c);
  const NodeId node =
      graph.add_node(c.op, "op", operands, c.attrs, *results, results->size() > 1, {});
  for (size_t r = 0; r < results->size(); ++r) {
    if (!(*results)[r]) continue;
    NodeId out = node;
    if (results->size() > 1) {
      Attrs index;
      index.set(AttrKey::kIndex, static_cast<int64_t>(r));
      out = graph.add_node(OpKind::kGetItem, "item" + std::to_string(r), {node}, index,
                           *(*results)[r]);
    }
    graph.add_output({.node = out, .role = OutputRole::kResult, .name = std::to_string(r)});
  }
  return graph;
}

Result<Plan> plan_of(const OpCase& c, const std::string& mesh) {
  CompileOptions options;
  options.mesh = mesh;
  options.keep_graph = false;
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(const Compiled compiled,
                       testing::compile_packed(write_graph(graph_of(c)), options, monitor));
  return read_plan(compiled.bytes);
}

TEST(DefaultAttributes, AreInferredAlike) {
  for (const DefaultCase& d : default_cases()) {
    SCOPED_TRACE(describe(d));
    const auto without = inferred(d.op), with = inferred(written_out(d));
    ASSERT_TRUE(with.ok()) << with.status().message();
    EXPECT_EQ(*without, *with);
  }
}

TEST(DefaultAttributes, ArePlannedAlike) {
  for (const DefaultCase& d : default_cases())
    for (const char* mesh : {"a=1,b=1", "a=2,b=2"}) {
      SCOPED_TRACE(describe(d) + " on " + mesh);
      auto without = plan_of(d.op, mesh), with = plan_of(written_out(d), mesh);
      ASSERT_TRUE(without.ok()) << without.status().message();
      ASSERT_TRUE(with.ok()) << with.status().message();
      EXPECT_NE(without->summary.graph_hash, with->summary.graph_hash) << "both are one graph";
      with->summary.graph_hash = without->summary.graph_hash;
      EXPECT_TRUE(write_plan(*without) == write_plan(*with))
          << to_text(without->program) << to_text(with->program);
    }
}

// Whole inputs of a case: the same numbers on each call, and indices within their limits.
std::vector<HostTensor> inputs_of(const OpCase& c) {
  std::vector<HostTensor> inputs;
  for (const Operand& o : c.operands) {
    if (!o.present) continue;
    HostTensor t{o.type, {}};
    t.data.resize(static_cast<size_t>(o.type.bytes()));
    for (int64_t i = 0; i < o.type.numel(); ++i) {
      const int64_t at = o.rises_to > 0      ? (i + 1) * o.rises_to / o.type.numel()
                         : o.index_limit > 0 ? (i * 7 + 3) % o.index_limit
                                             : 0;
      const auto x = static_cast<float>(o.low + (o.high - o.low) * double((i * 37) % 101) / 101);
      const size_t size = dtype_size(o.type.dtype);
      std::byte* to = t.data.data() + static_cast<size_t>(i) * size;
      if (o.type.dtype == Dtype::kF32 || o.type.dtype == Dtype::kC64)
        std::memcpy(to, &x, sizeof x);  // the real part of a complex number
      else if (o.type.dtype == Dtype::kBF16)
        std::memcpy(to, reinterpret_cast<const std::byte*>(&x) + 2, 2);
      else
        std::memcpy(to, &at, size);  // little-endian integers and truth values
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

Result<std::vector<HostTensor>> run(Plan plan, const OpCase& c) {
  SHW_ASSIGN_OR_RETURN(const auto ranks, runtime::VirtualRanks::create(
                                             std::make_shared<const Plan>(std::move(plan))));
  std::vector<HostTensor> inputs = inputs_of(c);
  const ProgramEntry& entry = ranks->program().entries[0];
  for (size_t i = inputs.size(); i < entry.inputs.size(); ++i) {  // the seed of the run: zeros
    const TensorType& type = ranks->program().input(entry, i).global;
    inputs.push_back({type, std::vector<std::byte>(static_cast<size_t>(type.bytes()))});
  }
  std::vector<HostTensorView> views;
  for (const HostTensor& t : inputs) views.push_back({t.type, t.data.data()});
  return ranks->run(entry.name, views);
}

// A kernel's own default must be the value that the table of operations states.
TEST(DefaultAttributes, AreComputedAlike) {
  std::set<OpKind> computed;
  for (const DefaultCase& d : default_cases()) {
    if (d.op.op == OpKind::kLocalMap) continue;  // its kernel is the caller's
    SCOPED_TRACE(describe(d));
    const auto plan = plan_of(d.op, "a=1");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    Plan with = *plan;
    size_t steps = 0;
    for (ProgramStep& step : with.program.steps)
      if (step.kernel == op_name(d.op.op)) step.attrs.set(d.key, *default_of(d.param)), ++steps;
    if (steps == 0) continue;  // a view or a padding: no kernel reads the attribute
    const auto left_out = run(*plan, d.op), written = run(with, d.op);
    ASSERT_TRUE(left_out.ok()) << left_out.status().message();
    ASSERT_TRUE(written.ok()) << written.status().message();
    ASSERT_EQ(left_out->size(), written->size());
    for (size_t i = 0; i < written->size(); ++i)
      EXPECT_TRUE((*left_out)[i].data == (*written)[i].data) << "result " << i;
    computed.insert(d.op.op);
  }
  EXPECT_GT(computed.size(), 20u);
}

}  // namespace
}  // namespace shw
