#include "placement/route_tables.h"

#include <algorithm>

#include "support/hash.h"

namespace shw {

const TensorType& edge_type(const Graph& graph, NodeId consumer, size_t operand) {
  const NodeId from = graph.operands(consumer)[operand];
  const size_t element =
      graph.op(consumer) == OpKind::kGetItem
          ? static_cast<size_t>(graph.attrs(consumer).get_int(AttrKey::kIndex, 0))
          : 0;
  return *graph.results(from)[element];
}

size_t RouteTables::TypeKeyHash::operator()(const TypeKey& k) const {
  return hash_span(k.shape.span(), static_cast<uint64_t>(k.element_bytes));
}

RouteTables::RouteTables(const Graph& graph, const Strategies& strategies, RoutePrices prices)
    : graph_(graph), strategies_(strategies), prices_(std::move(prices)) {}

void RouteTables::find_types() {
  const auto add = [](std::vector<LayoutListId>& lists, LayoutListId list) {
    if (std::find(lists.begin(), lists.end(), list) == lists.end()) lists.push_back(list);
  };
  for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
    const auto operands = graph_.operands(NodeId{i});
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].valid()) continue;
      const TensorType& type = edge_type(graph_, NodeId{i}, k);
      Lists& lists = types_[{type.shape, dtype_size(type.dtype)}];
      add(lists.from, strategies_.produced(graph_, NodeId{i}, k));
      add(lists.to, strategies_.of(NodeId{i}).operands[k]);
    }
  }
  std::vector<ValueLayouts> values;
  for (const auto& [key, lists] : types_) {
    values.push_back({key.shape, key.element_bytes, {}});
    places_of(lists.from, values.back().layouts);
    places_of(lists.to, values.back().layouts);
  }
  prices_.prepare(values);
}

RouteTables::Places RouteTables::places_of(std::span<const LayoutListId> lists,
                                           std::vector<Layout>& layouts) const {
  const LayoutPool& pool = strategies_.pool();
  Places places;
  for (LayoutListId list : lists)
    for (LayoutId id : pool.list(list))
      if (places.try_emplace(pool.layout(id), static_cast<uint32_t>(layouts.size())).second)
        layouts.push_back(pool.layout(id));
  return places;
}

void RouteTables::turn_to(const TensorType& type) {
  const TypeKey key{type.shape, dtype_size(type.dtype)};
  if (key_ == key) return;
  if (types_.empty()) find_types();
  const Lists& lists = types_[key];
  std::vector<Layout> from, to;
  rows_ = places_of(lists.from, from);
  columns_ = places_of(lists.to, to);
  const size_t pairs = from.size() * to.size();
  if (pairs > room_) {
    us_ = std::make_unique_for_overwrite<double[]>(pairs);
    room_ = pairs;
  }
  prices_.of_pairs(key.shape, key.element_bytes, from, to, {us_.get(), pairs});
  key_ = key;
}

double RouteTables::price(const TensorType& type, const Layout& from, const Layout& to) const {
  double us = 0;
  prices_.of_pairs(type.shape, dtype_size(type.dtype), {&from, 1}, {&to, 1}, {&us, 1});
  return us;
}

}  // namespace shw
