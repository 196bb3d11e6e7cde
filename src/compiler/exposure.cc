#include "compiler/exposure.h"

#include <algorithm>

#include "placement/overlap.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

// Nodes of chains that lead to one gradient of a parameter each, and to nothing else. The reduction
// of the gradient may be moved along its chain.
std::vector<bool> chains_to_gradients(const Graph& graph) {
  const std::vector<bool> only_gradients = gradient_only(graph);
  const UserTable users(graph);
  std::vector<bool> chain(graph.num_nodes(), false);
  for (uint32_t i = graph.num_nodes(); i-- > 0;) {
    const auto operands = graph.operands(NodeId{i});
    chain[i] = only_gradients[i] &&
               std::ranges::count_if(operands, [](NodeId n) { return n.valid(); }) == 1 &&
               std::ranges::all_of(users.users(NodeId{i}), [&](NodeId u) { return chain[u.v]; });
  }
  return chain;
}

// Finds the kinds of the steps of a program, by its storages.
class SentBySteps {
 public:
  explicit SentBySteps(const Program& program)
      : p_(program),
        of_(program.steps.size(), Sent::kActivation),
        from_parameters_(of_port(PortRole::kParameter)),
        to_gradients_(of_port(PortRole::kGradient)),
        to_others_(program.storages.size(), 0) {}

  std::vector<Sent> run() {
    for (size_t i = 0; i < of_.size(); ++i) follow_parameters(i);
    for (size_t i = of_.size(); i-- > 0;) follow_gradients(i);
    return std::move(of_);
  }

 private:
  std::vector<uint8_t> of_port(PortRole role) const {
    std::vector<uint8_t> is(p_.storages.size(), 0);
    for (const Port& port : p_.ports)
      if (port.role == role && port.value.valid()) is[storage(port.value)] = 1;
    return is;
  }
  uint32_t storage(ValueId v) const { return p_.values[v].storage.v; }

  void follow_parameters(size_t i) {
    bool any = false, all = true;
    for (const ValueId v : p_.steps[i].inputs)
      if (v.valid()) any = true, all = all && from_parameters_[storage(v)] != 0;
    if (!any || !all) return;
    of_[i] = Sent::kParameter;
    for (const ValueId v : p_.steps[i].outputs)
      if (v.valid()) from_parameters_[storage(v)] = 1;
  }

  void follow_gradients(size_t i) {
    const ProgramStep& step = p_.steps[i];
    bool is = std::ranges::count_if(step.inputs, [](ValueId v) { return v.valid(); }) == 1;
    for (const ValueId v : step.outputs)
      is = is && v.valid() && to_gradients_[storage(v)] != 0 && to_others_[storage(v)] == 0;
    if (is) of_[i] = Sent::kGradient;
    for (const ValueId v : step.inputs)
      if (v.valid()) (is ? to_gradients_ : to_others_)[storage(v)] = 1;
  }

  const Program& p_;
  std::vector<Sent> of_;
  std::vector<uint8_t> from_parameters_, to_gradients_, to_others_;  // by storage
};

}  // namespace

std::vector<SentEdge> sent_edges(const Graph& graph) {
  const std::vector<bool> from_parameters = parameter_derived(graph),
                          chain = chains_to_gradients(graph);
  std::vector<SentEdge> edges;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    for (const NodeId from : graph.operands(NodeId{i})) {
      if (!from.valid()) continue;
      const Sent sent = from_parameters[from.v] ? Sent::kParameter
                        : chain[i]              ? Sent::kGradient
                                                : Sent::kActivation;
      const bool backward = graph.meta(NodeId{i}).phase == Phase::kBackward;
      edges.push_back({graph.origin(NodeId{i}).v, static_cast<uint8_t>(sent_kind(sent, backward))});
    }
  return edges;
}

Exposure Exposure::of(const Program& program) {
  Exposure out;
  const std::vector<Sent> sent = SentBySteps(program).run();
  for (const ProgramEntry& entry : program.entries) {
    const Simulation s = simulate(program, entry);
    out.step_us_ += entry.weight * s.total_us;
    for (uint32_t i = entry.first_step; i < entry.first_step + entry.num_steps; ++i) {
      const ProgramStep& step = program.steps[i];
      if (step.collective.kind == CollectiveKind::kNone || !(step.cost_us > 0)) continue;
      const size_t kind = sent_kind(sent[i], static_cast<Phase>(step.phase) == Phase::kBackward);
      const auto add = [&](Times& times) {
        times.busy_us += entry.weight * step.cost_us;
        times.exposed_us += entry.weight * s.at(i).exposed_us;
      };
      add(out.by_kind_[kind]);
      if (step.node == UINT32_MAX) continue;
      if (out.by_node_.size() <= step.node) out.by_node_.resize(step.node + 1);
      add(out.by_node_[step.node][kind]);
    }
  }
  return out;
}

double Exposure::share(const SentEdge& edge, double otherwise) const {
  const auto of = [&](const Times& times) {
    return times.busy_us > 0 ? std::min(times.exposed_us / times.busy_us, 1.0) : -1;
  };
  const double own = edge.origin < by_node_.size() ? of(by_node_[edge.origin][edge.kind]) : -1;
  const double all = own < 0 ? of(by_kind_[edge.kind]) : own;
  return all < 0 ? otherwise : all;
}

}  // namespace shw
