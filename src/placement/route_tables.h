// The prices of all changes of layout that edges of the graph can need.
//
// One table serves all edges of one type of value. It is large and is kept until another type is
// requested, so price the edges type by type.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "redistribution/memory_order.h"
#include "redistribution/redistributor.h"
#include "strategy/strategies.h"

namespace shw {

class RouteTables {
 public:
  // Graph and strategies must outlive it.
  RouteTables(const Graph& graph, const Strategies& strategies, Redistributor& redistributor);

  // Sets the memory order of values, by result, which must outlive this. Call it before anything is
  // priced. By default all are row-major.
  void set_memory(std::span<const MemoryOrder> orders) { orders_ = orders; }
  // Equal for operands that the same table serves.
  uint64_t table_hash(NodeId consumer, size_t operand) const;
  // Whether the operand's value has no gaps in memory, so that it can be sent without a copy.
  bool is_dense(NodeId consumer, size_t operand) const;

  // Builds the table of an operand's value, unless it is the current one.
  void turn_to(NodeId consumer, size_t operand);
  // In the current table: the column of a layout, and the prices from one layout to all columns.
  uint32_t column(const Layout& to) const { return columns_.at(to); }
  const double* row(const Layout& from) const {
    return us_.get() + size_t{rows_.at(from)} * columns_.size();
  }
  // The prices of all pairs, including ones that no edge of the graph needs. out[i · to.size() + j]
  // is from[i] → to[j].
  void prices(NodeId consumer, size_t operand, std::span<const Layout> from,
              std::span<const Layout> to, std::span<double> out) const;
  // The same for one pair.
  double price(NodeId consumer, size_t operand, const Layout& from, const Layout& to) const;

 private:
  struct TypeKey {
    Dims shape;
    int64_t element_bytes;
    MemoryOrder order;
    bool operator==(const TypeKey&) const = default;
  };
  struct TypeKeyHash {
    size_t operator()(const TypeKey& k) const;
  };
  // Maps here are for look-up only.
  using Places = std::unordered_map<Layout, uint32_t, LayoutHash>;
  struct Lists {  // the layouts in which values of a type are produced, requested
    std::vector<LayoutListId> from, to;
  };
  TypeKey key_of(NodeId consumer, size_t operand) const;
  MemoryOrder order_of(NodeId consumer, size_t operand) const;
  void find_types();
  Places places_of(std::span<const LayoutListId> lists, std::vector<Layout>& layouts) const;

  const Graph& graph_;
  const Strategies& strategies_;
  std::span<const MemoryOrder> orders_;  // by result
  Redistributor& redistributor_;
  std::unordered_map<TypeKey, Lists, TypeKeyHash> types_;
  // The table of the current type.
  std::optional<TypeKey> key_;
  Places rows_, columns_;
  std::unique_ptr<double[]> us_;
  size_t room_ = 0;  // of us_
};

// The value on an edge (for get_item, the element of the tuple): its number among all results, and
// its type.
size_t edge_result(const Graph& graph, NodeId consumer, size_t operand);
const TensorType& edge_type(const Graph& graph, NodeId consumer, size_t operand);

}  // namespace shw
