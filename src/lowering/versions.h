// Keeps every value of the graph in every layout that was made of it.
//
// A use requests a value in a layout. If that version exists, the use reads it. Otherwise the
// version is made once, from the version with the cheapest route to it; the layouts along the route
// become versions, too. So no version is made twice, and an alias of the graph, a choice point for
// the planner, needs no step of its own.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "lowering/builder.h"
#include "redistribution/memory_order.h"
#include "redistribution/redistributor.h"
#include "sharding/unfolding.h"

namespace shw {

// A tensor is identified by its slot: its index into the graph's results.
class Versions {
 public:
  // `planned`, unless empty: the memory order that prices assume, by slot. A piece has this order
  // unless views or uneven shards forbid it.
  Versions(size_t num_slots, ProgramBuilder& builder, Redistributor& redistributor,
           const MovePrices& prices, std::span<const MemoryOrder> planned = {})
      : versions_(num_slots),
        builder_(builder),
        redistributor_(redistributor),
        prices_(prices),
        planned_(planned) {}

  // Adds the version that the value's producer makes. Layouts must be canonical.
  void define(uint32_t slot, const TensorType& global, const Layout& layout, ValueId value);
  // This rank's piece of the value in that layout. Appends steps if it does not exist yet.
  Result<ValueId> get(uint32_t slot, const Layout& layout);
  // µs to make these layouts of the value one after another, each from the nearest that exists by
  // then. An estimate: layouts along the routes do not count as made.
  double price(uint32_t slot, std::span<const Layout> layouts) const;
  // The versions of a value, in the order in which they were made.
  static constexpr uint32_t kAsDefined = UINT32_MAX;
  struct Version {
    Layout layout;
    ValueId value;
    uint32_t from = kAsDefined;  // the version that it was made from
  };
  std::span<const Version> of(uint32_t slot) const { return versions_[slot].list; }
  std::optional<uint32_t> index_of(uint32_t slot, const Layout& layout) const;
  bool defined(uint32_t slot) const { return !versions_[slot].list.empty(); }
  // Whether the value was defined in this layout.
  bool defined_in(uint32_t slot, const Layout& layout) const {
    return defined(slot) && versions_[slot].list[0].layout == layout;
  }
  // Starts with the versions that earlier runs over the graph have left. A value exists in every
  // layout in which it existed at the end of one of them.
  void start_from(std::span<const Versions* const> earlier);
  // Forgets the copies made since the last call, so that later uses make their own.
  void drop_copies();

 private:
  struct Slot {
    TensorType global;
    std::vector<Version> list;
  };
  static Layout serving(const Layout& held, Layout wanted);

  // The start of a route. The route's coordinates are the tensor's dims in memory order, unfolded
  // so that all shards are plain.
  struct Source {
    size_t version;
    MemoryOrder order;
    Unfolding unfolding;
    const Route* route;
  };
  Result<Source> cheapest_source(uint32_t number, const Layout& layout);
  MemoryOrder order_of(uint32_t number, const TensorType& piece) const;
  // `layout` without the shards of dims that it or `held` cuts with a factor.
  static Layout opened(const Layout& held, Layout layout);
  ValueId follow(Slot& slot, const Source& source);

  std::vector<Slot> versions_;
  std::vector<uint32_t> copied_;  // slots, since drop_copies()
  ProgramBuilder& builder_;
  Redistributor& redistributor_;
  const MovePrices& prices_;
  const std::span<const MemoryOrder> planned_;
};

}  // namespace shw
