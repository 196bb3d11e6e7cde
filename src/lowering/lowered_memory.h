// The memory order of each value of a graph after lowering: the order that its producer writes, as
// seen through the views in between. Moves keep the order.
#pragma once
#include "graph/graph.h"
#include "redistribution/lowered_memory.h"

namespace shw {

LoweredMemory lowered_memory(const Graph& graph);

}  // namespace shw
