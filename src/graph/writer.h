// Graph to bytes (schemas/graph.fbs). The same graph gives the same bytes on every machine, and
// what this function wrote comes back byte by byte from write_graph(read_graph(bytes)).
#pragma once
#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace shw {

std::vector<uint8_t> write_graph(const Graph& graph);

}  // namespace shw
