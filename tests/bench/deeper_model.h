// From a training graph of two layers, one of as many as wanted, with other sizes: what is too
// large to keep as a file.
#pragma once
#include <cstdint>
#include <map>

#include "graph/graph.h"

namespace shw::bench {

// `graph`: one forward and backward half in which module paths say "layers.0." and "layers.1.", and
// the nodes of a layer stand together, those of both in the same order. Every dim that `sizes`
// names becomes what it says, in inputs and in the sizes that views state; all other types follow.
Result<Graph> deeper_model(const Graph& graph, uint32_t layers,
                           const std::map<int64_t, int64_t>& sizes);

}  // namespace shw::bench
