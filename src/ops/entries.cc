#include "ops/entries.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "ops/op_def.h"

namespace shw {
namespace {

class EntryCheck {
 public:
  explicit EntryCheck(const Graph& graph) : graph_(graph), entries_(graph.entries()) {}

  Status run() {
    std::set<std::string> names;
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].name.empty()) return invalid_argument("an entry has no name");
      Status s = names.insert(entries_[i].name).second ? lists(i) : invalid_argument("named twice");
      if (!s.ok()) return named(i, s);
    }
    const auto nodes = nodes_of_entries(graph_);
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      SHW_RETURN_IF_ERROR(inputs_are_listed(i, nodes[i]));
      if (Status s = updates(entries_[i]); !s.ok()) return named(i, s);
    }
    return outputs_belong();
  }

 private:
  Status named(uint32_t entry, const Status& s) const {
    return {s.code(), "entry '" + entries_[entry].name + "': " + s.message()};
  }

  Status lists(uint32_t i) const {
    const EntryInfo& e = entries_[i];
    if (!(e.weight > 0 && e.weight <= kMaxWeight))
      return invalid_argument("its weight is not a positive number");
    const auto ascending = [](const std::vector<uint32_t>& list, size_t count) {
      for (size_t k = 0; k < list.size(); ++k)
        if (list[k] >= count || (k > 0 && list[k] <= list[k - 1])) return false;
      return true;
    };
    if (!ascending(e.inputs, graph_.inputs().size()))
      return invalid_argument("its inputs are not ascending numbers of inputs");
    if (!ascending(e.outputs, graph_.outputs().size()))
      return invalid_argument("its outputs are not ascending numbers of outputs");
    if (!ascending(e.after, i))
      return invalid_argument("it can only run after entries that stand before it");
    for (uint32_t k : e.inputs) {
      const InputInfo& in = graph_.inputs()[k];
      if (in.role == InputRole::kConstant || in.storage == InputStorage::kState)
        return invalid_argument("'" + graph_.full_name(in) +
                                "' is not handed over by the caller, so it is not listed");
    }
    return {};
  }

  Status inputs_are_listed(uint32_t i, const std::vector<uint8_t>& nodes) const {
    const EntryInfo& e = entries_[i];
    for (uint32_t k = 0; k < graph_.inputs().size(); ++k) {
      const InputInfo& in = graph_.inputs()[k];
      if (!nodes[in.node.v] || in.role == InputRole::kConstant ||
          in.storage == InputStorage::kState ||
          std::binary_search(e.inputs.begin(), e.inputs.end(), k))
        continue;
      return at_origin(named(i, invalid_argument("it needs '" + graph_.full_name(in) +
                                                 "', which is not among its inputs")),
                       graph_, in.node);
    }
    return {};
  }

  // Each updated value is an input of the entry, and updated once.
  Status updates(const EntryInfo& e) const {
    std::set<int32_t> updated;
    for (uint32_t k : e.outputs) {
      const OutputInfo& out = graph_.outputs()[k];
      if (!out.in_place) continue;
      const InputInfo& in = graph_.inputs()[static_cast<size_t>(out.of_input)];
      if (!updated.insert(out.of_input).second)
        return invalid_argument("'" + graph_.full_name(in) + "' is updated in place twice");
      if (in.storage == InputStorage::kPort &&
          !std::binary_search(e.inputs.begin(), e.inputs.end(),
                              static_cast<uint32_t>(out.of_input)))
        return invalid_argument("'" + graph_.full_name(in) +
                                "' is updated in place, but not among its inputs");
    }
    return {};
  }

  Status outputs_belong() const {
    std::vector<uint8_t> listed(graph_.outputs().size(), 0);
    for (const EntryInfo& e : entries_)
      for (uint32_t k : e.outputs) listed[k] = 1;
    const auto it = std::find(listed.begin(), listed.end(), 0);
    if (it == listed.end()) return {};
    return invalid_argument("output " + std::to_string(it - listed.begin()) +
                            " belongs to no entry");
  }

  static constexpr double kMaxWeight = 1e12;
  const Graph& graph_;
  const std::vector<EntryInfo> entries_;
};

bool is_port(const InputInfo& in) {
  return in.role != InputRole::kConstant && in.storage == InputStorage::kPort;
}

}  // namespace

std::vector<std::vector<uint32_t>> entries_before(const std::vector<EntryInfo>& entries) {
  std::vector<std::vector<uint32_t>> before(entries.size());
  for (uint32_t i = 0; i < entries.size(); ++i) {
    std::set<uint32_t> all;
    for (uint32_t e : entries[i].after) {
      all.insert(e);
      all.insert(before[e].begin(), before[e].end());
    }
    before[i].assign(all.begin(), all.end());
  }
  return before;
}

std::vector<std::vector<uint8_t>> nodes_of_entries(const Graph& graph) {
  const std::vector<EntryInfo> entries = graph.entries();
  const auto before = entries_before(entries);
  std::vector<std::vector<uint8_t>> nodes;
  for (size_t e = 0; e < entries.size(); ++e) {
    std::vector<uint8_t> known(graph.num_nodes(), 0), wanted(graph.num_nodes(), 0);
    for (uint32_t b : before[e])
      for (uint32_t i = 0; i < graph.num_nodes(); ++i)
        known[i] |= nodes[b][i] && graph.op(NodeId{i}) != OpKind::kInput;
    // Saved values are available already; but a window into an input needs the input.
    const auto want = [&](NodeId n) {
      if (!n.valid()) return;
      if (known[n.v])
        while (op_def(graph.op(n)).is_view && graph.op(n) != OpKind::kInput)
          n = graph.operands(n)[0];
      if (!known[n.v]) wanted[n.v] = 1;
    };
    for (uint32_t o : entries[e].outputs) want(graph.outputs()[o].node);
    for (uint32_t i = graph.num_nodes(); i-- > 0;)
      if (wanted[i])
        for (NodeId o : graph.operands(NodeId{i})) want(o);
    nodes.push_back(std::move(wanted));
  }
  return nodes;
}

// What a model changes while it runs, such as running statistics, changes in the forward pass; what
// is trained changes after the backward pass.
bool is_made_by_forward(const Graph& graph, const OutputInfo& out) {
  if (out.role != OutputRole::kUpdate || out.of_input < 0) return out.role == OutputRole::kResult;
  return !is_trained(graph.inputs()[static_cast<size_t>(out.of_input)].role);
}

Result<std::vector<EntryInfo>> training_entries(const Graph& graph,
                                                std::span<const std::string> names) {
  std::vector<EntryInfo> entries;
  std::optional<uint32_t> forward;
  for (const std::string& name : names) {
    const bool all = name == "step", results = name == "forward" || name == "infer";
    if (!all && !results && name != "backward")
      return invalid_argument("there is no entry '" + name +
                              "' to derive: expected step, forward, backward or infer");
    EntryInfo e;
    e.name = name;
    for (uint32_t o = 0; o < graph.outputs().size(); ++o) {
      const bool early = is_made_by_forward(graph, graph.outputs()[o]);
      if (all || (early ? name != "backward" : !results)) e.outputs.push_back(o);
    }
    if (name == "backward" && forward) e.after = {*forward};
    if (name == "forward") forward = static_cast<uint32_t>(entries.size());
    entries.push_back(std::move(e));
  }
  list_needed_inputs(graph, entries);
  for (EntryInfo& e : entries)
    if (e.name == "step") {  // called with everything, as the model is
      e.inputs.clear();
      for (uint32_t i = 0; i < graph.inputs().size(); ++i)
        if (is_port(graph.inputs()[i])) e.inputs.push_back(i);
    }
  return entries;
}

void list_needed_inputs(const Graph& graph, std::vector<EntryInfo>& entries) {
  Graph probe = graph;
  probe.set_entries(entries);
  const auto nodes = nodes_of_entries(probe);
  for (size_t e = 0; e < entries.size(); ++e) {
    std::set<uint32_t> inputs;
    for (uint32_t i = 0; i < graph.inputs().size(); ++i)
      if (is_port(graph.inputs()[i]) && nodes[e][graph.inputs()[i].node.v]) inputs.insert(i);
    for (uint32_t o :
         entries[e].outputs) {  // what is updated in place is handed over to be written
      const OutputInfo& out = graph.outputs()[o];
      if (!out.in_place) continue;
      const auto of = static_cast<uint32_t>(out.of_input);
      if (is_port(graph.inputs()[of])) inputs.insert(of);
    }
    entries[e].inputs.assign(inputs.begin(), inputs.end());
  }
}

std::vector<double> node_weights(const Graph& graph) {
  const std::vector<EntryInfo> entries = graph.entries();
  const auto nodes = nodes_of_entries(graph);
  std::vector<double> weights(graph.num_nodes(), 0);
  for (size_t e = 0; e < entries.size(); ++e)
    for (uint32_t i = 0; i < graph.num_nodes(); ++i)
      if (nodes[e][i]) weights[i] += entries[e].weight;
  for (double& w : weights)
    if (w == 0) w = 1;
  return weights;
}

Status verify_entries(const Graph& graph) { return EntryCheck(graph).run(); }

}  // namespace shw
