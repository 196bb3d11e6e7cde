#include "lowering/lower.h"

#include "lowering/shard_order.h"
#include "lowering/slots.h"
#include "lowering/versions.h"
#include "lowering/window.h"
#include "ops/op_def.h"

namespace shw {
namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, const Mesh& mesh, const Assignment& assignment,
           const MovePrices& prices, const LowerOptions& options, Monitor& monitor)
      : g_(graph),
        mesh_(mesh),
        a_(assignment),
        options_(options),
        monitor_(monitor),
        prices_(prices),
        redistributor_(mesh, prices_),
        slots_(slots_of(graph)),
        builder_(program_),
        versions_(num_results(graph), builder_, redistributor_, prices_) {}

  Result<Program> run() {
    for (int m = 0; m < mesh_.rank(); ++m) program_.mesh.push_back({mesh_.name(m), mesh_.size(m)});
    program_.entries.push_back({"step", {}, {}, 0, 0});
    find_wanted();
    for (uint32_t i = 0; i < g_.num_nodes(); ++i)
      if (Status s = check_even(NodeId{i}); !s.ok()) return s.at_node(i, g_.name(NodeId{i}));
    if (options_.choose_shard_orders)
      SHW_RETURN_IF_ERROR(choose_shard_orders(g_, redistributor_, a_, monitor_));
    for (uint32_t i = 0; i < g_.num_nodes(); ++i) {
      if (i % 256 == 0) SHW_RETURN_IF_ERROR(monitor_.poll());
      if (Status s = lower_node(NodeId{i}); !s.ok()) return s.at_node(i, g_.name(NodeId{i}));
    }
    for (const OutputInfo& out : g_.outputs()) SHW_RETURN_IF_ERROR(lower_output(out));
    program_.entries[0].num_steps = static_cast<uint32_t>(program_.steps.size());
    SHW_RETURN_IF_ERROR(verify(program_, /*planned=*/false));
    return std::move(program_);
  }

 private:
  static size_t num_results(const Graph& g) {
    if (g.num_nodes() == 0) return 0;
    const Node& last = g.node(NodeId{g.num_nodes() - 1});
    return last.first_result + last.num_results;
  }

  // Of a tuple only the results that someone takes out of it are computed.
  void find_wanted() {
    wanted_.assign(num_results(g_), 0);
    const UserTable users(g_);
    std::vector<uint8_t> returned(g_.num_nodes(), 0);
    for (const OutputInfo& out : g_.outputs())
      if (out.node.valid()) returned[out.node.v] = 1;
    for (uint32_t i = 0; i < g_.num_nodes(); ++i)
      if (!g_.is_tuple(NodeId{i}) && (returned[i] || !users.users(NodeId{i}).empty()))
        wanted_[slots_[i].index] = 1;
  }

  Status check_even(NodeId n) const {
    const auto results = g_.results(n);
    for (size_t r = 0; r < results.size(); ++r)
      if (results[r]) SHW_RETURN_IF_ERROR(check_even(results[r]->shape, a_.results(n)[r]));
    const auto operands = g_.operands(n);
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid() && !g_.is_tuple(operands[k]))
        SHW_RETURN_IF_ERROR(check_even(g_.type(operands[k]).shape, a_.operands(n)[k]));
    return {};
  }

  Status check_even(const Dims& shape, const Layout& layout) const {
    Dims left = shape;
    for (int m = 0; m < mesh_.rank(); ++m) {
      if (!layout[m].is_shard()) continue;
      const auto d = static_cast<size_t>(layout[m].dim());
      if (d >= shape.size())
        return invalid_argument("layout " + to_string(layout, mesh_.rank()) +
                                " shards a dim that the tensor has not");
      if (left[d] % mesh_.size(m) != 0)
        return unimplemented("uneven shards: dim " + std::to_string(d) + " of size " +
                             std::to_string(shape[d]) + " as " + to_string(layout, mesh_.rank()) +
                             ", where " + std::to_string(left[d]) +
                             " does not divide by mesh dim '" + mesh_.name(m) + "' of size " +
                             std::to_string(mesh_.size(m)));
      left[d] /= mesh_.size(m);
    }
    return {};
  }

  Layout result_layout(NodeId n, size_t r) const {
    return redistributor_.canonical(a_.results(n)[r]);
  }
  TensorType local_type(const TensorType& global, const Layout& layout) const {
    return row_major(global.dtype, local_shape(global.shape, layout, mesh_));
  }

  Result<ValueId> operand(NodeId n, size_t k) {
    const NodeId o = g_.operands(n)[k];
    return versions_.get(slots_[o.v].index, redistributor_.canonical(a_.operands(n)[k]));
  }

  Status lower_node(NodeId n) {
    builder_.serve(n, g_.meta(n).phase);
    const OpKind op = g_.op(n);
    if (only_names(op)) return {};
    if (op == OpKind::kInput) return lower_input(n);
    return op_def(op).is_view ? lower_view(n) : lower_op(n);
  }

  // What a port can say: a partial value cannot be handed over.
  static Layout without_partials(Layout layout) {
    for (Placement& p : layout.placement)
      if (p.is_partial()) p = Placement::replicate();
    return normalised(layout);
  }

  Status lower_input(NodeId n) {
    const int32_t number = g_.input_index(n);
    SHW_CHECK(number >= 0);
    const InputInfo& info = g_.inputs()[static_cast<size_t>(number)];
    if (a_.results(n)[0].has_partial() && !options_.allow_partial_inputs)
      return invalid_argument("an input cannot be partial: " +
                              to_string(a_.results(n)[0], mesh_.rank()));
    const Layout layout = without_partials(a_.results(n)[0]);
    const TensorType global = row_major(g_.type(n).dtype, g_.type(n).shape);
    const ValueId value = builder_.fresh(local_type(global, layout), StorageKind::kInput,
                                         static_cast<uint32_t>(number));
    auto& ports = program_.entries[0].inputs;
    ports.resize(std::max(ports.size(), static_cast<size_t>(number) + 1));
    ports[static_cast<size_t>(number)] = {g_.full_name(info), static_cast<PortRole>(info.role),
                                          global, layout, value};
    versions_.define(slots_[n.v].index, global, result_layout(n, 0), value);
    return {};
  }

  Status lower_view(NodeId n) {
    SHW_ASSIGN_OR_RETURN(ValueId in, operand(n, 0));
    const Layout layout = result_layout(n, 0);
    const Dims shape = local_shape(g_.type(n).shape, layout, mesh_);
    const TensorType& global = g_.type(g_.operands(n)[0]);
    auto window = view_window(g_.op(n), g_.attrs(n), global, builder_.value(in), shape);
    if (!window) {
      in = builder_.clone(in, prices_.copy_us(builder_.value(in).type.bytes()));
      window = view_window(g_.op(n), g_.attrs(n), global, builder_.value(in), shape);
    }
    SHW_CHECK(window.has_value());
    versions_.define(slots_[n.v].index, g_.type(n), layout,
                     builder_.window(window->type, window->storage, window->offset_bytes));
    return {};
  }

  Status lower_op(NodeId n) {
    const auto operands = g_.operands(n);
    std::vector<ValueId> inputs(operands.size()), outputs;
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid()) {
        SHW_ASSIGN_OR_RETURN(inputs[k], operand(n, k));
      }
    const auto results = g_.results(n);
    for (uint32_t r = 0; r < results.size(); ++r) {
      const uint32_t slot = slots_[n.v].index + r;
      if (!results[r] || (g_.is_tuple(n) && !wanted_[slot])) {
        outputs.push_back({});
        continue;
      }
      const Layout layout = result_layout(n, r);
      outputs.push_back(builder_.fresh(local_type(*results[r], layout)));
      versions_.define(slot, *results[r], layout, outputs.back());
    }
    const double cost = options_.compute_us.empty() ? 0 : options_.compute_us[n.v];
    builder_.step(op_name(g_.op(n)), std::move(inputs), std::move(outputs), cost).attrs =
        g_.attrs(n);
    return {};
  }

  Status lower_output(const OutputInfo& out) {
    auto& ports = program_.entries[0].outputs;
    const auto number = static_cast<uint32_t>(ports.size());
    const auto role = static_cast<PortRole>(static_cast<int>(out.role) + 10);
    if (!out.node.valid()) {
      ports.push_back({g_.full_name(out), role, {}, {}, {}});
      return {};
    }
    builder_.serve(out.node, g_.meta(out.node).phase);
    const TensorType global = row_major(g_.type(out.node).dtype, g_.type(out.node).shape);
    const Layout layout = without_partials(a_.results(out.node)[0]);
    auto value = versions_.get(slots_[out.node.v].index, redistributor_.canonical(layout));
    if (!value.ok()) return Status(value.status()).at_node(out.node.v, g_.name(out.node));
    ports.push_back({g_.full_name(out), role, global, layout, handed_over(*value, number)});
    return {};
  }

  // The value in a storage that goes to the caller: its own, if nothing else is in it and it is no
  // input nor another output; else a copy.
  ValueId handed_over(ValueId value, uint32_t port) {
    const ProgramValue& v = builder_.value(value);
    ProgramStorage& storage = program_.storages[v.storage];
    if (storage.kind == StorageKind::kArena && v.type.contiguous() && v.offset_bytes == 0 &&
        v.type.bytes() == storage.bytes) {
      storage.kind = StorageKind::kOutput;
      storage.port = port;
      return builder_.window_like(value, row_major(v.type.dtype, v.type.shape));
    }
    const TensorType type = row_major(v.type.dtype, v.type.shape);
    const ValueId copy = builder_.fresh(type, StorageKind::kOutput, port);
    builder_.step("clone", {value}, {copy}, prices_.copy_us(type.bytes()));
    return copy;
  }

  const Graph& g_;
  const Mesh& mesh_;
  Assignment a_;  // ours: the shard orders are set in it
  const LowerOptions& options_;
  Monitor& monitor_;
  const MovePrices& prices_;
  Redistributor redistributor_;
  const std::vector<Slot> slots_;
  std::vector<uint8_t> wanted_;  // by slot
  Program program_;
  ProgramBuilder builder_;
  Versions versions_;
};

}  // namespace

Result<Program> lower(const Graph& graph, const Mesh& mesh, const Assignment& assignment,
                      const MovePrices& prices, const LowerOptions& options, Monitor& monitor) {
  return Lowering(graph, mesh, assignment, prices, options, monitor).run();
}

}  // namespace shw
