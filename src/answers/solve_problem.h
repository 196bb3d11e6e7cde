// Solves an exported placement problem, without a graph.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/text_limit.h"
#include "solver/problem.h"
#include "support/monitor.h"

namespace shw::answers {

enum class ProblemFormat : uint8_t {
  kApProblem = 1,  // import/problem_json.h
  kIopddl = 2,     // import/iopddl.h
};

struct BudgetLoad {
  double peak = 0, limit = 0;
};

struct SolvedProblem {
  static constexpr uint32_t kNoStrategy = UINT32_MAX;
  std::vector<uint32_t> chosen;  // strategy of each node of the file; kNoStrategy for outputs
  solver::Solution solution;
  std::vector<BudgetLoad> budgets;
  double seconds = 0;  // of the solve
};

// `bytes`: JSON, plain or gzipped; `what`: a description of them for messages. `tied`: nodes with
// the same root get one common strategy (kApProblem only). Errors as the parsers and
// solver::solve() report them.
Result<SolvedProblem> solve_problem(ProblemFormat format, std::span<const uint8_t> bytes,
                                    const std::string& what, bool tied,
                                    const solver::SolveOptions& options, Monitor& monitor,
                                    uint64_t max_text_bytes = import::kDefaultMaxTextBytes);

std::string to_json(const SolvedProblem& solved);
std::string to_text(const SolvedProblem& solved);

}  // namespace shw::answers
