// Makes a training graph of any number of layers and other sizes from a graph of two layers, for
// models that are too large to keep as a file.
#pragma once
#include <cstdint>
#include <map>

#include "graph/graph.h"

namespace shw::bench {

// `graph` has one forward and one backward half. Its module paths contain "layers.0." and
// "layers.1.". The nodes of a layer are contiguous, and both layers have the same order. Every dim
// that is a key of `sizes` is replaced, in inputs and in the sizes that views state. All other
// types are inferred.
Result<Graph> deeper_model(const Graph& graph, uint32_t layers,
                           const std::map<int64_t, int64_t>& sizes);

}  // namespace shw::bench
