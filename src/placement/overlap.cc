#include "placement/overlap.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "placement/pricing.h"

namespace shw {
namespace {

struct Edge {
  NodeId consumer;
  size_t operand = 0;
};

// The index of the only operand; -1: there is none, or there are several.
int only_operand(const Graph& graph, NodeId n) {
  int only = -1;
  const auto operands = graph.operands(n);
  for (size_t k = 0; k < operands.size(); ++k) {
    if (!operands[k].valid()) continue;
    if (only >= 0) return -1;
    only = static_cast<int>(k);
  }
  return only;
}

// A collective that overlaps compute: the discounted edge, when it may run, and the size of its
// value, which determines its share of the compute.
struct Transfer {
  Edge edge;
  uint32_t position;  // gather: of its use; reduction: of the node that computes the gradient
  double bytes, hidden_us = 0;
};

class Bounded {
 public:
  Bounded(const Graph& graph, const std::vector<bool>& no_comm)
      : graph_(graph),
        no_comm_(no_comm),
        users_(graph),
        from_parameters_(parameter_derived(graph)),
        to_gradients_(gradient_only(graph)),
        counts_(graph.num_nodes(), true) {
    find_gathers();
    find_reductions();
  }

  EdgeDiscounts run(std::span<const double> least_compute_us, double share) {
    // The compute of every node is shared by the next gather and the last reduction, in proportion
    // to their sizes.
    size_t gather = 0, reduction = 0;  // the first one at or after i
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      while (gather < gathers_.size() && gathers_[gather].position <= i) ++gather;
      while (reduction < reductions_.size() && reductions_[reduction].position < i) ++reduction;
      if (!counts_[i]) continue;
      Transfer* const next = gather < gathers_.size() ? &gathers_[gather] : nullptr;
      Transfer* const last = reduction > 0 ? &reductions_[reduction - 1] : nullptr;
      const double us = least_compute_us[i] * share;
      const double bytes = (next ? next->bytes : 0) + (last ? last->bytes : 0);
      if (!(bytes > 0)) continue;
      if (next) next->hidden_us += us * next->bytes / bytes;
      if (last) last->hidden_us += us * last->bytes / bytes;
    }
    EdgeDiscounts out;
    for (const std::vector<Transfer>* list : {&gathers_, &reductions_})
      for (const Transfer& t : *list)
        if (t.hidden_us > 0) out.set(t.edge.consumer, t.edge.operand, {1, t.hidden_us});
    return out;
  }

 private:
  cost::ValueMeta value(const Edge& e) const { return edge_value(graph_, e.consumer, e.operand); }

  // One edge per use: if all edges between a parameter and its use were discounted, two collectives
  // could hide behind the same compute.
  void find_gathers() {
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      if (from_parameters_[i]) {
        counts_[i] = false;  // the gather waits for it
        continue;
      }
      const auto operands = graph_.operands(NodeId{i});
      for (size_t k = 0; k < operands.size(); ++k) {
        if (!operands[k].valid() || !from_parameters_[operands[k].v]) continue;
        const Edge edge = above_views(Edge{NodeId{i}, k});
        if (!no_comm_[edge.consumer.v]) gathers_.push_back({edge, i, value(edge).bytes});
      }
    }
  }

  // If a view with another memory order (a transpose) serves only this use, returns the edge above
  // the view, where a gather needs no copies.
  Edge above_views(Edge e) const {
    for (;;) {
      const NodeId from = graph_.operands(e.consumer)[e.operand];
      if (value(e).contiguous || users_.users(from).size() != 1) return e;
      const int k = only_operand(graph_, from);
      if (k < 0) return e;
      e = {from, static_cast<size_t>(k)};
    }
  }

  // One edge per gradient, between the node that computes it and the result: the smallest value
  // that may be communicated and whose memory order needs no copies.
  void find_reductions() {
    for (const OutputInfo& out : graph_.outputs()) {
      if (!is_parameter_gradient(graph_, out)) continue;
      std::vector<Edge> chain;
      for (NodeId n = out.node; to_gradients_[n.v];) {
        const int k = only_operand(graph_, n);
        if (k < 0) break;
        counts_[n.v] = false;  // it may itself wait for the reduction
        chain.push_back({n, static_cast<size_t>(k)});
        n = graph_.operands(n)[static_cast<size_t>(k)];
      }
      std::erase_if(chain,
                    [&](const Edge& e) { return no_comm_[e.consumer.v] || !value(e).contiguous; });
      const auto edge = std::min_element(
          chain.rbegin(), chain.rend(),
          [&](const Edge& a, const Edge& b) { return value(a).bytes < value(b).bytes; });
      if (edge != chain.rend())
        reductions_.push_back(
            {*edge, graph_.operands(edge->consumer)[edge->operand].v, value(*edge).bytes});
    }
    std::sort(reductions_.begin(), reductions_.end(),
              [](const Transfer& a, const Transfer& b) { return a.position < b.position; });
  }

 public:
  static bool is_parameter_gradient(const Graph& graph, const OutputInfo& out) {
    return out.role == OutputRole::kGradient && out.node.valid() &&
           graph.inputs()[static_cast<size_t>(out.of_input)].role == InputRole::kParameter;
  }

 private:
  const Graph& graph_;
  const std::vector<bool>& no_comm_;
  const UserTable users_;
  const std::vector<bool> from_parameters_, to_gradients_;
  std::vector<bool> counts_;                    // whether a collective can overlap the node
  std::vector<Transfer> gathers_, reductions_;  // by position
};

EdgeDiscounts prefetch(const Graph& graph, double scale) {
  EdgeDiscounts out;
  const std::vector<bool> from = parameter_derived(graph), to = gradient_only(graph);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const auto operands = graph.operands(NodeId{i});
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid() && (from[operands[k].v] || to[i])) out.set(NodeId{i}, k, {scale, 0});
  }
  return out;
}

}  // namespace

Result<Overlap> overlap_from_name(std::string_view name) {
  if (name == "none") return Overlap::kNone;
  if (name == "prefetch") return Overlap::kPrefetch;
  if (name == "bounded") return Overlap::kBounded;
  if (name == "simulated") return Overlap::kSimulated;
  return invalid_argument("overlap '" + std::string(name) +
                          "': expected none, prefetch, bounded or simulated");
}

std::string to_string(const OverlapOptions& options) {
  if (hides_nothing(options.kind)) return "";
  std::string text = options.kind == Overlap::kPrefetch  ? "prefetch"
                     : options.kind == Overlap::kBounded ? "bounded"
                                                         : "simulated";
  if (options.scale == 0) return text;
  char number[32];
  std::snprintf(number, sizeof number, " %g", options.scale);
  return text + number;
}

Status check(const OverlapOptions& options) {
  if (!(options.scale >= 0 && options.scale <= 1))
    return invalid_argument("overlap scale " + std::to_string(options.scale) + ": expected 0 to 1");
  if (!discounts_edges(options.kind) && options.scale != 0)
    return invalid_argument("an overlap scale goes with overlap prefetch or bounded");
  return {};
}

std::vector<bool> parameter_derived(const Graph& graph) {
  std::vector<bool> derived(graph.num_nodes(), false);
  for (const InputInfo& in : graph.inputs())
    if (in.role == InputRole::kParameter) derived[in.node.v] = true;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    bool any = false, all = true;
    for (NodeId o : graph.operands(NodeId{i}))
      if (o.valid()) any = true, all = all && derived[o.v];
    if (any && all) derived[i] = true;
  }
  return derived;
}

std::vector<bool> gradient_only(const Graph& graph) {
  std::vector<bool> derived(graph.num_nodes(), false), returned(graph.num_nodes(), false);
  for (const OutputInfo& out : graph.outputs()) {
    if (!out.node.valid()) continue;
    if (Bounded::is_parameter_gradient(graph, out))
      derived[out.node.v] = true;
    else
      returned[out.node.v] = true;
  }
  const UserTable users(graph);
  for (uint32_t i = graph.num_nodes(); i-- > 0;) {
    const auto of = users.users(NodeId{i});
    if (!of.empty() && !returned[i] &&
        std::all_of(of.begin(), of.end(), [&](NodeId u) { return derived[u.v]; }))
      derived[i] = true;
  }
  return derived;
}

EdgeDiscounts edge_discounts(const Graph& graph, const OverlapOptions& options,
                             std::span<const double> least_compute_us,
                             const std::vector<bool>& no_comm) {
  switch (options.kind) {
    case Overlap::kDefault:
    case Overlap::kNone:
    case Overlap::kSimulated:
      break;
    case Overlap::kPrefetch:
      return prefetch(graph, options.scale);
    case Overlap::kBounded:
      return Bounded(graph, no_comm).run(least_compute_us, options.scale == 0 ? 1 : options.scale);
  }
  return {};
}

}  // namespace shw
