// Reads an instance of the IOPDDL contest (ASPLOS/EuroSys 2025; google/iopddl), JSON, plain or
// gzipped:
//
//   problem.nodes.intervals   [first, end) of each node: when it counts against the limit
//   problem.nodes.costs, .usages   per node, a number per strategy
//   problem.edges.nodes, .costs    [a, b], and a row-major matrix: strategies of a × those of b
//   problem.usage_limit       for everything that is live at the same time; null: none
//
// A cost of 1e18 or more is forbidden. Nodes become variables with the same index, the limit
// becomes budget 0.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "import/text_limit.h"
#include "solver/problem.h"
#include "support/status.h"

namespace shw::import {

// INVALID_ARGUMENT gives the path of what is missing, mistyped or out of range.
Result<solver::PlacementProblem> parse_iopddl(std::span<const uint8_t> bytes,
                                              const std::string& what,
                                              uint64_t max_text_bytes = kDefaultMaxTextBytes);
Result<solver::PlacementProblem> read_iopddl(const std::string& path);

}  // namespace shw::import
