// Writes small plans as seeds for the fuzzer. Together they contain every kernel, collective and
// kind of storage. usage: plan_seeds FOLDER
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "compiler/pipeline.h"
#include "graph/text.h"
#include "graph/writer.h"
#include "ops/op_def.h"
#include "passes/pass.h"
#include "recompute/offload.h"
#include "unit/e2e/one_op.h"
#include "unscheduled.h"

namespace shw {
namespace {

Result<Graph> graph_of(const testing::OpCase& c) {
  Graph graph;
  std::vector<NodeId> operands;
  std::vector<OptionalType> types;
  for (const testing::Operand& o : c.operands) {
    types.push_back(o.present ? OptionalType(o.type) : std::nullopt);
    const std::string name = std::to_string(operands.size());
    operands.push_back(
        o.present ? graph.add_input("x" + name, o.type, {.role = InputRole::kInput, .name = name})
                  : kNoNode);
  }
  SHW_ASSIGN_OR_RETURN(const auto results, op_def(c.op).infer({types, &c.attrs}));
  const NodeId node =
      graph.add_node(c.op, "op", operands, c.attrs, results, results.size() > 1, {});
  for (size_t r = 0; r < results.size(); ++r) {
    if (!results[r]) continue;
    NodeId out = node;
    if (results.size() > 1) {
      Attrs index;
      index.set(AttrKey::kIndex, static_cast<int64_t>(r));
      out =
          graph.add_node(OpKind::kGetItem, "item" + std::to_string(r), {node}, index, *results[r]);
    }
    graph.add_output({.node = out, .role = OutputRole::kResult, .name = std::to_string(r)});
  }
  return graph;
}

// Plans with state and its update, a session, a constant, and entries.
constexpr const char* kTexts[] = {
    R"(
input param.w: %w : f32[8,4] {storage=state}
input input.g: %g : f32[8,4]
%new = sub(%w, %g, alpha=0.5) : f32[8,4]
return update.w = %new in_place
)",
    R"(
input buffer.w: %w : f32[8,4]
input input.g: %g : f32[8,4]
%new = add(%w, %g) : f32[8,4]
%y = relu(%new) : f32[8,4]
return update.buffer.w = %new in_place, output = %y
entry first inputs=[0,1] outputs=[0]
entry second inputs=[] outputs=[1] after=[0]
)",
    R"(
input buffer.cache: %cache : f32[6,2] {storage=state}
input input.x: %x : f32[1,2]
input input.position: %p : i64[1]
input constant.bias: %bias : f32[1,2] {data="0000803f00000040"}
%new = index_put(%cache, %x, %p, dims=[0]) : f32[6,2]
%t = t(%new) : f32[2,6]{1,2}
%s = mm(%x, %t) : f32[1,6]
%w = softmax(%s, dim=1) : f32[1,6]
%y = mm(%w, %new) : f32[1,2]
%out = add(%y, %bias) : f32[1,2]
return output.0 = %out, update.buffer.cache = %new in_place
)",
};

// A plan in which values are kept in host memory until the backward half.
constexpr const char* kHalves = R"(
input param.w: %w : f32[8,8]
input input.x: %x : f32[8,8]
input tangent.0: %g : f32[8,8] {position=0}
%a = tanh(%x) : f32[8,8]
%b = mm(%a, %w) : f32[8,8]
%c = tanh(%b) : f32[8,8]
%d = mm(%c, %w) : f32[8,8]
%e = mul(%g, %d) : f32[8,8] {phase=backward}
%f = mul(%e, %c) : f32[8,8] {phase=backward}
%h = mul(%f, %a) : f32[8,8] {phase=backward}
return output.0 = %d, grad.w = %h
)";

Result<std::vector<uint8_t>> with_host_memory() {
  CompileOptions options;
  options.mesh = "a=2";
  options.keep_graph = false;
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(Compiled compiled,
                       compile(write_graph(*parse_graph(kHalves)), options, monitor));
  Program& p = compiled.plan.program;
  testing::unschedule(p);
  const int64_t moved =
      offload(p, {[](int64_t bytes) { return bytes > 0 ? 1.0 : 0.5; }, int64_t{1} << 20});
  if (moved == 0) return internal_error("nothing waits in host memory");
  static constexpr const PassDef* kPasses[] = {&kScheduleCollectives, &kPlanMemory};
  SHW_RETURN_IF_ERROR(run_passes(p, kPasses, {}, monitor).status());
  return write_plan(compiled.plan);
}

// A plan in which scratch uses the memory of an output before the output is written.
constexpr const char* kChain = R"(
input input.x: %x : f32[8,32]
%a = tanh(%x) : f32[8,32]
%b = cumsum(%a, dim=1) : f32[8,32]
%c = cumsum(%b, dim=0) : f32[8,32]
%d = cumsum(%c, dim=1) : f32[8,32]
return output.0 = %d
)";

Result<std::vector<uint8_t>> with_lent_outputs() {
  CompileOptions options;
  options.mesh = "a=2";
  options.keep_graph = false;
  options.lend_outputs = true;
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(Compiled compiled,
                       compile(write_graph(*parse_graph(kChain)), options, monitor));
  const auto is_lent = [](const ProgramStorage& s) { return s.kind == StorageKind::kInOutput; };
  if (std::ranges::none_of(compiled.plan.program.storages, is_lent))
    return internal_error("nothing lies in an output");
  return std::move(compiled.bytes);
}

int write_seeds(const std::filesystem::path& folder) {
  std::vector<std::pair<std::string, Graph>> graphs;
  for (const testing::OpCase& c : testing::op_cases()) {
    auto graph = graph_of(c);
    if (!graph.ok()) {
      std::fprintf(stderr, "%s: %s\n", c.name.c_str(), graph.status().message().c_str());
      return 1;
    }
    graphs.emplace_back(c.name, std::move(*graph));
  }
  for (const char* text : kTexts) graphs.emplace_back("text", *parse_graph(text));
  std::filesystem::create_directories(folder);
  int number = 0;
  const auto write = [&](const std::vector<uint8_t>& plan) {
    const auto path = folder / ("seed" + std::to_string(number++) + ".swplan");
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(plan.data()),
               static_cast<std::streamsize>(plan.size()));
  };
  for (const auto& special : {with_host_memory(), with_lent_outputs()}) {
    if (!special.ok()) {
      std::fprintf(stderr, "%s\n", special.status().message().c_str());
      return 1;
    }
    write(*special);
  }
  for (const auto& [name, graph] : graphs)
    for (const char* layout : {"free", "S(0)"}) {
      CompileOptions options;
      options.mesh = "a=2";
      options.input_layout = layout;
      options.keep_graph = false;
      Monitor monitor;
      const auto compiled = compile(write_graph(graph), options, monitor);
      if (!compiled.ok()) continue;  // some inputs cannot be cut
      write(compiled->bytes);
    }
  std::printf("%d plans of %zu graphs\n", number, graphs.size());
  return number >= static_cast<int>(graphs.size()) ? 0 : 1;
}

}  // namespace
}  // namespace shw

int main(int argc, char** argv) { return argc == 2 ? shw::write_seeds(argv[1]) : 2; }
