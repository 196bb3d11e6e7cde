// Improves a labelling within the budgets by solving random regions of it (large-neighbourhood
// search).
//
// A region is an induced forest: a few trees of variables that are live together. With all other
// labels fixed, its cheapest labelling at a price of the budgets follows from one pass over the
// trees, whatever their size. Two kinds of steps alternate:
//   gain  makes a region cheaper within the remaining slack: first moves to corners of the convex
//         hull of cost against priced usage, then adopts single parts
//   save  reduces usage that is not worth its price, although the cost rises, within a tolerance:
//         the slack gained may save more elsewhere
// Random numbers depend only on earlier steps.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "solver/budget_rows.h"
#include "solver/problem.h"
#include "solver/range_slack.h"
#include "solver/watch.h"

namespace shw::solver {

class LocalSearch {
 public:
  // Both must outlive this. No pair of variables may have two edges.
  LocalSearch(const PlacementProblem& problem, const BudgetRows& rows);

  // Starts from this labelling, which must be within the budgets.
  void start(std::span<const uint32_t> choice);
  // Sets estimated prices of the rows, which guide the search.
  void set_prices(std::span<const double> by_row);
  // Sets, by variable, how likely a change there is to pay.
  void set_focus(std::span<const double> by_variable);

  // Searches for about `cells` of work. `tolerance`: the rise of the cost that is allowed.
  Status improve(uint64_t cells, double tolerance, Watch& watch);

  std::span<const uint32_t> best() const { return best_choice_; }
  std::span<const uint32_t> current() const { return choice_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Arc {
    uint32_t other, own_step, other_step;
    const double* costs;  // [own_step · label + other_step · the other's label]
  };
  struct Member {
    uint32_t variable;
    uint32_t parent;  // position in the region; kNone: a root
    uint32_t labels;
    uint32_t offset;  // of its labels in base_ and price_
    uint32_t best;    // offset in argmin_ of its best label for each label of the parent
    const Arc* to_parent;
  };
  // A labelling of the region.
  struct Corner {
    std::vector<uint32_t> label;
    double cost = 0, price = 0;
  };
  struct Part {
    std::vector<uint32_t> members;
    double cost = 0;  // change of cost if it is adopted
  };

  uint64_t random(uint64_t below);
  uint32_t random_seed();
  uint32_t random_live_with(uint32_t variable);
  std::span<const Arc> arcs(uint32_t v) const {
    return {arcs_.data() + first_arc_[v], first_arc_[v + 1] - first_arc_[v]};
  }

  void clear_region();
  void add(uint32_t variable);
  void grow(uint32_t size);
  void grow_somewhere();

  uint64_t price_region();
  void solve_region(double scale, Corner& corner);
  void measure(Corner& corner) const;
  Corner current_corner() const;
  void move(uint32_t variable, uint32_t from, uint32_t to);
  bool adopt(const Corner& corner, std::span<const uint32_t> members);
  bool adopt(const Corner& corner);
  std::vector<Part> parts(const Corner& other) const;
  void adopt_parts(const Corner& cheap);
  uint64_t gain();
  uint64_t save();

  const PlacementProblem& problem_;
  const BudgetRows& rows_;
  std::vector<Arc> arcs_;
  std::vector<uint32_t> first_arc_, budgeted_;
  std::vector<double> price_before_, focus_before_;  // prefix sums
  RangeSlack slack_;
  std::vector<uint32_t> choice_, best_choice_;
  double gained_ = 0, best_gained_ = 0;  // since the start
  double allowance_ = 0;                 // tolerated loss against the best labelling at present
  uint64_t random_state_ = 0, work_ = 0;

  // The current region.
  std::vector<Member> members_;
  std::vector<uint32_t> position_;  // by variable; kNone: outside
  std::vector<uint32_t> frontier_;
  std::vector<double> base_, price_, theta_;
  std::vector<uint32_t> argmin_;
};

}  // namespace shw::solver
