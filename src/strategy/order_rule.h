// Which shard orders a node may have, where they are chosen after the solve.
#pragma once
#include <functional>
#include <span>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

struct OrderRule {
  NodeId node;
  // Asked with all layouts of the node, in one order.
  std::function<bool(std::span<const Layout> results, std::span<const Layout> operands)> allows;
  // It states orders that hold. They may differ from the default at inputs and outputs too.
  bool states_orders = false;
};

}  // namespace shw
