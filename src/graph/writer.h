// Writes a graph to bytes (schemas/graph.fbs). The same graph gives the same bytes on every
// machine. For bytes that this function wrote, write_graph(read_graph(bytes)) gives the same bytes
// again.
#pragma once
#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace shw {

std::vector<uint8_t> write_graph(const Graph& graph);

}  // namespace shw
