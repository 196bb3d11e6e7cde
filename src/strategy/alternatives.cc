#include "strategy/alternatives.h"

#include <algorithm>

#include "ops/declared.h"
#include "strategy/compose.h"

namespace shw {
namespace {

std::string several(size_t count) {
  return std::to_string(count) + (count == 1 ? " alternative" : " alternatives");
}

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

// What a region states, as far as ties depend on it.
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
  Refusals refusals;
  for (uint32_t i = 0; i < stated.size(); ++i) {
    auto layouts = layouts_on(graph, n, {operands, &stated[i]}, mesh);
    if (layouts.ok())
      alternatives.push_back({i, std::move(stated[i]), std::move(*layouts)});
    else
      refusals.emplace_back(i, layouts.status());
  }
  if (alternatives.empty()) return none_possible(refusals);
  return alternatives;
}

Status none_possible(const Refusals& refusals) {
  if (refusals.size() == 1) return refusals[0].second;
  std::string text = "no alternative is possible";
  for (const auto& [number, status] : refusals)
    text += "; " + std::to_string(number) + ": " + status.message();
  return invalid_argument(std::move(text));
}

Result<std::string> alternative_name(const Graph& graph, NodeId n, const Mesh& mesh,
                                     uint32_t strategy) {
  if (graph.op(n) != OpKind::kLocalMap) return std::string();
  SHW_ASSIGN_OR_RETURN(const Stated stated, stated_by(graph, n));
  if (stated.num_alternatives == 1) return std::string();
  SHW_ASSIGN_OR_RETURN(const std::vector<StatedAlternative> all, alternatives_on(graph, n, mesh));
  SHW_CHECK(strategy < all.size());
  const std::string name(all[strategy].attrs.get_string(AttrKey::kRegion));
  const bool is_shared = name == graph.attrs(n).get_string(AttrKey::kRegion);
  return is_shared ? name + ", alternative " + std::to_string(all[strategy].number) : name;
}

Result<std::vector<TiedRegions>> tied_regions(const Graph& graph) {
  std::vector<TiedRegions> ties;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    if (graph.op(n) != OpKind::kLocalMap) continue;
    SHW_ASSIGN_OR_RETURN(const Stated reader, stated_by(graph, n));
    const size_t first = ties.size();
    for (NodeId operand : graph.operands(n)) {
      if (!operand.valid()) continue;
      const Source source = source_of(graph, operand);
      if (graph.op(source.node) != OpKind::kLocalMap) continue;
      SHW_ASSIGN_OR_RETURN(const Stated saver, stated_by(graph, source.node));
      if (source.result < saver.num_outs) continue;  // a tensor with a layout, for everyone
      if (saver.num_alternatives != reader.num_alternatives)
        return at_origin(
            invalid_argument("the region states " + several(reader.num_alternatives) + "; '" +
                             graph.name(source.node) + "', which saves what it reads, " +
                             "states " + several(saver.num_alternatives)),
            graph, n);
      const bool is_new =
          std::none_of(ties.begin() + static_cast<ptrdiff_t>(first), ties.end(),
                       [&](const TiedRegions& t) { return t.saves == source.node; });
      if (reader.num_alternatives > 1 && is_new) ties.push_back({source.node, n});
    }
  }
  return ties;
}

}  // namespace shw
