// The placement problem as flat arrays: no graph, no layouts, only numbers (solver/ includes only
// support/).
//
//   minimise   Σ_v unary[v][x_v]  +  Σ_e matrix[e][x_a, x_b]      over one label x_v per variable v
//
// A variable is a planner node, a label is one of its strategies, an edge joins a producer and a
// consumer. Costs are in µs, ≥ 0, and infinite where the label or the pair is forbidden: pins,
// "same layout" pairs and cast-direction rules are all written that way. Several edges may join the
// same two variables; their costs add up. An edge from a variable to itself is a unary cost (its
// diagonal); add_edge folds it.
//
// What there is only so much of, such as memory, is a budget: every variable that counts against it
// is live over an interval of its points, and at every point the usages of the labels chosen for
// the live variables may add up to the limit at most. A plain linear row is a budget of one point;
// a row bounded from below is one with all signs turned.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "support/deadline.h"
#include "support/monitor.h"
#include "support/status.h"

namespace shw::solver {

inline constexpr double kForbidden = std::numeric_limits<double>::infinity();

class PlacementProblem {
 public:
  struct Edge {
    uint32_t a, b;        // variables; the matrix has num_labels(a) rows and num_labels(b) columns,
    uint32_t matrix;      // or the other way round when
    uint32_t transposed;  // 1
  };
  struct Matrix {
    uint32_t rows, cols;
    const double* costs;  // row-major, in the pool
  };
  struct Usage {
    uint32_t budget, variable;
    uint32_t first, end;  // live at the points first, …, end − 1; nowhere if there are none
    uint64_t place;       // of usage_of()
  };

  PlacementProblem() = default;
  PlacementProblem(PlacementProblem&&) noexcept = default;
  PlacementProblem& operator=(PlacementProblem&&) noexcept = default;
  // The same problem once more, to be added to: it shares the tables, which can be large.
  PlacementProblem share() const;

  // Returns the variable's index. Costs may be kForbidden; an empty span is refused by validate().
  uint32_t add_variable(std::span<const double> unary);
  void add_unary(uint32_t variable, std::span<const double> costs);  // adds to what is there
  // Equal matrices (same bits) share one entry.
  uint32_t add_matrix(uint32_t rows, uint32_t cols, std::span<const double> row_major);
  // The same without a copy: room for the matrix, to be filled by the caller and then added before
  // room for another is asked for.
  std::span<double> room_for_matrix(uint32_t rows, uint32_t cols);
  uint32_t add_filled_matrix();
  void add_edge(uint32_t a, uint32_t b, uint32_t matrix, bool transposed = false);
  // Returns the budget's index. Sums may pass the limit by 1e-12 of it, which is rounding.
  uint32_t add_budget(double limit);
  void add_usage(uint32_t budget, uint32_t variable, uint32_t first, uint32_t end,
                 std::span<const double> per_label);

  void reserve(size_t variables, size_t labels, size_t edges);

  uint32_t num_variables() const { return static_cast<uint32_t>(first_label_.size() - 1); }
  uint32_t num_labels(uint32_t v) const {
    return static_cast<uint32_t>(first_label_[v + 1] - first_label_[v]);
  }
  uint64_t first_label(uint32_t v) const {
    return first_label_[v];
  }  // offset of v's labels when all are laid in a row
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
    return {usage_pool_.data() + u.place, num_labels(u.variable)};
  }
  // Shapes agree, no NaN, no −∞, every variable has a label; limits and usages are finite.
  Status validate() const;

 private:
  PlacementProblem(const PlacementProblem&) = default;
  std::vector<uint64_t> first_label_{0};
  std::vector<double> unary_;
  std::vector<Edge> edges_;
  std::vector<Matrix> matrices_;
  std::vector<double> budget_limits_, usage_pool_;
  std::vector<Usage> usages_;
  // Chunks never move; what follows is the matrix that has room, and what is left of the last
  // chunk.
  std::vector<std::shared_ptr<double[]>> pool_;
  Matrix filling_{0, 0, nullptr};
  double* free_ = nullptr;
  size_t free_cells_ = 0;
  uint64_t pool_bytes_ = 0;
  std::unordered_multimap<uint64_t, uint32_t> matrix_by_hash_;  // look-up only, never iterated
  bool malformed_ = false;  // sizes or indices that do not fit were given; validate() says so
};

struct WarmStart;  // warm.h

struct SolveOptions {
  // Sweeps over the whole problem. Counted, so the result does not depend on the clock.
  uint32_t max_sweeps = 2000;
  // Cells of all different tables from which on a problem is wide (survey.h). A deep network of
  // narrow tables has as many pairs of labels, but few tables, and presolve is good at that.
  uint64_t wide_cells = 1 << 22;
  uint64_t table_budget_bytes = 64ull << 20;  // of exact elimination
  uint64_t max_branch_nodes = 100000;
  uint64_t branch_bytes = 3ull << 30;  // of what branching keeps, with budgets
  // At most, 0: as many as cores. They share the work on budgets once it turns out to be hard, and
  // change nothing but the time that it takes.
  uint32_t threads = 1;
  Deadline deadline = {};      // then the incumbent is returned, proven = false
  bool use_lp_solve = true;    // false: work as where lp_solve is not installed
  double relative_gap = 1e-9;  // proven when cost − bound ≤ relative_gap · |cost|
  // What an earlier solve of nearly this problem left: the same variables and labels, at other
  // costs or limits. Saves work, and proves as much; what does not fit is ignored. May be null.
  const WarmStart* warm = nullptr;
  bool keep_warm = false;  // leave Solution::warm, which takes some work and memory
};

struct SolveStats {
  uint32_t variables = 0, edges = 0, matrices = 0;
  uint64_t labels = 0, labels_after_presolve = 0;
  uint32_t variables_after_presolve = 0;
  uint32_t sweeps = 0, core_variables = 0, branch_nodes = 0;
  // lp_solve, the last resort, would have been asked to close the gap, but cannot be opened.
  bool lp_solve_missing = false;
  double presolve_s = 0, search_s = 0;  // search: sweeps and all that follows
};

// What one unit of a budget costs at one of its points: so much less the optimum would cost if the
// limit were a unit higher there, as the relaxation sees it.
struct BudgetPrice {
  uint32_t budget, point;
  double price;
};

struct Solution {
  std::vector<uint32_t> choice;  // one label per variable
  double cost = kForbidden;      // of `choice`, by the independent evaluator
  double bound = 0;              // no labelling is cheaper
  bool proven = false;
  std::vector<BudgetPrice> prices;        // those above zero; certify() makes a proof of them
  std::shared_ptr<const WarmStart> warm;  // for the next solve, if it was asked for
  SolveStats stats;
};

// Recomputes the cost of a labelling from the problem alone; shares no code with the solver.
// kForbidden if not allowed, or if a budget is broken.
double evaluate(const PlacementProblem& problem, std::span<const uint32_t> choice);
// The largest load of a budget at any of its points; of what no variable uses, 0. As independent.
double peak_load(const PlacementProblem& problem, uint32_t budget,
                 std::span<const uint32_t> choice);

// The optimum with its proof. INVALID_ARGUMENT: not a valid problem; FAILED_PRECONDITION: no
// labelling has finite cost (the message names variables); DEADLINE_EXCEEDED: none was found before
// the deadline; RESOURCE_EXHAUSTED: none within the sweeps, branch nodes and bytes of the options;
// CANCELLED: within 10 ms of the monitor's flag. Unless the deadline ended it, the same problem and
// options give the same solution, on every machine and with any number of threads.
Result<Solution> solve(const PlacementProblem& problem, const SolveOptions& options,
                       Monitor& monitor);

// Test oracle: the whole problem as one MILP (lp_solve; NOT_FOUND where it is not installed). For
// small problems only.
Result<Solution> solve_with_lp_solve(const PlacementProblem& problem, double time_limit_s);

}  // namespace shw::solver
