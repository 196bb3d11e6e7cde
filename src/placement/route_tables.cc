#include "placement/route_tables.h"

#include <algorithm>

#include "support/hash.h"

namespace shw {

namespace {

size_t edge_element(const Graph& graph, NodeId consumer) {
  return graph.op(consumer) == OpKind::kGetItem
             ? static_cast<size_t>(graph.attrs(consumer).get_int(AttrKey::kIndex, 0))
             : 0;
}

}  // namespace

size_t edge_result(const Graph& graph, NodeId consumer, size_t operand) {
  return graph.node(graph.operands(consumer)[operand]).first_result + edge_element(graph, consumer);
}

const TensorType& edge_type(const Graph& graph, NodeId consumer, size_t operand) {
  return *graph.results(graph.operands(consumer)[operand])[edge_element(graph, consumer)];
}

size_t RouteTables::TypeKeyHash::operator()(const TypeKey& k) const {
  uint64_t hash = hash_span(k.shape.span(), static_cast<uint64_t>(k.element_bytes));
  hash = hash_bytes(k.order.dim_at.data(), k.order.dim_at.size(), hash);
  return hash_combine(hash, k.order.dense);
}

RouteTables::RouteTables(const Graph& graph, const Strategies& strategies,
                         Redistributor& redistributor)
    : graph_(graph), strategies_(strategies), redistributor_(redistributor) {}

RouteTables::TypeKey RouteTables::key_of(NodeId consumer, size_t operand) const {
  const TensorType& type = edge_type(graph_, consumer, operand);
  return {type.shape, dtype_size(type.dtype), order_of(consumer, operand)};
}

MemoryOrder RouteTables::order_of(NodeId consumer, size_t operand) const {
  if (!orders_.empty()) return orders_[edge_result(graph_, consumer, operand)];
  const TensorType& type = edge_type(graph_, consumer, operand);
  return MemoryOrder::of(row_major(type.dtype, type.shape));
}

uint64_t RouteTables::table_hash(NodeId consumer, size_t operand) const {
  return TypeKeyHash()(key_of(consumer, operand));
}

bool RouteTables::is_dense(NodeId consumer, size_t operand) const {
  return orders_.empty() || orders_[edge_result(graph_, consumer, operand)].dense;
}

double RouteTables::price(NodeId consumer, size_t operand, const Layout& from,
                          const Layout& to) const {
  if (from == to) return 0;
  const TensorType& type = edge_type(graph_, consumer, operand);
  const MemoryOrder order = order_of(consumer, operand);
  return redistributor_.price(order.permuted(type.shape), dtype_size(type.dtype),
                              order.permuted(from), order.permuted(to));
}

void RouteTables::prices(NodeId consumer, size_t operand, std::span<const Layout> from,
                         std::span<const Layout> to, std::span<double> out) const {
  const TypeKey key = key_of(consumer, operand);
  const auto permuted = [&](std::span<const Layout> layouts) {
    std::vector<Layout> as_they_lie;
    for (const Layout& l : layouts) as_they_lie.push_back(key.order.permuted(l));
    return as_they_lie;
  };
  redistributor_.prices(key.order.permuted(key.shape), key.element_bytes, permuted(from),
                        permuted(to), out);
}

void RouteTables::find_types() {
  const auto add = [](std::vector<LayoutListId>& lists, LayoutListId list) {
    if (std::find(lists.begin(), lists.end(), list) == lists.end()) lists.push_back(list);
  };
  for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
    const auto operands = graph_.operands(NodeId{i});
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].valid()) continue;
      Lists& lists = types_[key_of(NodeId{i}, k)];
      add(lists.from, strategies_.produced(graph_, NodeId{i}, k));
      add(lists.to, strategies_.of(NodeId{i}).operands[k]);
    }
  }
  std::vector<ValueLayouts> values;
  for (const auto& [key, lists] : types_) {
    values.push_back({key.order.permuted(key.shape), key.element_bytes, {}});
    places_of(lists.from, values.back().layouts);
    places_of(lists.to, values.back().layouts);
    for (Layout& l : values.back().layouts) l = key.order.permuted(l);
  }
  redistributor_.prepare(values);
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

void RouteTables::turn_to(NodeId consumer, size_t operand) {
  TypeKey key = key_of(consumer, operand);
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
  for (std::vector<Layout>* layouts : {&from, &to})
    for (Layout& l : *layouts) l = key.order.permuted(l);
  redistributor_.prices(key.order.permuted(key.shape), key.element_bytes, from, to,
                        {us_.get(), pairs});
  key_ = std::move(key);
}

}  // namespace shw
