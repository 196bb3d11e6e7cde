// Sequential tree-reweighted message passing (Kolmogorov 2006): a lower bound that grows from sweep
// to sweep, and a labelling read off each sweep.
//
// A message m[a→b] is a vector over the labels of b. Together they are another way to write the
// same problem:
//   θ_v = unary_v + Σ messages into v,    θ_ab = matrix_ab − m[b→a] − m[a→b].
// A sweep visits the variables in order. At v it takes out min θ_v (the bound grows by it), gives
// each neighbour still to come its share of what is left, and sets the message so that the edge's
// table has minimum zero again. All tables are then ≥ 0, so what was taken out bounds the optimum
// from below. In exact arithmetic the bound never falls.
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "solver/problem.h"
#include "solver/trws_kernel.h"
#include "solver/watch.h"

namespace shw::solver {

// A problem whose labels are some of another's.
struct RestrictedProblem {
  PlacementProblem problem;
  std::vector<uint32_t> label;  // in the other, at problem.first_label(v) + label
};

class Trws {
 public:
  // Every label must be finite and have a finite pair with every neighbour, as presolve() leaves
  // it; otherwise infinite messages would meet. Both must outlive this.
  Trws(const PlacementProblem& problem, Watch& watch);
  // With some of the labels, ascending; drop_unsupported() must be called then.
  Trws(const PlacementProblem& problem, std::vector<std::vector<uint32_t>> labels, Watch& watch);
  // Drops what has no finite pair with some neighbour. False: some variable has no label left.
  Result<bool> drop_unsupported();

  Watch& watch() { return watch_; }
  // One sweep forth and one back.
  Status sweep();

  // One sweep forth, and the messages with which its bound is a sum of minima, as certificate.h
  // says. Returns that bound.
  Result<double> proof(std::vector<double>& messages);

  double bound() const { return std::min(bound_, dropped_bound_); }  // no labelling is cheaper
  double cost() const { return cost_; }  // of choice(); kForbidden while none was found
  std::span<const uint32_t> choice() const { return choice_; }
  // No labelling with any of the labels that were dropped is cheaper than this.
  double dropped_bound() const { return dropped_bound_; }
  // Takes a labelling found elsewhere, if it is better.
  void offer(std::span<const uint32_t> choice, double cost);

  // Adds to the costs of the labels (all of the problem's in a row), in the place of what was added
  // before; messages stay. Bounds, labellings and marginals count from here on.
  void reprice(std::span<const double> by_label);
  // A labelling in the order of a sweep: pick(v, costs) is asked for every variable, with the costs
  // of the labels left to it when what is labelled already has its labels and the messages stand
  // for the rest. Labels are positions among those left; must be called between sweeps.
  template <class Pick>
  void decode(bool forth, Pick pick, std::vector<uint32_t>& choice);

  // How much dearer than marginal_bound() a labelling is, at least, that has at v the i-th of the
  // labels left to it: from the last sweep back. The chains of tables through v then have equal
  // minima for each of its labels, whose sum is θ_v; the others add up to no less than the bound
  // had when the sweep began.
  std::span<const double> marginals(uint32_t v) const {
    return {marginals_.get() + (nodes_[v].unary - unary_.get()), nodes_[v].labels};
  }
  double marginal_bound() const { return marginal_bound_; }
  // The labels left to v, ascending.
  std::span<const uint32_t> labels(uint32_t v) const {
    return {label_.data() + first_label_[v], nodes_[v].labels};
  }

  // Cells of all edge tables: now, and if only labels were left that may be in a labelling cheaper
  // than `limit`.
  uint64_t cells() const { return cells_; }
  uint64_t cells_below(double limit) const;
  // Drops the others, so that sweeps get cheaper and bound() cannot pass `limit` any more. False:
  // nothing is cheaper than `limit`, and there is nothing left to sweep. marginals() are zero until
  // the next sweep.
  Result<bool> drop_labels(double limit);
  // The problem of the labels that cells_below() counts, with the messages worked in: each
  // labelling costs what it costs here, up to rounding, but a sweep begins at this bound. Parts of
  // it stay as tight, which is how sub-problems start warm. Some variable may have no label if
  // nothing is cheaper than `limit`.
  Result<RestrictedProblem> restricted(double limit) const;

 private:
  struct Free {
    void operator()(double* p) const;
  };
  using Rows = std::unique_ptr<double[], Free>;
  static Rows make_rows(size_t doubles, double value);

  bool may_improve(uint32_t v, uint32_t i, double limit) const {
    return marginal_bound_ + marginals(v)[i] < limit;
  }
  Result<bool> drop_unsupported(std::vector<std::vector<uint32_t>>& left);
  Status lay_out(const std::vector<std::vector<uint32_t>>& left);
  void lay_out_nodes();
  Result<std::vector<size_t>> lay_out_tables(const std::vector<std::vector<uint32_t>>& left);
  Result<double> run(int64_t step);

  const PlacementProblem& problem_;
  Watch& watch_;
  std::vector<uint32_t> label_;  // what is left to each variable, one after another
  std::vector<size_t> first_label_;
  std::vector<TrwsNode> nodes_;
  std::vector<TrwsArc> arcs_;
  Rows unary_, marginals_, messages_, tables_, scratch_;
  uint64_t cells_ = 0;
  std::vector<std::vector<uint32_t>> given_;  // labels, until they are laid out
  std::vector<uint32_t> decoded_, choice_;
  Status laid_out_;  // not OK: cancelled while at it, and unfit for sweeps
  double cost_ = kForbidden;
  double bound_ = -kForbidden;
  double marginal_bound_ = -kForbidden;
  double dropped_bound_ = kForbidden;  // of the labels that were dropped
};

template <class Pick>
void Trws::decode(bool forth, Pick pick, std::vector<uint32_t>& choice) {
  const auto n = static_cast<uint32_t>(nodes_.size());
  choice.resize(n);
  std::vector<double> costs;
  for (uint32_t q = 0; q < n; ++q) {
    const uint32_t v = forth ? q : n - 1 - q;
    const TrwsNode& node = nodes_[v];
    costs.assign(node.unary, node.unary + node.labels);
    for (uint32_t a = node.first_arc; a < node.end_arc; ++a) {
      const TrwsArc& arc = arcs_[a];
      const bool done = (a < node.first_later_arc) == forth;
      const double* row = done ? arc.reverse + size_t{choice[arc.other]} * node.stride : arc.in;
      for (uint32_t i = 0; i < node.labels; ++i) costs[i] += row[i];
    }
    choice[v] = pick(v, std::span<const double>(costs));
  }
}

}  // namespace shw::solver
