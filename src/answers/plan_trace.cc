#include "answers/plan_trace.h"

#include "graph/reader.h"
#include "plan/module_tree.h"

namespace shw::answers {
namespace {

Result<std::vector<uint32_t>> entries_of(const Program& program, std::string_view name) {
  std::vector<uint32_t> found;
  std::string known;
  for (uint32_t e = 0; e < program.entries.size(); ++e) {
    const std::string& other = program.entries[e].name;
    if (name.empty() || other == name) found.push_back(e);
    known += (known.empty() ? "" : ", ") + other;
  }
  if (found.empty() && !name.empty())
    return Status(Code::kNotFound,
                  "there is no entry '" + std::string(name) + "'; there are: " + known);
  return found;
}

}  // namespace

Result<std::vector<TraceNode>> source_nodes(const Plan& plan) {
  std::vector<TraceNode> nodes;
  if (plan.source_graph.empty()) return nodes;
  SHW_ASSIGN_OR_RETURN(const Graph graph, read_graph(plan.source_graph));
  nodes.reserve(graph.num_nodes());
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    std::string module;
    for (const std::string& part : module_names(graph.meta(NodeId{i}).module_path))
      module += (module.empty() ? "" : ".") + part;
    nodes.push_back({std::string(graph.name(NodeId{i})), std::move(module)});
  }
  return nodes;
}

Result<std::string> plan_trace(const Plan& plan, std::string_view entry) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint32_t> entries, entries_of(plan.program, entry));
  SHW_ASSIGN_OR_RETURN(const std::vector<TraceNode> nodes, source_nodes(plan));
  return trace_json(plan.program, entries, nodes);
}

}  // namespace shw::answers
