// Reads an instance of the IOPDDL contest (ASPLOS/EuroSys 2025; google/iopddl), JSON, plain or
// gzip:
//
//   problem.nodes.intervals   [first, end) of each node: when it counts against the limit
//   problem.nodes.costs, .usages   per node, a number per strategy
//   problem.edges.nodes, .costs    [a, b], and a matrix in one row: strategies of a × those of b
//   problem.usage_limit       of what is live at any time together; null: none
//
// A cost of 1e18 or more is forbidden. Nodes become variables of the same index, the limit budget
// 0.
#pragma once
#include <string>

#include "solver/problem.h"
#include "support/status.h"

namespace shw::import {

// INVALID_ARGUMENT names the place of what is missing, of the wrong type or out of range.
Result<solver::PlacementProblem> read_iopddl(const std::string& path);

}  // namespace shw::import
