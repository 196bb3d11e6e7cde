// Prices of the routes by which lowering changes layouts, for all pairs that edges of the graph can
// ask for.
//
// One table serves all edges of one type of value. It is large and is kept until another type is
// requested, so price the edges type by type.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "sharding/value_layouts.h"
#include "strategy/strategies.h"

namespace shw {

// Supplied by the compiler from lowering, which this layer may not include.
struct RoutePrices {
  // µs of the moves from each layout to each other, including shard orders: out[i · to.size() + j]
  // is the price of from[i] → to[j]. Infinite: lowering has no route.
  std::function<void(const Dims& shape, int64_t element_bytes, std::span<const Layout> from,
                     std::span<const Layout> to, std::span<double> out)>
      of_pairs;
  // Announces what of_pairs() will be asked for.
  std::function<void(std::span<const ValueLayouts>)> prepare;
};

class RouteTables {
 public:
  // Graph and strategies must outlive it.
  RouteTables(const Graph& graph, const Strategies& strategies, RoutePrices prices);

  // Builds the table of a type, unless it is the current one.
  void turn_to(const TensorType& type);
  // In the current table: the column of a layout, and the prices from one layout to all columns.
  uint32_t column(const Layout& to) const { return columns_.at(to); }
  const double* row(const Layout& from) const {
    return us_.get() + size_t{rows_.at(from)} * columns_.size();
  }
  // The price of one pair, even if the graph does not ask for it.
  double price(const TensorType& type, const Layout& from, const Layout& to) const;

 private:
  struct LayoutHash {
    size_t operator()(const Layout& l) const { return hash_of(l); }
  };
  struct TypeKey {
    Dims shape;
    int64_t element_bytes;
    bool operator==(const TypeKey&) const = default;
  };
  struct TypeKeyHash {
    size_t operator()(const TypeKey& k) const;
  };
  // Maps here are for look-up only.
  using Places = std::unordered_map<Layout, uint32_t, LayoutHash>;
  struct Lists {  // in which the values of a type are produced and requested
    std::vector<LayoutListId> from, to;
  };
  void find_types();
  Places places_of(std::span<const LayoutListId> lists, std::vector<Layout>& layouts) const;

  const Graph& graph_;
  const Strategies& strategies_;
  RoutePrices prices_;
  std::unordered_map<TypeKey, Lists, TypeKeyHash> types_;
  // The table of the current type.
  std::optional<TypeKey> key_;
  Places rows_, columns_;
  std::unique_ptr<double[]> us_;
  size_t room_ = 0;  // of us_
};

// The type of a value on an edge: for get_item the element of the tuple.
const TensorType& edge_type(const Graph& graph, NodeId consumer, size_t operand);

}  // namespace shw
