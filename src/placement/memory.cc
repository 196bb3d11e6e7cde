#include "placement/memory.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ops/op_def.h"

namespace shw {

// Finds the storages, then the last point of each.
class MemoryModel::Builder {
 public:
  Builder(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
          double optimizer_factor)
      : graph_(graph), mesh_(mesh), strategies_(strategies), optimizer_factor_(optimizer_factor) {}

  MemoryModel run() {
    model_.num_points_ = graph_.num_nodes();
    find_storages();
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i)
      for (NodeId operand : graph_.operands(NodeId{i}))
        if (operand.valid()) read(operand, i);
    for (const OutputInfo& out : graph_.outputs())
      if (out.node.valid()) hand_over(out.node);
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) add_uses(NodeId{i});
    return std::move(model_);
  }

 private:
  bool is_view(NodeId n) const {
    return graph_.op(n) != OpKind::kInput && op_def(graph_.op(n)).is_view;
  }
  uint32_t slot_of(NodeId n, size_t result) const {
    return graph_.node(n).first_result + static_cast<uint32_t>(result);
  }
  size_t element(NodeId get_item) const {
    return static_cast<size_t>(graph_.attrs(get_item).get_int(AttrKey::kIndex, 0));
  }

  // For every result the one whose storage it lies in.
  void find_storages() {
    size_t num_slots = 0;
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) num_slots += graph_.results(NodeId{i}).size();
    storage_.resize(num_slots);
    end_.resize(num_slots, 0);
    callers_.resize(num_slots, 0);
    for (const InputInfo& in : graph_.inputs()) callers_[slot_of(in.node, 0)] = 1;
    for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
      const NodeId n{i};
      for (size_t r = 0; r < graph_.results(n).size(); ++r) {
        const uint32_t slot = slot_of(n, r);
        storage_[slot] = slot;
        if (!is_view(n)) continue;
        const NodeId from = graph_.operands(n)[0];
        storage_[slot] = storage_[slot_of(from, graph_.op(n) == OpKind::kGetItem ? element(n) : 0)];
      }
    }
  }

  // Reading an element of a tuple is get_item's affair, and its users'.
  void read(NodeId operand, uint32_t point) {
    if (graph_.is_tuple(operand)) return;
    uint32_t& end = end_[storage_[slot_of(operand, 0)]];
    end = std::max(end, point + 1);
  }

  // What is returned lies in the caller's memory, there for the whole step; an input, or what is
  // returned already, is returned as a copy.
  void hand_over(NodeId n) {
    const uint32_t storage = storage_[slot_of(n, 0)];
    if (callers_[storage]) model_.uses_.push_back({n, 0, model_.num_points_, table(n, 0, 1), true});
    callers_[storage] = 1;
  }

  void add_uses(NodeId n) {
    if (const int32_t input = graph_.input_index(n); input >= 0) {
      const bool parameter =
          graph_.inputs()[static_cast<size_t>(input)].role == InputRole::kParameter;
      const double copies = parameter ? 1 + optimizer_factor_ : 1;
      model_.uses_.push_back({n, 0, model_.num_points_, table(n, 0, copies)});
      return;
    }
    if (is_view(n)) return;
    const auto results = graph_.results(n);
    for (size_t r = 0; r < results.size(); ++r) {
      const uint32_t end = end_[slot_of(n, r)];
      if (callers_[slot_of(n, r)]) {
        model_.uses_.push_back({n, 0, model_.num_points_, table(n, r, 1), true});
        continue;
      }
      if (!results[r] || (end == 0 && graph_.is_tuple(n))) continue;  // never made
      model_.uses_.push_back({n, n.v, std::max(end, n.v + 1), table(n, r, 1)});
    }
  }

  // Bytes by strategy; nodes of one class share them.
  uint32_t table(NodeId n, size_t result, double copies) {
    const auto [it, is_new] = table_of_.try_emplace({strategies_.set_of(n).v, result, copies},
                                                    static_cast<uint32_t>(model_.tables_.size()));
    if (!is_new) return it->second;
    const TensorType& type = *graph_.results(n)[result];
    std::vector<double>& bytes = model_.tables_.emplace_back();
    for (uint32_t s = 0; s < strategies_.of(n).count; ++s) {
      const Dims local = local_shape(type.shape, strategies_.result_layout(n, result, s), mesh_);
      bytes.push_back(copies * static_cast<double>(row_major(type.dtype, local).bytes()));
    }
    return it->second;
  }

  const Graph& graph_;
  const Mesh& mesh_;
  const Strategies& strategies_;
  const double optimizer_factor_;
  // By slot: Node::first_result + result. That of the storage; and of a storage the point after the
  // last that reads it, and whether the caller holds it: inputs, what is returned.
  std::vector<uint32_t> storage_, end_;
  std::vector<uint8_t> callers_;
  std::map<std::tuple<uint32_t, size_t, double>, uint32_t> table_of_;
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

uint32_t MemoryModel::add_budget(double limit_bytes, solver::PlacementProblem& problem) const {
  const uint32_t budget = problem.add_budget(limit_bytes);
  for (const Use& use : uses_)
    problem.add_usage(budget, use.node.v, use.first, use.end, bytes(use));
  return budget;
}

std::vector<double> MemoryModel::bytes_at_points(std::span<const uint32_t> choice) const {
  std::vector<double> bytes(num_points_ + 1, 0);
  for (const Use& use : uses_) {
    const double held = choice.empty() ? *std::ranges::min_element(tables_[use.table])
                                       : tables_[use.table][choice[use.node.v]];
    bytes[use.first] += held;
    bytes[use.end] -= held;
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
