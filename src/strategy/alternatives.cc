#include "strategy/alternatives.h"

#include "ops/declared.h"
#include "strategy/compose.h"
#include "support/format.h"

namespace shw {
namespace {

// The layouts of one alternative, if all of them exist on the mesh.
Result<std::vector<Layout>> layouts_on(const Graph& graph, NodeId n, const OpArgs& args,
                                       const Mesh& mesh) {
  const auto results = graph.results(n);
  SHW_ASSIGN_OR_RETURN(std::vector<Layout> layouts,
                       op_def(graph.op(n)).declared(args, results, mesh));
  for (size_t k = 0; k < layouts.size(); ++k) {
    const OptionalType& type = k < results.size() ? results[k] : args.operands[k - results.size()];
    // The rule sets agree on layouts that can be stated.
    if (type && !is_legal(layouts[k], type->shape, mesh, Rules::kFull))
      return invalid_argument("there is no layout " + to_string(layouts[k], mesh.rank()));
  }
  return layouts;
}

// The node behind aliases and get_item, and which of its results it is.
struct Source {
  NodeId node;
  size_t result = 0;
};
Source source_of(const Graph& graph, NodeId n) {
  Source source{n};
  while (graph.op(source.node) == OpKind::kAlias || graph.op(source.node) == OpKind::kGetItem) {
    if (graph.op(source.node) == OpKind::kGetItem)
      source.result = static_cast<size_t>(graph.attrs(source.node).get_int(AttrKey::kIndex, 0));
    source.node = graph.operands(source.node)[0];
  }
  return source;
}

// What a region states that matters for ties.
struct Stated {
  size_t num_alternatives, num_outs;
};
Result<Stated> stated_by(const Graph& graph, NodeId region) {
  SHW_ASSIGN_OR_RETURN(const std::vector<Attrs> all, ops::alternatives_of(graph.attrs(region)));
  return Stated{all.size(), ops::parts_of(all[0].get_string(AttrKey::kOutPlacements)).size()};
}

}  // namespace

Result<std::vector<StatedAlternative>> alternatives_on(const Graph& graph, NodeId n,
                                                       const Mesh& mesh) {
  SHW_ASSIGN_OR_RETURN(std::vector<Attrs> stated, ops::alternatives_of(graph.attrs(n)));
  const std::vector<OptionalType> operands = operand_types(graph, n);
  std::vector<StatedAlternative> alternatives;
  Status refusal;
  for (uint32_t i = 0; i < stated.size(); ++i) {
    StatedAlternative one{i, {}, std::move(stated[i]), {}};
    if (stated.size() > 1) one.name = one.attrs.get_string(AttrKey::kRegion);
    if (!one.name.empty() && one.name == graph.attrs(n).get_string(AttrKey::kRegion))
      one.name += format(", alternative %u", i);
    auto layouts = layouts_on(graph, n, {operands, &one.attrs}, mesh);
    if (!layouts.ok()) {
      add_refusal(one, layouts.status(), refusal);
      continue;
    }
    one.layouts = std::move(*layouts);
    alternatives.push_back(std::move(one));
  }
  if (alternatives.empty()) return refusal;
  return alternatives;
}

void add_refusal(const StatedAlternative& refused, const Status& cause, Status& sum) {
  sum = sum.ok() ? cause
                 : invalid_argument(format("%s; alternative %u: %s", sum.message().c_str(),
                                           refused.number, cause.message().c_str()));
}

std::string alternative_name(const Graph& graph, NodeId n, const Mesh& mesh, uint32_t strategy) {
  if (graph.op(n) != OpKind::kLocalMap) return {};
  const auto all = alternatives_on(graph, n, mesh);
  return all.ok() && strategy < all->size() ? (*all)[strategy].name : std::string();
}

Result<std::vector<TiedRegions>> tied_regions(const Graph& graph) {
  std::vector<TiedRegions> ties;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    if (graph.op(n) != OpKind::kLocalMap) continue;
    SHW_ASSIGN_OR_RETURN(const Stated reader, stated_by(graph, n));
    for (NodeId operand : graph.operands(n)) {
      if (!operand.valid()) continue;
      const Source source = source_of(graph, operand);
      if (graph.op(source.node) != OpKind::kLocalMap) continue;
      SHW_ASSIGN_OR_RETURN(const Stated saver, stated_by(graph, source.node));
      if (source.result < saver.num_outs) continue;  // a tensor with a layout, for everyone
      if (saver.num_alternatives != reader.num_alternatives)
        return at_origin(
            invalid_argument(format("the number of alternatives is %zu; it is %zu for '%s', which "
                                    "saves what the region reads",
                                    reader.num_alternatives, saver.num_alternatives,
                                    graph.name(source.node).c_str())),
            graph, n);
      const bool is_known =
          !ties.empty() && ties.back().saves == source.node && ties.back().reads == n;
      if (reader.num_alternatives > 1 && !is_known) ties.push_back({source.node, n});
    }
  }
  return ties;
}

}  // namespace shw
