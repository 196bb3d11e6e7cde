#include "placement/constraints.h"

#include <algorithm>
#include <limits>
#include <set>

#include "strategy/alternatives.h"
#include "support/similar.h"

namespace shw {
namespace {

constexpr const char* kRegionsAlike =
    "regions take the alternative of the region whose saved results they read";
constexpr double kShareRounding = 1e-9;  // shares are ratios of small integers

class Builder {
 public:
  Builder(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
          const PlacementConstraints& wanted)
      : graph_(graph),
        mesh_(mesh),
        strategies_(strategies),
        wanted_(wanted),
        users_(graph),
        left_out_(wanted.without.size(), false) {
    out_.no_comm.assign(graph.num_nodes(), false);
  }

  Result<SideConditions> run() {
    SHW_RETURN_IF_ERROR(pin_boundary());
    for (const Pin& p : wanted_.pins)
      if (begin("pin '" + p.text + "'")) SHW_RETURN_IF_ERROR(pin_matching(p));
    SHW_RETURN_IF_ERROR(give_choices());
    if (begin(std::string(kGradientsAlike))) {
      pair_gradients();
      pair_tangents();
    }
    budget_parameters();
    if (begin(std::string(kCastsFirst))) {
      out_.no_comm_source = source();
      keep_gathers_after_down_casts();
    }
    SHW_RETURN_IF_ERROR(check_left_out());
    SHW_RETURN_IF_ERROR(tie_regions());
    return std::move(out_);
  }

 private:
  // Sets the source of the constraints that follow; false: it was dropped by name.
  bool begin(std::string source) {
    names_ += (names_.empty() ? "" : "; ") + source;
    out_.sources.push_back(std::move(source));
    bool wanted = true;
    for (size_t i = 0; i < wanted_.without.size(); ++i) {
      const std::string& name = wanted_.without[i];
      if (name != out_.sources.back() && !glob_matches(name, out_.sources.back())) continue;
      left_out_[i] = true;
      wanted = false;
    }
    return wanted;
  }
  uint32_t source() const { return static_cast<uint32_t>(out_.sources.size() - 1); }

  Status check_left_out() const {
    for (size_t i = 0; i < wanted_.without.size(); ++i) {
      if (!left_out_[i])
        return invalid_argument("there is no constraint '" + wanted_.without[i] +
                                "'; the constraints are: " + names_);
    }
    return {};
  }

  struct Port {
    std::string name;
    NodeId node;
    bool is_plain;  // an input or a result, to which the general layout applies
  };

  Status pin_boundary() {
    std::vector<Port> inputs, outputs;
    for (const InputInfo& in : graph_.inputs())
      inputs.push_back({graph_.full_name(in), in.node, in.role == InputRole::kInput});
    for (const OutputInfo& out : graph_.outputs())
      if (out.node.valid())
        outputs.push_back({graph_.full_name(out), out.node, out.role == OutputRole::kResult});
    SHW_RETURN_IF_ERROR(pin_ports("input", inputs, wanted_.input_layout, wanted_.inputs));
    return pin_ports("output", outputs, wanted_.output_layout, wanted_.outputs);
  }

  // Pins all plain ports to the general layout, except those named individually.
  Status pin_ports(const std::string& kind, std::span<const Port> ports,
                   const std::optional<LayoutRule>& of_all, std::span<const BoundaryLayout> named) {
    std::vector<const BoundaryLayout*> says(ports.size(), nullptr);
    for (const BoundaryLayout& b : named) SHW_RETURN_IF_ERROR(match(kind, ports, b, says));
    if (of_all && begin(kind + " layout " + of_all->text(mesh_.rank()))) {
      for (size_t i = 0; i < ports.size(); ++i)
        if (ports[i].is_plain && says[i] == nullptr)
          SHW_RETURN_IF_ERROR(pin(ports[i].node, *of_all, ports[i].name));
    }
    for (const BoundaryLayout& b : named) {
      if (!b.layout || !begin(kind + " '" + b.text + "'")) continue;
      for (size_t i = 0; i < ports.size(); ++i) {
        if (says[i] != &b) continue;
        SHW_RETURN_IF_ERROR(pin(ports[i].node, *b.layout, ports[i].name));
        pinned_.insert(ports[i].node);
      }
    }
    return {};
  }

  static Status match(const std::string& kind, std::span<const Port> ports,
                      const BoundaryLayout& wanted, std::vector<const BoundaryLayout*>& says) {
    bool any = false;
    for (size_t i = 0; i < ports.size(); ++i) {
      if (wanted.name != ports[i].name && !glob_matches(wanted.name, ports[i].name)) continue;
      says[i] = &wanted;
      any = true;
    }
    if (any) return {};
    std::vector<std::string> names;
    for (const Port& port : ports) names.push_back(port.name);
    return invalid_argument(kind + " '" + wanted.text + "': there is no " + kind + " '" +
                            wanted.name + "'" + did_you_mean(wanted.name, std::move(names)));
  }

  // These cannot be dropped by name: a caller drops them by not adding them.
  Status give_choices() {
    if (!wanted_.choices.empty()) out_.sources.push_back("the placements given");
    for (AllowedLabels c : wanted_.choices) {
      SHW_CHECK(c.allowed.size() == strategies_.of(c.node).count);
      pinned_.insert(c.node);
      c.source = source();
      const bool is_saved = !c.results.empty() || !c.operands.empty();
      if (wanted_.orders_later && is_saved) keep_orders(c);
      out_.labels.push_back(std::move(c));
    }
    return {};
  }

  void keep_orders(const AllowedLabels& saved) {
    out_.orders.push_back({saved.node,
                           [results = saved.results, operands = saved.operands](
                               std::span<const Layout> r, std::span<const Layout> o) {
                             return std::ranges::equal(r, results) &&
                                    std::ranges::equal(o, operands);
                           },
                           /*states_orders=*/true});
  }

  Status pin(NodeId n, const LayoutRule& rule, const std::string& name) {
    AllowedLabels a{n, {}, "layout of " + name, source()};
    for (uint32_t s = 0; s < strategies_.of(n).count; ++s)
      a.allowed.push_back(
          allows_by_any_name(rule, strategies_.result_layout(n, 0, s), graph_.type(n).shape));
    if (std::find(a.allowed.begin(), a.allowed.end(), true) == a.allowed.end())
      return at_origin(
          invalid_argument(name + " of type " + to_string(graph_.type(n)) + " cannot have layout " +
                           rule.text(mesh_.rank()) + " on mesh " + mesh_.to_string() + " (" +
                           out_.sources.back() + "): " + why_not(n, rule)),
          graph_, n);
    out_.labels.push_back(std::move(a));
    if (wanted_.orders_later && rule.has_orders())
      out_.orders.push_back({n,
                             [rule](std::span<const Layout> results, std::span<const Layout>) {
                               return rule.allows(results[0]);
                             },
                             !rule.forbids()});
    return {};
  }

  bool allows(const LayoutRule& rule, const Layout& layout) const {
    return wanted_.orders_later ? rule.allows_in_some_order(layout, mesh_.rank())
                                : rule.allows(layout);
  }

  // Like allows(), but treats all placements on a mesh dim of one rank, from dim `m` on, as
  // equivalent. A rule that forbids a layout forbids it only as written.
  bool allows_by_any_name(const LayoutRule& rule, const Layout& layout, const Dims& shape,
                          int m = 0) const {
    if (allows(rule, layout)) return true;
    while (m < mesh_.rank() && mesh_.size(m) > 1) ++m;
    if (m == mesh_.rank() || rule.forbids()) return false;
    if (allows_by_any_name(rule, layout, shape, m + 1)) return true;
    Layout named = layout;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
      named[m] = Placement::shard(d);
      if (allows_by_any_name(rule, normalised(named), shape, m + 1)) return true;
    }
    return false;
  }

  // The cause if the tensor or the planner does not permit the layout; otherwise the layouts that
  // the op offers.
  std::string why_not(NodeId n, const LayoutRule& rule) const {
    if (rule.is_exact()) {
      const Layout& wanted = rule.layout();
      if (std::string cause = why_not_shardable(graph_.type(n).shape, wanted, mesh_);
          !cause.empty())
        return cause;
      for (uint32_t s = 0; s < strategies_.of(n).count; ++s)
        if (strategies_.result_layout(n, 0, s).same_placements(wanted))
          return "these placements are possible, but not in this shard order: it needs even "
                 "shards, and the planner must be created with it";
    }
    return "possible layouts are " + layouts_text(n);
  }

  // The layouts that a node's strategies offer; long lists are truncated.
  std::string layouts_text(NodeId n) const {
    constexpr size_t kMost = 12;
    std::vector<std::string> texts;
    for (uint32_t s = 0; s < strategies_.of(n).count; ++s) {
      std::string text = to_string(strategies_.result_layout(n, 0, s), mesh_.rank());
      if (std::find(texts.begin(), texts.end(), text) == texts.end())
        texts.push_back(std::move(text));
    }
    std::string all;
    for (size_t i = 0; i < std::min(texts.size(), kMost); ++i)
      all += (i == 0 ? "" : ", ") + texts[i];
    return texts.size() > kMost ? all + " and " + std::to_string(texts.size() - kMost) + " more"
                                : all;
  }

  Status pin_matching(const Pin& p) {
    const std::vector<NodeId> nodes = p.nodes.nodes(graph_);
    if (nodes.empty())
      return invalid_argument("pin '" + p.text +
                              "' matches no node, input or output (names are those after the "
                              "rewrites)" +
                              did_you_mean(p.text.substr(0, p.text.rfind('=')), all_names()));
    for (NodeId n : nodes) {
      if (p.rule.is_same() && n != nodes[0]) tie(nodes[0], n);
      if (!p.rule.is_same()) SHW_RETURN_IF_ERROR(pin(n, p.rule, graph_.name(n)));
      if (p.rule.is_exact()) pinned_.insert(n);
    }
    return {};
  }

  std::vector<std::string> all_names() const {
    std::vector<std::string> names;
    for (const InputInfo& in : graph_.inputs()) names.push_back(graph_.full_name(in));
    for (const OutputInfo& out : graph_.outputs())
      if (out.node.valid()) names.push_back(graph_.full_name(out));
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) names.push_back(graph_.name(NodeId{i}));
    return names;
  }

  // Cannot be dropped by name, because the results would be wrong. It can still be part of a
  // conflict, since pins may contradict it.
  Status tie_regions() {
    SHW_ASSIGN_OR_RETURN(const std::vector<TiedRegions> ties, tied_regions(graph_));
    if (!ties.empty()) out_.sources.emplace_back(kRegionsAlike);
    for (const TiedRegions& t : ties) {
      AllowedPairs p{t.saves, t.reads, {}, {}, "", source()};
      SHW_ASSIGN_OR_RETURN(p.class_a, alternatives(t.saves));
      SHW_ASSIGN_OR_RETURN(p.class_b, alternatives(t.reads));
      if (std::find_first_of(p.class_a.begin(), p.class_a.end(), p.class_b.begin(),
                             p.class_b.end()) == p.class_a.end())
        return at_origin(
            invalid_argument("the mesh permits no alternative both here and in '" +
                             graph_.name(t.saves) + "', which saves what the region reads"),
            graph_, t.reads);
      out_.pairs.push_back(std::move(p));
    }
    return {};
  }

  // The number of the alternative, by strategy of a region.
  Result<std::vector<uint32_t>> alternatives(NodeId n) const {
    SHW_ASSIGN_OR_RETURN(const std::vector<StatedAlternative> all,
                         alternatives_on(graph_, n, mesh_));
    SHW_CHECK(all.size() == strategies_.of(n).count);
    std::vector<uint32_t> numbers;
    for (const StatedAlternative& a : all) numbers.push_back(a.number);
    return numbers;
  }

  // For each strategy of `n`, the index of its result layout in `layouts`; appends new ones.
  std::vector<uint32_t> classes(NodeId n, std::vector<Layout>& layouts) const {
    std::vector<uint32_t> of;
    for (uint32_t s = 0; s < strategies_.of(n).count; ++s) {
      const Layout& l = strategies_.result_layout(n, 0, s);
      const auto at = std::find(layouts.begin(), layouts.end(), l);
      of.push_back(static_cast<uint32_t>(at - layouts.begin()));
      if (at == layouts.end()) layouts.push_back(l);
    }
    return of;
  }

  // Requires the two results to have the same layout.
  void tie(NodeId a, NodeId b) {
    std::vector<Layout> layouts;
    AllowedPairs p{a, b, classes(a, layouts), {}, "", source()};
    p.class_b = classes(b, layouts);
    p.why = graph_.name(a) + " and " + graph_.name(b) + " in the same layout";
    out_.pairs.push_back(std::move(p));
  }

  // Pairs each strategy of `a` with the first one of `b` that produces the same layout; without
  // one, `a` may not use it.
  void pair(NodeId a, NodeId b, std::string why) {
    std::vector<Layout> layouts;
    AllowedPairs p{a, b, classes(a, layouts), {}, std::move(why), source()};
    p.class_b = classes(b, layouts);
    std::vector<bool> seen(layouts.size(), false);
    for (uint32_t& c : p.class_b)
      if (seen[c])
        c = AllowedPairs::kNoClass;
      else
        seen[c] = true;
    out_.pairs.push_back(std::move(p));
  }

  void pair_gradients() {
    for (const OutputInfo& out : graph_.outputs()) {
      if (out.role == OutputRole::kResult || !out.node.valid()) continue;
      const InputInfo& in = graph_.inputs()[static_cast<size_t>(out.of_input)];
      pair(in.node, out.node,
           graph_.full_name(in) +
               (out.role == OutputRole::kGradient ? " and its gradient" : " and its update"));
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

  // The shares of all parameters that are not pinned, by strategy.
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

  // A factor allows Σ max(smallest share, factor) in total. No budget is added if that permits
  // either exactly one choice or every choice.
  void budget_parameters() {
    const ParameterBudget& wanted = wanted_.parameter_budget;
    if (wanted.kind == ParameterBudget::Kind::kNone) return;
    if (!begin(wanted.kind == ParameterBudget::Kind::kSmallest
                   ? "every parameter at its smallest share"
                   : "a parameter budget of " + std::to_string(wanted.factor)))
      return;
    LinearBudget budget = parameter_shares();
    budget.source = source();
    double smallest_total = 0, largest_total = 0;
    double next_step =
        std::numeric_limits<double>::infinity();  // above the smallest, over all parameters
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
      AllowedLabels a{node, {}, "parameter budget of " + graph_.name(node), source()};
      for (double r : shares) a.allowed.push_back(r <= smallest + kShareRounding);
      out_.labels.push_back(std::move(a));
    }
  }

  // The only operand of a node with one operand, otherwise no node.
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

  // Mixed precision: parameters are gathered after their down-cast, so that less is sent; gradients
  // are reduced after their up-cast, for accuracy.
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
  std::vector<bool> left_out_;  // by wanted_.without
  std::string names_;           // names that can be dropped
  SideConditions out_;
};

}  // namespace

std::vector<NodeId> nodes_with_stated_orders(const Graph& graph,
                                             const PlacementConstraints& constraints) {
  std::set<NodeId> nodes;
  const auto states = [](const std::optional<LayoutRule>& rule) {
    return rule && rule->has_orders();
  };
  const auto add_ports = [&](const auto& ports, const std::optional<LayoutRule>& of_all,
                             const std::vector<BoundaryLayout>& named, auto is_plain) {
    for (const auto& port : ports) {
      if (!port.node.valid()) continue;
      if (states(of_all) && is_plain(port)) nodes.insert(port.node);
      const std::string name = graph.full_name(port);
      for (const BoundaryLayout& b : named)
        if (states(b.layout) && (b.name == name || glob_matches(b.name, name)))
          nodes.insert(port.node);
    }
  };
  add_ports(graph.inputs(), constraints.input_layout, constraints.inputs,
            [](const InputInfo& in) { return in.role == InputRole::kInput; });
  add_ports(graph.outputs(), constraints.output_layout, constraints.outputs,
            [](const OutputInfo& out) { return out.role == OutputRole::kResult; });
  for (const Pin& pin : constraints.pins)
    if (pin.rule.has_orders())
      for (NodeId n : pin.nodes.nodes(graph)) nodes.insert(n);
  return {nodes.begin(), nodes.end()};
}

Result<SideConditions> side_conditions(const Graph& graph, const Mesh& mesh,
                                       const Strategies& strategies,
                                       const PlacementConstraints& constraints) {
  return Builder(graph, mesh, strategies, constraints).run();
}

}  // namespace shw
