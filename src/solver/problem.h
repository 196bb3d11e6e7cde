// The placement problem as flat arrays. It has numbers only, no graph and no layouts; solver/
// includes nothing but support/.
//
//   minimise   Σ_v unary[v][x_v]  +  Σ_e matrix[e][x_a, x_b]      over one label x_v per variable v
//
// A variable is a planner node, a label one of its strategies, an edge joins a producer and a
// consumer. Costs are in µs, ≥ 0, and infinite if the label or pair is forbidden; pins, "same
// layout" pairs and rules for casts are all expressed this way. Parallel edges add up. An edge from
// a variable to itself is a unary cost (its diagonal); add_edge folds it.
//
// A budget limits a scarce resource such as memory. Each variable that uses it is live over an
// interval of the budget's points; at every point, the usages of the live variables' labels may add
// up to at most the limit. A linear constraint is a budget with one point; a lower limit is one
// with all signs reversed.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "support/deadline.h"
#include "support/monitor.h"
#include "support/parallel.h"
#include "support/status.h"

namespace shw::solver {

inline constexpr double kForbidden = std::numeric_limits<double>::infinity();
inline constexpr double kOptimalGap = 1e-9;  // relative gap that counts as optimal

// The bound may be lower than the cost by exactly the gap; a few units in the last place allow for
// rounding.
inline bool is_within_gap(double cost, double bound, double gap) {
  constexpr double kUlps = 4 * std::numeric_limits<double>::epsilon();
  return cost - bound <= (gap + kUlps) * cost;
}
inline bool is_optimal(double cost, double bound) {
  return is_within_gap(cost, bound, kOptimalGap);
}

class PlacementProblem {
 public:
  struct Edge {
    uint32_t a, b;        // variables
    uint32_t matrix;      // num_labels(a) × num_labels(b), or the transpose if
    uint32_t transposed;  // is 1
  };
  struct Matrix {
    uint32_t rows, cols;
    const double* costs;  // row-major, in the pool
  };
  struct Usage {
    uint32_t budget, variable;
    uint32_t first, end;  // live at the points first, …, end − 1; nowhere if first = end
    uint64_t offset;      // into the pool; see usage_of()
  };

  PlacementProblem() = default;
  PlacementProblem(PlacementProblem&&) noexcept = default;
  PlacementProblem& operator=(PlacementProblem&&) noexcept = default;
  // A copy to extend; it shares the tables, which can be large.
  PlacementProblem share() const;
  // A problem with only the same matrices, also shared.
  PlacementProblem without_variables() const;

  // Returns the variable's index. Costs may be kForbidden; validate() rejects an empty span.
  uint32_t add_variable(std::span<const double> unary);
  void add_unary(uint32_t variable, std::span<const double> costs);  // adds to the existing costs
  // Bitwise equal matrices share one entry.
  uint32_t add_matrix(uint32_t rows, uint32_t cols, std::span<const double> row_major);
  // The same without a copy: the caller fills the memory that room_for_matrix() returns, then calls
  // add_filled_matrix() before the next room_for_matrix().
  std::span<double> room_for_matrix(uint32_t rows, uint32_t cols);
  uint32_t add_filled_matrix();
  void add_edge(uint32_t a, uint32_t b, uint32_t matrix, bool transposed = false);
  // Changes the ends and the matrix of edge i.
  void set_edge(uint32_t i, uint32_t a, uint32_t b, uint32_t matrix);
  // Returns the budget's index. A sum may exceed the limit by a relative 1e-12, to allow for
  // rounding.
  uint32_t add_budget(double limit);
  void add_usage(uint32_t budget, uint32_t variable, uint32_t first, uint32_t end,
                 std::span<const double> per_label);

  // A copy with the costs of edge i multiplied by scales[i] ≥ 0; edges beyond `scales` keep their
  // costs. Forbidden pairs stay forbidden. Tables that are not scaled are shared.
  PlacementProblem with_scaled_edges(std::span<const double> scales) const;

  void reserve(size_t variables, size_t labels, size_t edges);

  uint32_t num_variables() const { return static_cast<uint32_t>(first_label_.size() - 1); }
  uint32_t num_labels(uint32_t v) const {
    return static_cast<uint32_t>(first_label_[v + 1] - first_label_[v]);
  }
  uint64_t first_label(uint32_t v) const {
    return first_label_[v];
  }  // offset of v's labels in a concatenation of all labels
  std::span<const double> unary(uint32_t v) const {
    return {unary_.data() + first_label_[v], num_labels(v)};
  }
  std::span<const Edge> edges() const { return edges_; }
  std::span<const Matrix> matrices() const { return matrices_; }
  const double* costs(uint32_t matrix) const { return matrices_[matrix].costs; }
  uint64_t pool_bytes() const { return pool_bytes_; }
  double edge_cost(const Edge& e, uint32_t label_a, uint32_t label_b) const {
    const Matrix& m = matrices_[e.matrix];
    return costs(e.matrix)[e.transposed ? uint64_t{label_b} * m.cols + label_a
                                        : uint64_t{label_a} * m.cols + label_b];
  }
  std::span<const double> budget_limits() const { return budget_limits_; }
  std::span<const Usage> usages() const { return usages_; }
  std::span<const double> usage_of(const Usage& u) const {
    return {usage_pool_.data() + u.offset, num_labels(u.variable)};
  }
  // Checks that shapes agree, costs are neither NaN nor −∞, every variable has a label, limits and
  // usages are finite.
  Status validate() const;

 private:
  PlacementProblem(const PlacementProblem&) = default;
  uint32_t add_scaled_matrix(const Matrix& of, double scale);
  std::vector<uint64_t> first_label_{0};
  std::vector<double> unary_;
  std::vector<Edge> edges_;
  std::vector<Matrix> matrices_;
  std::vector<double> budget_limits_, usage_pool_;
  std::vector<Usage> usages_;
  // pool_: chunks of memory, which never move. filling_: the matrix being filled. free_: the unused
  // rest of the last chunk.
  std::vector<std::shared_ptr<double[]>> pool_;
  Matrix filling_{0, 0, nullptr};
  double* free_ = nullptr;
  size_t free_cells_ = 0;
  uint64_t pool_bytes_ = 0;
  std::unordered_multimap<uint64_t, uint32_t> matrix_by_hash_;  // never iterated: order undefined
  bool malformed_ = false;  // invalid sizes or indices were passed; validate() reports it
};

struct WarmStart;  // warm.h

struct SolveOptions {
  // Maximum number of sweeps over the whole problem. It is a count, so that the result does not
  // depend on the clock.
  uint32_t max_sweeps = 2000;
  // A problem with at least this many cells in distinct tables is wide (survey.h). A deep network
  // of small tables has as many label pairs but few distinct tables, which presolve handles well.
  uint64_t wide_cells = 1 << 22;
  uint64_t table_budget_bytes = 64ull << 20;  // for exact elimination; 0: no elimination at all
  uint64_t max_branch_nodes = 100000;
  // Maximum work (SolveStats::cells); then the incumbent is returned with its bound. Unlike branch
  // nodes, it limits the time for problems with large tables.
  uint64_t max_cells = UINT64_MAX;
  uint64_t branch_bytes = 3ull << 30;  // for the branch-and-bound tree, with budgets
  // For a rough answer to a problem with budgets: a problem with more cells is solved only among
  // its likely labels, which have about this many cells, with proportional work (budget_likely.cc).
  // 0: never.
  uint64_t likely_cells = 0;
  // A problem with budgets and at least this many cells is huge: solves among the likely labels
  // determine the prices of the budgets before many sweeps over all labels (budget_likely.cc).
  uint64_t huge_cells = 50'000'000;
  // After this much work, a branch and bound with budgets also improves its incumbent
  // (budget_improve.h). The default is about three seconds.
  uint64_t improve_from = 3'000'000'000;
  // Maximum number of threads; 0: the number of cores. Threads share a problem with budgets once it
  // proves hard, and two threads share each sweep over a large problem. They affect only the time
  // taken.
  uint32_t threads = 1;
  TaskExecutor tasks = {};  // runs the work of other threads; empty: threads are started
  Deadline deadline = {};   // when it expires, the incumbent is returned with proven = false
  // With budgets: the solver looks only for labellings that cost less. FAILED_PRECONDITION: there
  // is provably none.
  double cost_below = kForbidden;
  bool use_lp_solve = true;           // false: behave as if it were not installed
  double relative_gap = kOptimalGap;  // proven if cost − bound ≤ relative_gap · |cost|
  // The result of solving a nearly identical problem: same variables and labels, different costs or
  // limits. Saves work without weakening the proof; ignored if it does not fit. May be null.
  const WarmStart* warm = nullptr;
  bool keep_warm = false;  // return Solution::warm, at some cost in time and memory
};

struct SolveStats {
  uint32_t variables = 0, edges = 0, matrices = 0;
  uint64_t labels = 0, labels_after_presolve = 0;
  uint32_t variables_after_presolve = 0;
  uint32_t sweeps = 0, core_variables = 0, branch_nodes = 0;
  uint64_t cells = 0;  // the work, independent of the clock: pairs of labels looked at
  // lp_solve, the last resort, was needed to close the gap but could not be opened.
  bool lp_solve_missing = false;
  double presolve_s = 0, search_s = 0;  // search: sweeps and everything after them
};

// The shadow price of a budget at one point: by how much the optimum of the relaxation would fall
// if the limit there were one unit higher.
struct BudgetPrice {
  uint32_t budget, point;
  double price;
};

struct Solution {
  std::vector<uint32_t> choice;  // one label per variable
  double cost = kForbidden;      // of `choice`, by evaluate()
  double bound = 0;              // no labelling costs less
  bool proven = false;
  std::vector<BudgetPrice> prices;        // those above zero; certify() turns them into a proof
  std::shared_ptr<const WarmStart> warm;  // for the next solve, if requested
  SolveStats stats;
};

// The size of a problem: the number of pairs of labels of all its edges, which a sweep looks at.
uint64_t edge_cells(const PlacementProblem& problem);

// Recomputes the cost of a labelling from the problem alone; shares no code with the solver.
// kForbidden: not allowed, or violates a budget.
double evaluate(const PlacementProblem& problem, std::span<const uint32_t> choice);
// The maximum load of a budget over its points; 0 if no variable uses it. Equally independent.
double peak_load(const PlacementProblem& problem, uint32_t budget,
                 std::span<const uint32_t> choice);

// Finds the optimum and proves it. INVALID_ARGUMENT: not a valid problem. FAILED_PRECONDITION: no
// labelling has finite cost (the message names variables). DEADLINE_EXCEEDED: found none before the
// deadline. RESOURCE_EXHAUSTED: found none within the sweeps, branch nodes and bytes of the
// options. CANCELLED: within 10 ms of raising the monitor's flag. Unless the deadline expires, the
// same problem and options give the same solution on every machine and with any number of threads.
Result<Solution> solve(const PlacementProblem& problem, const SolveOptions& options,
                       Monitor& monitor);

// Test oracle: the whole problem as one MILP (lp_solve; NOT_FOUND if not installed). Small problems
// only.
Result<Solution> solve_with_lp_solve(const PlacementProblem& problem, double time_limit_s);

}  // namespace shw::solver
