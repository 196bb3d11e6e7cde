// Which shard orders a node may have, where they are chosen after the solve.
#pragma once
#include <functional>
#include <span>

#include "graph/graph.h"
#include "sharding/layout.h"

namespace shw {

struct OrderRule {
  NodeId node;
  // Called with all layouts of the node, under one shard order.
  std::function<bool(std::span<const Layout> results, std::span<const Layout> operands)> allows;
  // The node states orders that must hold. They may differ from the default even at inputs and
  // outputs.
  bool states_orders = false;
};

}  // namespace shw
