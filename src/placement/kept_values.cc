#include "placement/kept_values.h"

#include <algorithm>
#include <utility>

#include "ops/op_def.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

// The storage of each result: views share that of their operands.
class Storages {
 public:
  explicit Storages(const Graph& graph) : graph_(graph) {
    for (uint32_t i = 0; i < graph.num_nodes(); ++i)
      for (uint32_t r = 0; r < graph.results(NodeId{i}).size(); ++r)
        slots_.push_back(shows_operand(NodeId{i}) ? of_operand(NodeId{i}, 0)
                                                  : slot_of(NodeId{i}, r));
  }
  bool shows_operand(NodeId n) const {
    return graph_.op(n) != OpKind::kInput && op_def(graph_.op(n)).is_view;
  }
  uint32_t slot_of(NodeId n, uint32_t result) const { return graph_.node(n).first_result + result; }
  uint32_t of(NodeId n) const { return slots_[slot_of(n, 0)]; }
  uint32_t of_operand(NodeId n, size_t operand) const {
    const NodeId from = graph_.operands(n)[operand];
    const bool element = graph_.op(n) == OpKind::kGetItem && graph_.is_tuple(from);
    return slots_[slot_of(
        from, element ? static_cast<uint32_t>(graph_.attrs(n).get_int(AttrKey::kIndex, 0)) : 0)];
  }
  size_t size() const { return slots_.size(); }

 private:
  const Graph& graph_;
  std::vector<uint32_t> slots_;
};

}  // namespace

KeptValues::KeptValues(const Graph& graph, const Mesh& mesh, const Strategies& strategies,
                       const MemoryModel& memory, ComputeUs compute_us)
    : strategies_(strategies), memory_(memory), compute_us_(std::move(compute_us)) {
  if (graph.entries().size() == 1) find_values(graph, mesh);
}

void KeptValues::find_values(const Graph& graph, const Mesh& mesh) {
  const Storages storages(graph);
  std::vector<uint8_t> read_backward(storages.size(), 0), returned(storages.size(), 0);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    if (graph.meta(n).phase != Phase::kBackward || storages.shows_operand(n)) continue;
    for (size_t k = 0; k < graph.operands(n).size(); ++k)
      if (const NodeId from = graph.operands(n)[k]; from.valid() && !graph.is_tuple(from))
        read_backward[storages.of_operand(n, k)] = 1;
  }
  for (const OutputInfo& out : graph.outputs())
    if (out.node.valid()) returned[storages.of(out.node)] = 1;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    if (graph.meta(n).phase != Phase::kForward || graph.op(n) == OpKind::kInput ||
        storages.shows_operand(n))
      continue;
    Value value{n, 0, std::vector<double>(strategies_.of(n).count, 0)};
    for (uint32_t r = 0; r < graph.results(n).size(); ++r) {
      const uint32_t slot = storages.slot_of(n, r);
      if (read_backward[slot] == 0 || returned[slot] != 0) continue;
      const TensorType& type = *graph.results(n)[r];
      value.least_bytes += static_cast<double>(row_major(type.dtype, type.shape).bytes()) /
                           static_cast<double>(mesh.num_ranks());
      for (uint32_t s = 0; s < value.own_bytes.size(); ++s) {
        const Dims local = local_shape(type.shape, strategies_.result_layout(n, r, s), mesh);
        value.own_bytes[s] += static_cast<double>(row_major(type.dtype, local).bytes());
      }
    }
    if (value.least_bytes > 0) values_.push_back(std::move(value));
  }
}

std::vector<double> KeptValues::prices(std::span<const uint32_t> choice) const {
  struct Kept {
    double us_per_byte, bytes;
  };
  std::vector<Kept> kept;
  double all = 0;
  constexpr double kAbove = 1.01;
  for (const Value& v : values_) {
    const uint32_t s = choice[v.node.v];
    kept.push_back({compute_us_(v.node)[s] / v.own_bytes[s], v.own_bytes[s]});
    all += v.own_bytes[s];
  }
  sort_stably(kept, {}, &Kept::us_per_byte);
  constexpr int kShares = 32;
  std::vector<double> prices;
  double repeated = 0;
  int share = 1;
  for (const Kept& k : kept) {
    repeated += k.bytes;
    if (repeated < all * share / kShares) continue;
    while (repeated >= all * share / kShares) ++share;
    // Slightly above the price of this value, so that it is computed again.
    if (prices.empty() || kAbove * k.us_per_byte > prices.back())
      prices.push_back(kAbove * k.us_per_byte);
  }
  return prices;
}

void KeptValues::add_least_costs(double us_per_byte, const AddCosts& add) const {
  std::vector<double> costs;
  for (const Value& v : values_) {
    costs.clear();
    for (const double again_us : compute_us_(v.node))
      costs.push_back(std::min(us_per_byte * v.least_bytes, again_us));
    add(v.node, costs);
  }
  add_held_costs(us_per_byte, add);
}

void KeptValues::add_kept_costs(double us_per_byte, std::span<const uint8_t> again,
                                const AddCosts& add) const {
  std::vector<double> costs;
  for (const Value& v : values_) {
    if (again[v.node.v] != 0) continue;
    costs.clear();
    for (const double bytes : v.own_bytes) costs.push_back(us_per_byte * bytes);
    add(v.node, costs);
  }
  add_held_costs(us_per_byte, add);
}

void KeptValues::add_held_costs(double us_per_byte, const AddCosts& add) const {
  std::vector<double> costs;
  for (const MemoryModel::Use& use : memory_.uses()) {
    if (use.first > 0 || use.end < memory_.num_points()) continue;
    costs.clear();
    for (const double bytes : memory_.bytes(use)) costs.push_back(us_per_byte * bytes);
    add(use.node, costs);
  }
}

}  // namespace shw
