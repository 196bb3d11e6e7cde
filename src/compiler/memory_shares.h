// The breakdown of a plan's memory peak, by kind and module.
#pragma once
#include <span>
#include <vector>

#include "graph/graph.h"
#include "placement/memory.h"
#include "plan/plan.h"

namespace shw {

// Sorted by size, largest first. Shares are whole bytes and add up to `peak_bytes`, the rounded sum
// of all parts.
std::vector<MemoryShare> memory_shares(const Graph& graph, std::span<const MemoryPart> parts,
                                       int64_t peak_bytes);

}  // namespace shw
