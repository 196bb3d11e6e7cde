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
#include <memory>
#include <span>
#include <vector>

#include "solver/problem.h"
#include "solver/trws_kernel.h"
#include "solver/watch.h"

namespace shw::solver {

class Trws {
 public:
  // Every label must be finite and have a finite pair with every neighbour, as presolve() leaves
  // it; otherwise infinite messages would meet. Both must outlive this.
  Trws(const PlacementProblem& problem, Watch& watch);

  // One sweep forth and one back.
  Status sweep();

  double bound() const { return bound_; }  // the best so far
  double cost() const { return cost_; }    // of choice(); kForbidden while none was found
  std::span<const uint32_t> choice() const { return choice_; }
  // Takes a labelling found elsewhere, if it is better.
  void offer(std::span<const uint32_t> choice, double cost);

  // A flag per label: 0 when every labelling that uses it costs more than `limit`. (Of the last
  // sweep back.)
  std::vector<uint8_t> labels_within(double limit) const;
  // min-marginals of the last sweep back: marginal(v)[i] + bound() bounds every labelling with
  // label i at v.
  std::span<const double> marginals(uint32_t v) const {
    return {marginals_.get() + (nodes_[v].unary - unary_.get()), nodes_[v].labels};
  }
  // The same problem with the messages worked in: the same cost for every labelling (up to
  // rounding), and already at this bound before the first sweep. Parts of it stay as tight, which
  // is how sub-problems start warm.
  PlacementProblem reparametrized() const;

 private:
  struct Free {
    void operator()(double* p) const;
  };
  using Rows = std::unique_ptr<double[], Free>;
  static Rows make_rows(size_t doubles, double value);

  Status run(int64_t step);
  void layout_matrices();

  const PlacementProblem& problem_;
  Watch& watch_;
  std::vector<TrwsNode> nodes_;
  std::vector<TrwsArc> arcs_;
  Rows unary_, marginals_, messages_, matrices_, scratch_;
  std::vector<uint32_t> decoded_, choice_;
  double cost_ = kForbidden;
  double bound_ = -kForbidden;
};

}  // namespace shw::solver
