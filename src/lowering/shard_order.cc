#include "lowering/shard_order.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "lowering/slots.h"
#include "ops/op_def.h"
#include "sharding/unfolding.h"
#include "solver/problem.h"
#include "support/quiet.h"

namespace shw {
namespace {

using Order = std::array<uint8_t, kMaxMeshRank>;

// The price of a change that no route can make. Lowering will report it at the node, or make the
// value whole along the way. The price is finite so that the other orders are still chosen well.
constexpr double kNoRouteUs = 1e12;
constexpr uint32_t kFixed = UINT32_MAX;

Layout with_order(Layout layout, const Order& order) {
  layout.order = order;
  return normalised(layout);
}

class OrderProblem {
 public:
  OrderProblem(const Graph& graph, Copies copies, Redistributor& redistributor,
               std::span<const OrderRule> rules, Assignment& assignment)
      : graph_(graph),
        copies_(copies),
        r_(redistributor),
        a_(assignment),
        slots_(slots_of(graph, copies)) {
    for (const OrderRule& rule : rules) rules_.emplace(rule.node.v, &rule);
  }

  Status run(Monitor& monitor) {
    find_outputs();
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) SHW_RETURN_IF_ERROR(add_variable(NodeId{i}));
    if (problem_.num_variables() == 0) return {};
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      if (i % 256 == 0) SHW_RETURN_IF_ERROR(monitor.poll());
      add_edges(NodeId{i});
    }
    for (const OutputInfo& out : graph_.outputs()) tie_to_input(out);
    Monitor apart = quiet(monitor, "lower");
    SHW_ASSIGN_OR_RETURN(const solver::Solution best,
                         solver::solve(problem_, solver::SolveOptions{}, apart));
    write_back(best.choice);
    return {};
  }

 private:
  void find_outputs() {
    is_output_.assign(graph_.num_nodes(), 0);
    keeps_order_.assign(graph_.num_nodes(), 0);
    for (const OutputInfo& out : graph_.outputs()) {
      if (!out.node.valid()) continue;
      is_output_[out.node.v] = 1;
      if (!of_parameter(out)) keeps_order_[out.node.v] = 1;
    }
    for (const InputInfo& in : graph_.inputs())
      if (!is_trained(in.role)) keeps_order_[in.node.v] = 1;
  }

  bool of_parameter(const OutputInfo& out) const {
    return out.of_input >= 0 && is_trained(graph_.inputs()[static_cast<size_t>(out.of_input)].role);
  }

  // Nodes that only name a value have no layout of their own, unless they are returned.
  bool takes_part(NodeId n) const { return !names(n) || is_output_[n.v]; }
  bool names(NodeId n) const { return only_names(graph_.op(n), copies_); }

  template <class F>
  void for_each_layout(NodeId n, F&& f) {
    for (Layout& l : a_.results(n)) f(l);
    if (!names(n))
      for (Layout& l : a_.operands(n)) f(l);
  }

  bool cut_twice(const Layout& layout) const {
    for (int m = 0; m < r_.mesh().rank(); ++m)
      for (int e = 0; e < m; ++e)
        if (layout[m].is_shard_like() && layout[m] == layout[e] && r_.mesh().size(m) > 1 &&
            r_.mesh().size(e) > 1)
          return true;
    return false;
  }

  // Whether rules, or the expectations of callers, permit this order for the node.
  bool allowed(NodeId n, const Order& order) const {
    bool stated = false;
    const auto [first, end] = rules_.equal_range(n.v);
    if (first != end) {
      std::vector<Layout> results, operands;
      for (const Layout& l : a_.results(n)) results.push_back(with_order(l, order));
      for (const Layout& l : a_.operands(n))
        operands.push_back(names(n) ? l : with_order(l, order));
      for (auto rule = first; rule != end; ++rule) {
        if (!rule->second->allows(results, operands)) return false;
        stated |= rule->second->states_orders;
      }
    }
    return stated || !keeps_order_[n.v] ||
           with_order(a_.results(n)[0], order).order == Layout{}.order;
  }

  // The orders that differ for this node and are allowed, in ascending order.
  Status add_variable(NodeId n) {
    variable_.push_back(kFixed);
    if (!takes_part(n)) return {};
    if (op_def(graph_.op(n)).sharding == Sharding::kDeclared) return {};  // in the mesh's order
    bool any = false;
    for_each_layout(n, [&](const Layout& l) { any |= cut_twice(l); });
    if (!any) return {};
    std::vector<Order> orders;
    std::vector<std::vector<Layout>> distinct;
    Order order{0, 1, 2, 3, 4, 5};
    const auto end = order.begin() + r_.mesh().rank();
    do {
      std::vector<Layout> all;
      for_each_layout(n, [&](const Layout& l) { all.push_back(with_order(l, order)); });
      if (std::find(distinct.begin(), distinct.end(), all) != distinct.end()) continue;
      distinct.push_back(std::move(all));
      if (allowed(n, order)) orders.push_back(order);
    } while (std::next_permutation(order.begin(), end));
    if (orders.empty())
      return at_origin(invalid_argument("no shard order of " + graph_.name(n) + " as " +
                                        to_string(a_.results(n)[0], r_.mesh().rank()) +
                                        " is among those asked for"),
                       graph_, n);
    variable_.back() = problem_.add_variable(std::vector<double>(orders.size(), 0.0));
    orders_.push_back(std::move(orders));
    return {};
  }

  size_t num_labels(NodeId n) const {
    return variable_[n.v] == kFixed ? 1 : orders_[variable_[n.v]].size();
  }
  Layout labelled(NodeId n, Layout layout, size_t label) const {
    if (variable_[n.v] != kFixed) layout = with_order(layout, orders_[variable_[n.v]][label]);
    return r_.canonical(layout);
  }

  void add_edges(NodeId n) {
    if (!takes_part(n)) return;
    if (names(n)) return add_edge(slots_[n.v], n, a_.results(n)[0]);
    const auto operands = graph_.operands(n);
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid()) add_edge(slots_[operands[k].v], n, a_.operands(n)[k]);
  }

  void add_edge(const Slot& slot, NodeId consumer, const Layout& wanted) {
    const NodeId producer = slot.producer;
    const uint32_t p = variable_[producer.v], c = variable_[consumer.v];
    if (p == kFixed && c == kFixed) return;
    const auto& type = graph_.results(producer)[slot.result];
    if (!type) return;
    const Layout& made = a_.results(producer)[slot.result];
    const size_t rows = num_labels(producer), cols = num_labels(consumer);
    std::vector<double> costs;
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < cols; ++j)
        costs.push_back(cost(*type, labelled(producer, made, i), labelled(consumer, wanted, j)));
    if (c == kFixed) {
      // A version is made once, whatever the number of its uses.
      if (fixed_uses_.emplace(slot.index, r_.canonical(wanted))) problem_.add_unary(p, costs);
    } else if (p == kFixed) {
      problem_.add_unary(c, costs);
    } else {
      problem_.add_edge(
          p, c,
          problem_.add_matrix(static_cast<uint32_t>(rows), static_cast<uint32_t>(cols), costs));
    }
  }

  double cost(const TensorType& type, const Layout& from, const Layout& to) {
    const auto u = Unfolding::of(type.shape, r_.mesh(), {from, to});
    if (!u) return kNoRouteUs;
    const auto route =
        r_.route(u->shape(), dtype_size(type.dtype), u->unfolded(from), u->unfolded(to));
    return route.ok() ? (*route)->cost_us : kNoRouteUs;
  }

  void tie_to_input(const OutputInfo& out) {
    if (!out.node.valid() || !of_parameter(out)) return;
    const NodeId in = graph_.inputs()[static_cast<size_t>(out.of_input)].node;
    const uint32_t a = variable_[in.v], b = variable_[out.node.v];
    const Layout held = a_.results(in)[0], returned = a_.results(out.node)[0];
    if (a == kFixed || b == kFixed || !held.same_placements(returned)) return;
    std::vector<double> costs;
    for (size_t i = 0; i < num_labels(in); ++i)
      for (size_t j = 0; j < num_labels(out.node); ++j)
        costs.push_back(
            labelled(in, held, i) == labelled(out.node, returned, j) ? 0 : solver::kForbidden);
    problem_.add_edge(a, b,
                      problem_.add_matrix(static_cast<uint32_t>(num_labels(in)),
                                          static_cast<uint32_t>(num_labels(out.node)), costs));
  }

  void write_back(const std::vector<uint32_t>& choice) {
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      const uint32_t v = variable_[i];
      if (v == kFixed) continue;
      const Order& order = orders_[v][choice[v]];
      for_each_layout(NodeId{i}, [&](Layout& l) { l = with_order(l, order); });
    }
  }

  // (slot, layout) pairs that were seen.
  class UseSet {
   public:
    bool emplace(uint32_t slot, const Layout& layout) {
      std::vector<Layout>& seen = by_slot_[slot];
      if (std::find(seen.begin(), seen.end(), layout) != seen.end()) return false;
      seen.push_back(layout);
      return true;
    }

   private:
    std::unordered_map<uint32_t, std::vector<Layout>> by_slot_;  // look-up only
  };

  const Graph& graph_;
  const Copies copies_;
  Redistributor& r_;
  Assignment& a_;
  const std::vector<Slot> slots_;
  std::unordered_multimap<uint32_t, const OrderRule*> rules_;  // by node
  std::vector<uint8_t> is_output_, keeps_order_;
  std::vector<uint32_t> variable_;          // by node; kFixed: one order only
  std::vector<std::vector<Order>> orders_;  // labels of a variable
  UseSet fixed_uses_;
  solver::PlacementProblem problem_;
};

}  // namespace

Status choose_shard_orders(const Graph& graph, Redistributor& redistributor,
                           std::span<const OrderRule> rules, Assignment& assignment,
                           Monitor& monitor) {
  return OrderProblem(graph, Copies::kShared, redistributor, rules, assignment).run(monitor);
}

}  // namespace shw
