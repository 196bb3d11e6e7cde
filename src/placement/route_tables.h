// The prices of the moves by which lowering changes layouts, for all pairs that a graph's edges can
// ask for.
//
// One table serves all edges of one type of value: it is large, and kept until another type is
// asked about. So ask type by type.
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

// Asked of lowering, which comes after.
struct RoutePrices {
  // µs of the moves from each layout to each other one, shard orders included:
  // out[i · to.size() + j] is from[i] → to[j]. Infinite where lowering knows no way.
  std::function<void(const Dims& shape, int64_t element_bytes, std::span<const Layout> from,
                     std::span<const Layout> to, std::span<double> out)>
      of_pairs;
  // What of_pairs() will be asked about, before it is.
  std::function<void(std::span<const ValueLayouts>)> prepare;
};

class RouteTables {
 public:
  // Graph and strategies must outlive it.
  RouteTables(const Graph& graph, const Strategies& strategies, RoutePrices prices);

  // Makes the table of a type, if it is not the one at hand.
  void turn_to(const TensorType& type);
  // In that table: where a layout stands among those asked for, and the prices from one to each of
  // them.
  uint32_t column(const Layout& to) const { return columns_.at(to); }
  const double* row(const Layout& from) const {
    return us_.get() + size_t{rows_.at(from)} * columns_.size();
  }
  // One pair, whether or not the graph asks for it.
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
  // Look-up only, as all maps here.
  using Places = std::unordered_map<Layout, uint32_t, LayoutHash>;
  struct Lists {  // in which the values of a type are made, and asked for
    std::vector<LayoutListId> from, to;
  };
  void find_types();
  Places places_of(std::span<const LayoutListId> lists, std::vector<Layout>& layouts) const;

  const Graph& graph_;
  const Strategies& strategies_;
  RoutePrices prices_;
  std::unordered_map<TypeKey, Lists, TypeKeyHash> types_;
  // The table of the type that was asked about last.
  std::optional<TypeKey> key_;
  Places rows_, columns_;
  std::unique_ptr<double[]> us_;
  size_t room_ = 0;  // of us_
};

// The type of a value on an edge: for get_item the element of the tuple.
const TensorType& edge_type(const Graph& graph, NodeId consumer, size_t operand);

}  // namespace shw
