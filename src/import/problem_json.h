// Reads a placement problem exported by another planner, format "ap-problem-1" (JSON, plain or
// gzipped).
//
//   nodes[i]      op, name, inputs (producer per argument slot), n_strats, root, and on roots
//                 compute[strategy] and
//                 arg_cost[slot] = {comm, trans, forbid_comm_gt0?}: indices into `matrices` (rows:
//                 own strategy, columns: the producer's; null = infinite; with forbid_comm_gt0 a
//                 pair whose comm is > 0 is forbidden)
//   constraints   node: allowed strategies; paired: allowed pairs;
//                 memory: low ≤ Σ ratio(strategy) ≤ high
//
// A memory budget that forces every parameter to its smallest ratio restricts single nodes and
// becomes forbidden labels; one with slack becomes budgets of the problem.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/text_limit.h"
#include "solver/problem.h"
#include "support/status.h"

namespace shw::import {

struct ImportedProblem {
  static constexpr uint32_t kNoVariable = UINT32_MAX;
  solver::PlacementProblem problem;
  std::vector<uint32_t> variable;      // of each node of the file; kNoVariable for outputs
  std::vector<std::string> node_name;  // of each node of the file
};

// `what`: what the bytes are, for messages. tied: nodes with the same root become one variable,
// which pays for all of them. INVALID_ARGUMENT gives the path of what is missing, mistyped, out of
// range, or of inconsistent shape.
Result<ImportedProblem> parse_problem(std::span<const uint8_t> bytes, const std::string& what,
                                      bool tied, uint64_t max_text_bytes = kDefaultMaxTextBytes);
Result<ImportedProblem> read_problem(const std::string& path, bool tied);

}  // namespace shw::import
