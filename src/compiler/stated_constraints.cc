#include "compiler/stated_constraints.h"

#include "placement/saved_placements.h"

namespace shw {
namespace {

Result<std::optional<LayoutRule>> boundary_layout(const std::string& text, int mesh_rank) {
  if (text.empty() || text == kFreeLayout) return std::optional<LayoutRule>();
  SHW_ASSIGN_OR_RETURN(LayoutRule rule, LayoutRule::parse_exact(text, mesh_rank));
  if (rule.layout().has_partial() || rule.layout().has_strided())
    return invalid_argument("layout '" + text +
                            "': an input or output cannot be partial, nor strided");
  return std::optional<LayoutRule>(std::move(rule));
}

Status boundary_layouts(const std::vector<std::pair<std::string, std::string>>& texts,
                        int mesh_rank, std::vector<BoundaryLayout>& out) {
  for (const auto& [name, text] : texts) {
    BoundaryLayout& b = out.emplace_back();
    b.name = name;
    b.text = name + "=" + text;
    if (text.empty())
      return invalid_argument("'" + b.text + "': expected a layout such as S(0)R, or free");
    SHW_ASSIGN_OR_RETURN(b.layout, boundary_layout(text, mesh_rank));
  }
  return {};
}

}  // namespace

Result<PlacementConstraints> stated_constraints(const CompileOptions& options, const Mesh& mesh,
                                                bool orders_later) {
  const int mesh_rank = mesh.rank();
  PlacementConstraints constraints;
  constraints.orders_later = orders_later;
  constraints.parameter_budget = options.parameter_budget;
  constraints.grad_reduce_dtype = options.grad_reduce_dtype;
  constraints.memory_limit_bytes = options.memory_limit_bytes;
  constraints.without = options.without;
  SHW_ASSIGN_OR_RETURN(constraints.input_layout, boundary_layout(options.input_layout, mesh_rank));
  SHW_ASSIGN_OR_RETURN(constraints.output_layout,
                       boundary_layout(options.output_layout, mesh_rank));
  SHW_RETURN_IF_ERROR(boundary_layouts(options.inputs, mesh_rank, constraints.inputs));
  SHW_RETURN_IF_ERROR(boundary_layouts(options.outputs, mesh_rank, constraints.outputs));
  for (const auto& [pattern, text] : options.pins) {
    SHW_ASSIGN_OR_RETURN(Pin pin, Pin::parse(pattern, text, mesh_rank));
    constraints.pins.push_back(std::move(pin));
  }
  return constraints;
}

Result<PlacementConstraints> stated_constraints(const CompileOptions& options, const Graph& graph,
                                                const Mesh& mesh, const Strategies& strategies,
                                                bool orders_later) {
  SHW_ASSIGN_OR_RETURN(PlacementConstraints constraints,
                       stated_constraints(options, mesh, orders_later));
  if (!options.placements.empty()) {
    SHW_ASSIGN_OR_RETURN(constraints.choices,
                         read_placements(options.placements, graph, mesh, strategies,
                                         /*any_order=*/orders_later));
  }
  return constraints;
}

}  // namespace shw
