// How each value of a graph lies in memory once it is lowered: what its producer writes, seen
// through the views between them. Moves keep the order.
#pragma once
#include "graph/graph.h"
#include "redistribution/lowered_memory.h"

namespace shw {

LoweredMemory lowered_memory(const Graph& graph);

}  // namespace shw
