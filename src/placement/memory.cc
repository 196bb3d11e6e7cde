#include "placement/memory.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ops/op_def.h"

namespace shw {

namespace {

bool is_view(OpKind op) { return op != OpKind::kInput && op_def(op).is_view; }

// Views that show their whole operand exactly once.
bool shows_whole_operand(OpKind op) {
  return op == OpKind::kAlias || op == OpKind::kView || op == OpKind::kPermute ||
         op == OpKind::kT || op == OpKind::kTranspose || op == OpKind::kSqueeze ||
         op == OpKind::kUnsqueeze || op == OpKind::kShardingConstraint;
}

}  // namespace

// Groups results that can share a storage, then charges each group's lifetime.
class MemoryModel::Builder {
 public:
  Builder(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
          double optimizer_factor)
      : graph_(graph), mesh_(mesh), strategies_(strategies), optimizer_factor_(optimizer_factor) {}

  MemoryModel run() {
    model_.strategies_ = &strategies_;
    model_.num_points_ = graph_.num_nodes();
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) add_members(NodeId{i});
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i)
      for (NodeId operand : graph_.operands(NodeId{i}))
        if (operand.valid() && !graph_.is_tuple(operand)) {
          Member& m = members_[member_[slot_of(operand, 0)]];
          m.end = std::max(m.end, i + 1);
        }
    for (const OutputInfo& out : graph_.outputs())
      if (out.node.valid()) add_returned(out);
    for (const auto& [root, group] : groups_) charge_group(group);
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) add_operand_copies(NodeId{i});
    return std::move(model_);
  }

 private:
  // A result that may own a storage. Members of one group share a storage if all their layouts are
  // equal.
  struct Member {
    NodeId node;
    uint32_t result;
    uint32_t root;          // member
    uint32_t of;            // the member it is a view of; itself if it is the root
    uint32_t end;           // one past the last node that reads it
    bool returned = false;  // in the caller's memory; so is its operand if the layouts are equal
  };

  uint32_t slot_of(NodeId n, size_t result) const {
    return graph_.node(n).first_result + static_cast<uint32_t>(result);
  }
  size_t element(NodeId get_item) const {
    return static_cast<size_t>(graph_.attrs(get_item).get_int(AttrKey::kIndex, 0));
  }

  // Views of a part, and broadcasts, do not become members: reading them counts as reading their
  // operand.
  void add_members(NodeId n) {
    const OpKind op = graph_.op(n);
    for (size_t r = 0; r < graph_.results(n).size(); ++r) {
      const auto index = static_cast<uint32_t>(members_.size());
      uint32_t of = index, root = index;
      if (is_view(op)) {
        const NodeId from = graph_.operands(n)[0];
        of = member_[slot_of(from, op == OpKind::kGetItem ? element(n) : 0)];
        root = members_[of].root;
        if (!shows_whole_operand(op)) {
          member_.push_back(of);
          continue;
        }
      }
      member_.push_back(index);
      members_.push_back({n, static_cast<uint32_t>(r), root, of, 0, false});
      groups_[root].push_back(index);
    }
  }

  bool is_input(uint32_t member) const {
    return graph_.op(members_[member].node) == OpKind::kInput;
  }

  // Inputs, values that are already returned, and parts of a value are returned as copies. An
  // in-place update needs no memory other than the input's.
  void add_returned(const OutputInfo& out) {
    const NodeId n = out.node;
    const uint32_t m = member_[slot_of(n, 0)];
    const auto& group = groups_.at(members_[m].root);
    const bool again = is_input(members_[m].root) || members_[m].node != n ||
                       std::ranges::any_of(group, [&](uint32_t g) { return members_[g].returned; });
    if (!again) members_[m].returned = true;
    if (!out.in_place) model_.uses_.push_back({n, 0, model_.num_points_, table(n, 0, 1), true});
  }

  // A member is charged for its group at the points first, …, end − 1.
  struct Charge {
    uint32_t member, first, end;
  };

  // Charges consecutive intervals (memory.h). Operands precede their views, so there are no gaps.
  void charge_group(const std::vector<uint32_t>& group) {
    const uint32_t root = group.front(), all = model_.num_points_;
    std::vector<Charge> charges;
    const auto returned =
        std::ranges::find_if(group, [&](uint32_t g) { return members_[g].returned; });
    if (is_input(root)) {
      const NodeId n = members_[root].node;
      model_.uses_.push_back({n, 0, all, table(n, 0, copies_of_input(n))});
      charges.push_back({root, 0, all});
    } else if (returned != group.end()) {
      charges.push_back({*returned, 0, all});  // add_returned() counts its bytes
    } else {
      uint32_t charged_to = members_[root].node.v;
      for (uint32_t g : group) {
        const Member& m = members_[g];
        if (live_end(g) <= charged_to) continue;
        charges.push_back({g, charged_to, live_end(g)});
        model_.uses_.push_back({m.node, charged_to, live_end(g), table(m.node, m.result, 1)});
        charged_to = live_end(g);
      }
    }
    for (uint32_t g : group) {
      if (g != root) charge_view_copy(group, g, charges);
    }
  }

  // Adds the charge for a copy if `view` has another layout than its operand. It lasts while the
  // view (or a view of it) and the rest of the group are live together. It is for the side that is
  // not charged already.
  void charge_view_copy(const std::vector<uint32_t>& group, uint32_t view,
                        const std::vector<Charge>& charges) {
    std::vector<uint32_t> through{view};
    uint32_t end = live_end(view), others_end = 0;
    bool is_returned = members_[view].returned;
    for (uint32_t g : group) {
      if (g == view) continue;
      const bool seen =
          std::ranges::find(through, members_[g].of) != through.end() && g != members_[g].root;
      if (seen) through.push_back(g);
      is_returned |= seen && members_[g].returned;
      uint32_t& to = seen ? end : others_end;
      to = std::max(to, members_[g].returned || is_input(g) ? model_.num_points_ : live_end(g));
    }
    const Member &reader = members_[view], &of = members_[reader.of];
    const uint32_t from = is_returned ? members_[of.root].node.v : reader.node.v;
    const uint32_t to = is_returned ? others_end : std::min(end, others_end);
    for (const Charge& c : charges) {
      const uint32_t first = std::max(from, c.first), last = std::min(to, c.end);
      if (first >= last) continue;
      const bool charged_through_view = std::ranges::find(through, c.member) != through.end();
      const Member& payer = charged_through_view ? of : reader;
      model_.copies_.push_back({reader.node, of.node, 0, of.result, !charged_through_view, first,
                                last, table(payer.node, payer.result, 1)});
    }
  }

  // The end of a member's lifetime. A result is live at the node that makes it, unless nothing
  // reads it and it is an element of a tuple.
  uint32_t live_end(uint32_t member) const {
    const Member& m = members_[member];
    if (m.end == 0 && graph_.is_tuple(m.node)) return 0;
    return member == m.root ? std::max(m.end, m.node.v + 1) : m.end;
  }

  double copies_of_input(NodeId n) const {
    const auto input = static_cast<size_t>(graph_.input_index(n));
    return graph_.inputs()[input].role == InputRole::kParameter ? 1 + optimizer_factor_ : 1;
  }

  // Charges the copies of operands. Equal operands usually share one copy.
  void add_operand_copies(NodeId n) {
    if (is_view(graph_.op(n))) return;
    const auto operands = graph_.operands(n);
    for (uint32_t k = 0; k < operands.size(); ++k) {
      const NodeId from = operands[k];
      if (!from.valid() || graph_.is_tuple(from)) continue;
      if (std::ranges::count(operands.first(k), from) > 0) continue;
      model_.copies_.push_back({n, from, k, 0, true, n.v, n.v + 1, operand_table(n, k)});
    }
  }
  // Bytes by strategy; nodes of one class share a table.
  uint32_t table(NodeId n, size_t result, double copies) {
    const auto [it, is_new] = table_of_.try_emplace({strategies_.set_of(n).v, result, copies},
                                                    static_cast<uint32_t>(model_.tables_.size()));
    if (is_new)
      fill_table(n, *graph_.results(n)[result], copies, [&](uint32_t s) -> const Layout& {
        return strategies_.result_layout(n, result, s);
      });
    return it->second;
  }
  uint32_t operand_table(NodeId n, size_t k) {
    const auto [it, is_new] = operand_table_of_.try_emplace(
        {strategies_.set_of(n).v, k}, static_cast<uint32_t>(model_.tables_.size()));
    if (is_new)
      fill_table(n, graph_.type(graph_.operands(n)[k]), 1,
                 [&](uint32_t s) -> const Layout& { return strategies_.operand_layout(n, k, s); });
    return it->second;
  }
  template <class LayoutOf>
  void fill_table(NodeId n, const TensorType& type, double copies, LayoutOf&& layout_of) {
    std::vector<double>& bytes = model_.tables_.emplace_back();
    for (uint32_t s = 0; s < strategies_.of(n).count; ++s) {
      const Dims local = local_shape(type.shape, layout_of(s), mesh_);
      bytes.push_back(copies * static_cast<double>(row_major(type.dtype, local).bytes()));
    }
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const Strategies& strategies_;
  const double optimizer_factor_;
  std::vector<uint32_t> member_;  // by slot: Node::first_result + result
  std::vector<Member> members_;
  std::map<uint32_t, std::vector<uint32_t>> groups_;  // by root, in node order
  std::map<std::tuple<uint32_t, size_t, double>, uint32_t> table_of_;
  std::map<std::pair<uint32_t, size_t>, uint32_t> operand_table_of_;
  MemoryModel model_;
};

namespace {

MemoryPeak highest(std::span<const double> bytes) {
  if (bytes.empty()) return {};
  const auto it = std::max_element(bytes.begin(), bytes.end());
  return {*it, NodeId{static_cast<uint32_t>(it - bytes.begin())}};
}

}  // namespace

MemoryModel MemoryModel::of(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
                            double optimizer_factor) {
  MemoryModel model = Builder(graph, mesh, strategies, optimizer_factor).run();
  model.optimizer_factor_ = optimizer_factor;
  return model;
}

uint32_t MemoryModel::add_budget(double limit_bytes, const CountedCopies& copies,
                                 solver::PlacementProblem& problem) const {
  const uint32_t budget = problem.add_budget(limit_bytes);
  for (const Use& use : uses_)
    problem.add_usage(budget, use.node.v, use.first, use.end, bytes(use));
  add_copies(budget, copies, problem);
  return budget;
}

std::vector<double> MemoryModel::bytes_at_points(std::span<const uint32_t> choice) const {
  std::vector<double> bytes(num_points_ + 1, 0);
  const auto add = [&](uint32_t first, uint32_t end, double held) {
    bytes[first] += held;
    bytes[end] -= held;
  };
  for (const Use& use : uses_)
    add(use.first, use.end,
        choice.empty() ? *std::ranges::min_element(tables_[use.table])
                       : tables_[use.table][choice[use.node.v]]);
  if (!choice.empty())
    for (const Copy& c : copies_) {
      if (is_copied(c, choice)) add(c.first, c.end, copied_bytes(c, choice));
    }
  for (size_t i = 1; i < bytes.size(); ++i) bytes[i] += bytes[i - 1];
  bytes.pop_back();
  return bytes;
}

MemoryPeak MemoryModel::peak(std::span<const uint32_t> choice) const {
  return highest(bytes_at_points(choice));
}

MemoryPeak MemoryModel::floor() const { return highest(bytes_at_points({})); }

}  // namespace shw
