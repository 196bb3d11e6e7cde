#include "solver/floors.h"

#include <algorithm>
#include <cmath>

#include "solver/adjacency.h"

namespace shw::solver {
namespace {

constexpr double kFloorRounding = 1e-12;  // of a floor: about ten thousand additions
constexpr uint32_t kNone = UINT32_MAX;

class Floors {
 public:
  Floors(const PlacementProblem& problem, const Certificate& certificate)
      : problem_(problem),
        certificate_(certificate),
        theta_(priced_usages(problem, certificate.prices)),
        adjacent_(problem),
        parent_(problem.num_variables(), kNone) {
    for (uint32_t v = 0; v < problem.num_variables(); ++v) {
      const auto unary = problem.unary(v);
      for (uint32_t i = 0; i < unary.size(); ++i) theta(v)[i] += unary[i];
    }
    const auto edges = problem.edges();
    const double* message = certificate.messages.data();
    for (uint32_t e = 0; e < edges.size(); ++e)
      for (const uint32_t end : {edges[e].a, edges[e].b}) {
        messages_.push_back(message);
        for (uint32_t i = 0; i < problem.num_labels(end); ++i) theta(end)[i] += *message++;
      }
    for (const BudgetPrice& p : certificate.prices)
      sum_ -= p.price * problem.budget_limits()[p.budget];
  }

  Result<std::vector<double>> run(uint32_t held, const Monitor& monitor) {
    SHW_RETURN_IF_ERROR(fold_all(held, monitor));
    return floors_of(held, sum_);
  }

  // A second pass through the tree, from the root. Each variable then has the cost of the whole
  // tree by label, as if it were the root.
  Result<std::vector<double>> run_for_all(const Monitor& monitor) {
    std::vector<double> floors;
    if (problem_.num_variables() == 0) return floors;
    SHW_RETURN_IF_ERROR(fold_all(0, monitor));
    std::vector<double> least(problem_.num_variables());  // of the root of each variable's tree
    sum_ += least_label(0);
    for (const uint32_t v : order_) {
      SHW_RETURN_IF_ERROR(monitor.poll());
      if (parent_[v] != kNone) unfold(v);
      least[v] = parent_[v] == kNone ? least_label(v) : least[parent_[v]];
    }
    for (uint32_t v = 0; v < problem_.num_variables(); ++v) {
      const std::vector<double> own = floors_of(v, sum_ - least[v]);
      floors.insert(floors.end(), own.begin(), own.end());
    }
    return floors;
  }

 private:
  Status fold_all(uint32_t held, const Monitor& monitor) {
    span_from(held);
    for (uint32_t e = 0; e < problem_.edges().size(); ++e) {
      if (e % 64 == 0) SHW_RETURN_IF_ERROR(monitor.poll());
      if (!in_tree(problem_.edges()[e])) sum_ += least(e);
    }
    for (auto v = order_.rbegin(); *v != held; ++v) {
      SHW_RETURN_IF_ERROR(monitor.poll());
      fold(*v);
    }
    return {};
  }

  std::vector<double> floors_of(uint32_t v, double rest) {
    std::vector<double> floors(problem_.num_labels(v), kForbidden);
    for (const uint32_t i : labels(v)) {
      const double floor = rest + theta(v)[i];
      floors[i] = floor == kForbidden ? floor : floor - kFloorRounding * std::abs(floor);
    }
    return floors;
  }

  double* theta(uint32_t v) { return theta_.data() + problem_.first_label(v); }
  const std::vector<uint32_t>& labels(uint32_t v) const { return certificate_.labels[v]; }

  // Breadth first: more edges near the root are then in the tree. Variables not connected to it
  // form trees of their own.
  void span_from(uint32_t held) {
    std::vector<bool> seen(problem_.num_variables());
    const auto visit = [&](uint32_t v) {
      seen[v] = true;
      order_.push_back(v);
    };
    visit(held);
    for (uint32_t at = 0, root = 0; order_.size() < seen.size() || at < order_.size();) {
      if (at == order_.size()) {
        while (seen[root]) ++root;
        visit(root);
      }
      const uint32_t v = order_[at++];
      for (const auto& arc : adjacent_.of(v))
        if (!seen[arc.other]) parent_[arc.other] = v, visit(arc.other);
    }
  }

  bool in_tree(const PlacementProblem::Edge& e) const {
    return parent_[e.a] == e.b || parent_[e.b] == e.a;
  }
  double left(uint32_t e, uint32_t i, uint32_t j) const {
    return problem_.edge_cost(problem_.edges()[e], i, j) - messages_[2 * e][i] -
           messages_[2 * e + 1][j];
  }
  double least(uint32_t e) const {
    double least = kForbidden;
    for (const uint32_t i : labels(problem_.edges()[e].a))
      for (const uint32_t j : labels(problem_.edges()[e].b)) least = std::min(least, left(e, i, j));
    return least;
  }

  double least_label(uint32_t v) {
    double least = kForbidden;
    for (const uint32_t i : labels(v)) least = std::min(least, theta(v)[i]);
    return least;
  }
  // The cost of all edges between v, with label i, and its parent, with label j.
  double between(uint32_t v, uint32_t i, uint32_t j) const {
    double cost = 0;
    for (const auto& [other, e] : adjacent_.of(v))
      if (other == parent_[v]) cost += problem_.edges()[e].a == v ? left(e, i, j) : left(e, j, i);
    return cost;
  }
  // The minimum cost of v and its subtree if its parent has label j.
  double below(uint32_t v, uint32_t j) {
    double best = kForbidden;
    for (const uint32_t i : labels(v)) best = std::min(best, theta(v)[i] + between(v, i, j));
    return best;
  }

  // Adds to each label of the parent the minimum cost of v and its subtree.
  void fold(uint32_t v) {
    const uint32_t parent = parent_[v];
    if (parent == kNone) {
      sum_ += least_label(v);
      return;
    }
    for (const uint32_t j : labels(parent)) theta(parent)[j] += below(v, j);
  }

  // Adds to each label of v the minimum cost of the rest of its tree. The parent's costs include
  // v's subtree, which is subtracted.
  void unfold(uint32_t v) {
    const uint32_t parent = parent_[v];
    std::vector<double> rest;
    for (const uint32_t j : labels(parent)) {
      const double all = theta(parent)[j];
      rest.push_back(all == kForbidden ? all : all - below(v, j));
    }
    for (const uint32_t i : labels(v)) {
      double best = kForbidden;
      for (size_t k = 0; k < rest.size(); ++k)
        best = std::min(best, rest[k] + between(v, i, labels(parent)[k]));
      theta(v)[i] += best;
    }
  }

  const PlacementProblem& problem_;
  const Certificate& certificate_;
  std::vector<double> theta_;  // by label, concatenated; grows towards the root
  Adjacency adjacent_;
  std::vector<const double*> messages_;  // by edge, of a and of b
  std::vector<uint32_t> parent_, order_;
  double sum_ = 0;  // the part that does not depend on the root's label
};

}  // namespace

Result<std::vector<double>> label_floors(const PlacementProblem& problem,
                                         const Certificate& certificate, uint32_t variable,
                                         const Monitor& monitor) {
  SHW_CHECK(variable < problem.num_variables() &&
            certificate.labels.size() == problem.num_variables());
  return Floors(problem, certificate).run(variable, monitor);
}

Result<std::vector<double>> all_label_floors(const PlacementProblem& problem,
                                             const Certificate& certificate,
                                             const Monitor& monitor) {
  SHW_CHECK(certificate.labels.size() == problem.num_variables());
  return Floors(problem, certificate).run_for_all(monitor);
}

}  // namespace shw::solver
