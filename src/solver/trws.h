// Sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006): each sweep raises a lower
// bound and yields a labelling.
//
// A message m[a→b] is a vector over the labels of b. The messages reparametrise the problem:
//   θ_v = unary_v + Σ messages into v,    θ_ab = matrix_ab − m[b→a] − m[a→b].
// A sweep visits the variables in order. At v it moves min θ_v into the bound, distributes the rest
// of θ_v over the edges to later variables, and sets their messages so that each edge's table has
// minimum zero again. All tables are then ≥ 0, so the amount moved is a lower bound on the optimum.
// In exact arithmetic the bound never falls.
//
// A variable whose label follows from the labels of its two neighbours, such as one for the copies
// at an edge (placement/memory_copies.cc), forms a triangle with the edge between them. Messages
// circulate in the triangle, and bounds rise slowly. Folds::kYes replaces the variable: the costs
// of its labels are added to those of the edge. So chains remain chains.
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "solver/problem.h"
#include "solver/trws_kernel.h"
#include "solver/watch.h"
#include "support/large_memory.h"

namespace shw::solver {

// A problem restricted to a subset of another problem's labels.
struct RestrictedProblem {
  PlacementProblem problem;
  std::vector<uint32_t> label;  // in the other problem, at problem.first_label(v) + label
};

class Trws {
 public:
  // Every label must be finite and have a finite pair with every neighbour, as after presolve();
  // otherwise messages would be infinite. Both must outlive this.
  enum class Folds : uint8_t { kNo, kYes };  // kYes: labels cannot be dropped, and no proof()
  Trws(const PlacementProblem& problem, Watch& watch, Folds folds = Folds::kNo);
  // With a subset of the labels, ascending; call drop_unsupported() next.
  Trws(const PlacementProblem& problem, std::vector<std::vector<uint32_t>> labels, Watch& watch);
  // Drops labels without a finite pair with some neighbour. False: some variable has no label left.
  Result<bool> drop_unsupported();

  Watch& watch() { return watch_; }
  // One forward and one backward sweep.
  Status sweep();

  // The same, faster and less tight: messages over large tables are computed from costs rounded
  // down to 16 bits. Bounds and labellings are valid, marginals only after another sweep().
  Status sweep_rounded();

  // One forward sweep, and the messages for which its bound is a sum of minima (certificate.h).
  // Returns that bound.
  Result<double> proof(std::vector<double>& messages);

  double bound() const { return std::min(bound_, dropped_bound_); }  // no labelling is cheaper
  double cost() const { return cost_; }  // of choice(); kForbidden while none was found
  std::span<const uint32_t> choice() const { return choice_; }
  // The labelling of the last sweep back, which may have forbidden pairs.
  void last_choice(std::vector<uint32_t>& choice) const;
  // No labelling with a dropped label costs less than this.
  double dropped_bound() const { return dropped_bound_; }
  // Starts from the messages of `from`: each edge takes those of the edge `edge_of_other[edge]` of
  // `from`, whose ends have the same order. Neither problem may have dropped labels or folded
  // variables.
  void take_messages(const Trws& from, std::span<const uint32_t> edge_of_other);
  // The message from one variable to another along an edge; `costs` is by remaining label of `to`.
  struct Message {
    uint32_t from, to;
    std::span<double> costs;
  };
  // All messages. The caller may change them, since any messages are valid.
  std::vector<Message> messages();
  // Offers a labelling found elsewhere.
  void offer(std::span<const uint32_t> choice, double cost);

  // Replaces the previous addition to the costs of the labels (concatenated by variable) by this
  // one; messages are kept. Bounds, labellings and marginals refer to the new costs.
  void reprice(std::span<const double> by_label);
  // Builds a labelling in sweep order. pick(v, costs) chooses for each variable; the costs of its
  // remaining labels combine the labels of earlier variables with the messages from later ones.
  // Labels are positions among the remaining ones. Call it between sweeps only. The label of a
  // folded variable follows from its neighbours; fits(variable, label) says whether it is allowed.
  template <class Pick, class Fits>
  void decode(bool forward, Pick pick, Fits fits, std::vector<uint32_t>& choice);

  // The min-marginal of each remaining label of v, after the last backward sweep: a lower bound on
  // the extra cost, above marginal_bound(), of any labelling with that label. At that time the
  // chains of tables through v have equal minima for each of its labels, which sum to θ_v; the
  // other chains sum to at least the bound at the start of the sweep.
  std::span<const double> marginals(uint32_t v) const {
    return {marginals_.get() + (nodes_[v].unary - unary_.get()), nodes_[v].labels};
  }
  double marginal_bound() const { return marginal_bound_; }
  // The remaining labels of v, ascending.
  std::span<const uint32_t> labels(uint32_t v) const {
    return {label_.data() + first_label_[v], nodes_[v].labels};
  }

  // Whether v is folded into an edge; its marginals are zero then.
  bool is_folded(uint32_t v) const { return !is_folded_.empty() && is_folded_[v] != 0; }

  // The number of cells of all edge tables: at present, and with only those labels that may be in a
  // labelling cheaper than `limit`.
  uint64_t cells() const { return cells_; }
  uint64_t cells_below(double limit) const;
  // Drops the other labels, which makes sweeps cheaper; bound() cannot exceed `limit` any more.
  // False: no labelling is cheaper than `limit`, and nothing is left to sweep. marginals() are zero
  // until the next sweep.
  Result<bool> drop_labels(double limit);
  // The sub-problem of the labels counted by cells_below(), with the messages applied. A labelling
  // costs the same, up to rounding, but sweeps start at the current bound. This also holds for
  // parts of it, which is how sub-problems start warm. If no labelling is cheaper than `limit`, a
  // variable may have no label.
  Result<RestrictedProblem> restricted(double limit) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // A folded variable, the edge between its neighbours, its edges to the first and the second end
  // of that edge, and the index in maps_ of its labels.
  struct Fold {
    uint32_t variable, edge;
    uint32_t to_first, to_second;
    uint32_t map;
  };
  // The label of a folded variable, by cell of the edge's padded table and of the transpose.
  struct FoldMap {
    std::vector<uint8_t> label, reverse;
  };
  using Rows = LargeArray<double>;
  using Cells = LargeArray<int16_t>;
  static Rows make_rows(size_t doubles, double value);

  bool may_improve(uint32_t v, uint32_t i, double limit) const {
    return marginal_bound_ + marginals(v)[i] < limit;
  }
  Result<bool> drop_unsupported(std::vector<std::vector<uint32_t>>& left);
  Status build(const std::vector<std::vector<uint32_t>>& left);
  void build_nodes();
  struct ArcsOfEdge {
    uint32_t a, b;  // arcs at its first and second end; kNone: an edge of a folded variable
  };
  std::vector<ArcsOfEdge> arcs_of_edges() const;
  Result<std::vector<size_t>> build_tables(const std::vector<std::vector<uint32_t>>& left);
  Status round_tables();

  // trws_sweep.cc
  Result<double> run(int64_t step);
  Status run_in_order(const TrwsSweep& sweep, int64_t step);
  Status run_on_threads(const TrwsSweep& sweep, int64_t step);
  struct Sums {
    double bound, cost;
  };
  Sums sums_of(const TrwsSweep& sweep, int64_t step) const;
  uint64_t cells_of(const TrwsNode& node) const;
  // Temporary memory of one thread during a sweep.
  struct Scratch {
    Rows rows, table;
    Cells rounded;
  };
  TrwsSweep with_scratch(TrwsSweep sweep, Scratch& scratch) const;

  // trws_folds.cc
  Status find_folds();
  Result<FoldMap> map_of(const Fold& fold) const;
  void attach_folds(std::span<const ArcsOfEdge> arcs);
  void find_paying_folds();
  void decode_folds();
  void add_fold_edges(std::span<const uint32_t> position, RestrictedProblem& result) const;
  std::span<const TrwsFold> folds(const TrwsArc& arc) const { return {arc.folds, arc.num_folds}; }
  bool is_fold_edge(size_t edge) const {
    return !is_fold_edge_.empty() && is_fold_edge_[edge] != 0;
  }
  double* fold_costs(uint32_t v) { return fold_costs_.data() + problem_.first_label(v); }
  const double* fold_costs(uint32_t v) const {
    return fold_costs_.data() + problem_.first_label(v);
  }

  const PlacementProblem& problem_;
  Watch& watch_;
  std::vector<uint32_t> label_;  // remaining labels, concatenated by variable
  std::vector<size_t> first_label_;
  std::vector<TrwsNode> nodes_;
  std::vector<TrwsArc> arcs_;
  const Folds folding_ = Folds::kNo;
  std::vector<Fold> folds_;                        // ascending by edge
  std::vector<uint8_t> is_folded_, is_fold_edge_;  // by variable, by edge; empty: no folds
  std::vector<FoldMap> maps_;
  std::vector<double> fold_costs_;  // at problem_.first_label(v) + label
  std::vector<TrwsFold> arc_folds_;
  Rows unary_, marginals_, messages_, tables_, moved_, paid_;
  Cells rounded_cells_;
  std::vector<Scratch> scratch_;  // by thread
  uint32_t widest_ = 0;           // row
  size_t widest_rounded_ = 0, folded_cells_ = 0;
  std::vector<RoundedTable> rounded_;  // by arc; empty: not built
  bool rounds_ = false;                // the current sweep reads the rounded tables
  uint64_t cells_ = 0;
  std::vector<std::vector<uint32_t>> given_;  // the labels passed in, until the tables are built
  std::vector<uint32_t> decoded_, choice_;
  Status build_status_;  // not OK: building was cancelled, so no sweep is possible
  double cost_ = kForbidden;
  double bound_ = -kForbidden;
  double marginal_bound_ = -kForbidden;
  double dropped_bound_ = kForbidden;  // of the dropped labels
};

template <class Pick, class Fits>
void Trws::decode(bool forward, Pick pick, Fits fits, std::vector<uint32_t>& choice) {
  const auto n = static_cast<uint32_t>(nodes_.size());
  choice.resize(n);
  std::vector<double> costs;
  for (uint32_t q = 0; q < n; ++q) {
    const uint32_t v = forward ? q : n - 1 - q;
    if (is_folded(v)) continue;
    const TrwsNode& node = nodes_[v];
    const auto is_done = [&](uint32_t a) { return (a < node.first_later_arc) == forward; };
    costs.assign(node.unary, node.unary + node.labels);
    for (uint32_t a = node.first_arc; a < node.end_arc; ++a) {
      const TrwsArc& arc = arcs_[a];
      const size_t cell = size_t{choice[arc.other]} * node.stride;
      const double* row = is_done(a) ? arc.reverse + cell : arc.in;
      for (uint32_t i = 0; i < node.labels; ++i) costs[i] += row[i];
      for (const TrwsFold& fold : folds(arc))
        for (uint32_t i = 0; is_done(a) && i < node.labels; ++i) {
          const uint32_t label = fold.reverse[cell + i];
          costs[i] += fits(fold.variable, label) ? fold.costs[label] : kForbidden;
        }
    }
    choice[v] = pick(v, std::span<const double>(costs));
    for (uint32_t a = node.first_arc; a < node.end_arc; ++a)
      for (const TrwsFold& fold : folds(arcs_[a])) {
        if (!is_done(a)) continue;
        const uint32_t label =
            fold.reverse[size_t{choice[arcs_[a].other]} * node.stride + choice[v]];
        costs.assign(nodes_[fold.variable].labels, kForbidden);
        costs[label] = fold.costs[label];
        choice[fold.variable] = pick(fold.variable, std::span<const double>(costs));
      }
  }
}

}  // namespace shw::solver
