#include "placement/constraints.h"

#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <set>

namespace shw {
namespace {

constexpr double kShareRounding = 1e-9;  // shares are quotients of small integers

class Builder {
 public:
  Builder(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
          const PlacementConstraints& wanted)
      : graph_(graph), mesh_(mesh), strategies_(strategies), wanted_(wanted), users_(graph) {
    out_.no_comm.assign(graph.num_nodes(), false);
  }

  Result<SideConditions> run() {
    for (const InputInfo& in : graph_.inputs())
      if (in.role == InputRole::kInput && wanted_.input_layout)
        SHW_RETURN_IF_ERROR(pin(in.node, *wanted_.input_layout, graph_.full_name(in)));
    for (const OutputInfo& out : graph_.outputs())
      if (out.role == OutputRole::kResult && out.node.valid() && wanted_.output_layout)
        SHW_RETURN_IF_ERROR(pin(out.node, *wanted_.output_layout, graph_.full_name(out)));
    for (const Pin& p : wanted_.pins) SHW_RETURN_IF_ERROR(pin_matching(p));
    for (const AllowedLabels& c : wanted_.choices) {
      SHW_CHECK(c.allowed.size() == strategies_.of(c.node).count);
      out_.labels.push_back(c);
      pinned_.insert(c.node);
    }
    pair_gradients();
    pair_tangents();
    budget_parameters();
    keep_gathers_after_down_casts();
    return std::move(out_);
  }

 private:
  Status pin(NodeId n, const Layout& layout, const std::string& name) {
    AllowedLabels a{n, {}, "layout of " + name};
    for (uint32_t s = 0; s < strategies_.of(n).count; ++s)
      a.allowed.push_back(strategies_.result_layout(n, 0, s).same_placements(layout));
    if (std::find(a.allowed.begin(), a.allowed.end(), true) == a.allowed.end())
      return invalid_argument(name + " of type " + to_string(graph_.type(n)) +
                              " cannot have layout " + to_string(layout, mesh_.rank()) +
                              " on mesh " + mesh_.to_string())
          .at_node(n.v, graph_.name(n));
    out_.labels.push_back(std::move(a));
    return {};
  }

  Status pin_matching(const Pin& p) {
    const auto matches = [&](const std::string& name) {
      return fnmatch(p.pattern.c_str(), name.c_str(), 0) == 0;
    };
    std::set<NodeId> nodes;
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i)
      if (!graph_.is_tuple(NodeId{i}) && matches(graph_.name(NodeId{i}))) nodes.insert(NodeId{i});
    for (const InputInfo& in : graph_.inputs())
      if (matches(graph_.full_name(in))) nodes.insert(in.node);
    for (const OutputInfo& out : graph_.outputs())
      if (out.node.valid() && matches(graph_.full_name(out))) nodes.insert(out.node);
    if (nodes.empty())
      return invalid_argument(
          "pin '" + p.pattern +
          "' matches no node, input or output (names are those after the rewrites)");
    for (NodeId n : nodes) SHW_RETURN_IF_ERROR(pin(n, p.layout, graph_.name(n)));
    pinned_.insert(nodes.begin(), nodes.end());
    return {};
  }

  // Each strategy of `a` with the first one of `b` that leaves the same layout; none: `a` may not
  // use it.
  void pair(NodeId a, NodeId b, std::string why) {
    AllowedPairs p{a, b, {}, std::move(why)};
    for (uint32_t s = 0; s < strategies_.of(a).count; ++s) {
      uint32_t partner = UINT32_MAX;
      for (uint32_t t = 0; t < strategies_.of(b).count && partner == UINT32_MAX; ++t)
        if (strategies_.result_layout(a, 0, s) == strategies_.result_layout(b, 0, t)) partner = t;
      p.partner.push_back(partner);
    }
    out_.pairs.push_back(std::move(p));
  }

  void pair_gradients() {
    for (const OutputInfo& out : graph_.outputs()) {
      if (out.role != OutputRole::kGradient || !out.node.valid()) continue;
      const InputInfo& in = graph_.inputs()[static_cast<size_t>(out.of_input)];
      pair(in.node, out.node, graph_.full_name(in) + " and its gradient");
    }
  }

  void pair_tangents() {
    for (const InputInfo& in : graph_.inputs()) {
      if (in.role != InputRole::kTangent || in.position < 0) continue;
      const OutputInfo& out = graph_.outputs()[static_cast<size_t>(in.position)];
      if (out.node.valid()) pair(out.node, in.node, graph_.full_name(out) + " and its tangent");
    }
  }

  double share(NodeId parameter, uint32_t strategy) const {
    const Dims& shape = graph_.type(parameter).shape;
    const Dims local = local_shape(shape, strategies_.result_layout(parameter, 0, strategy), mesh_);
    double ratio = 1;
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] > 0) ratio *= static_cast<double>(local[d]) / static_cast<double>(shape[d]);
    return ratio;
  }

  // Shares of all parameters that no pin settles, by strategy.
  LinearBudget parameter_shares() const {
    LinearBudget budget{0, {}, "parameter budget"};
    for (const InputInfo& in : graph_.inputs()) {
      if (in.role != InputRole::kParameter || pinned_.count(in.node)) continue;
      std::vector<double> shares;
      for (uint32_t s = 0; s < strategies_.of(in.node).count; ++s)
        shares.push_back(share(in.node, s));
      budget.terms.push_back({in.node, std::move(shares)});
    }
    return budget;
  }

  // A factor allows Σ max(smallest share, factor) together. Where that leaves only one choice, or
  // every choice, there is nothing to add up.
  void budget_parameters() {
    const ParameterBudget& wanted = wanted_.parameter_budget;
    if (wanted.kind == ParameterBudget::Kind::kNone) return;
    LinearBudget budget = parameter_shares();
    double smallest_total = 0, largest_total = 0;
    double next_step = std::numeric_limits<double>::infinity();  // above the smallest, over all
    for (const auto& [node, shares] : budget.terms) {
      const double smallest = *std::min_element(shares.begin(), shares.end());
      for (double r : shares)
        if (r > smallest + kShareRounding) next_step = std::min(next_step, r - smallest);
      smallest_total += smallest;
      largest_total += *std::max_element(shares.begin(), shares.end());
      budget.limit += std::max(smallest, wanted.factor);
    }
    if (wanted.kind == ParameterBudget::Kind::kSmallest) budget.limit = smallest_total;
    budget.limit += kShareRounding * std::max(1.0, smallest_total);
    if (budget.limit >= largest_total) return;
    if (budget.limit < smallest_total + next_step)
      keep_smallest(budget);
    else
      out_.budgets.push_back(std::move(budget));
  }

  void keep_smallest(const LinearBudget& budget) {
    for (const auto& [node, shares] : budget.terms) {
      const double smallest = *std::min_element(shares.begin(), shares.end());
      AllowedLabels a{node, {}, "parameter budget of " + graph_.name(node)};
      for (double r : shares) a.allowed.push_back(r <= smallest + kShareRounding);
      out_.labels.push_back(std::move(a));
    }
  }

  // The only operand of a node with one operand, else no node.
  NodeId only_operand(NodeId n) const {
    NodeId only;
    for (NodeId o : graph_.operands(n)) {
      if (!o.valid()) continue;
      if (only.valid()) return kNoNode;
      only = o;
    }
    return only;
  }
  int64_t item_size(NodeId n) const { return dtype_size(graph_.type(n).dtype); }

  // Mixed precision: a parameter is gathered after its down-cast, a gradient is reduced after its
  // up-cast, so that the wire carries the smaller, respectively the more exact, type
  // (planner.md 3.3 item 6).
  void keep_gathers_after_down_casts() {
    for (const InputInfo& in : graph_.inputs()) {
      if (in.role != InputRole::kParameter) continue;
      std::vector<NodeId> chain;
      NodeId n = in.node;
      while (users_.users(n).size() == 1 && only_operand(users_.users(n)[0]).valid()) {
        n = users_.users(n)[0];
        chain.push_back(n);
        if (graph_.op(n) != OpKind::kDtypeCast) continue;
        if (item_size(n) < item_size(graph_.operands(n)[0]))
          for (NodeId c : chain) out_.no_comm[c.v] = true;
        break;
      }
    }
    if (!wanted_.grad_reduce_dtype) return;
    for (const OutputInfo& out : graph_.outputs())
      if (out.role == OutputRole::kGradient && out.node.valid()) keep_reduction_after_up_cast(out);
  }

  void keep_reduction_after_up_cast(const OutputInfo& out) {
    bool found = false;
    for (NodeId n = out.node; only_operand(n).valid(); n = only_operand(n)) {
      if (!found && graph_.op(n) == OpKind::kDtypeCast) {
        if (dtype_size(*wanted_.grad_reduce_dtype) <= item_size(graph_.operands(n)[0])) return;
        found = true;
      }
      if (found) out_.no_comm[n.v] = true;
    }
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const Strategies& strategies_;
  const PlacementConstraints& wanted_;
  UserTable users_;
  std::set<NodeId> pinned_;
  SideConditions out_;
};

}  // namespace

Result<SideConditions> side_conditions(const Graph& graph, const Mesh& mesh,
                                       const Strategies& strategies,
                                       const PlacementConstraints& constraints) {
  return Builder(graph, mesh, strategies, constraints).run();
}

}  // namespace shw
