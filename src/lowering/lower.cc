#include "lowering/lower.h"

#include "lowering/padding.h"
#include "lowering/place.h"
#include "lowering/slots.h"
#include "lowering/versions.h"
#include "lowering/window.h"
#include "lowering/written_order.h"
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
        slots_(slots_of(graph, options.copies)),
        written_order_(written_orders(graph)),
        builder_(program_),
        versions_(num_results(graph), builder_, redistributor_, prices_),
        padding_(graph, mesh, a_, builder_, prices_) {}

  Result<Program> run() {
    for (int m = 0; m < mesh_.rank(); ++m) program_.mesh.push_back({mesh_.name(m), mesh_.size(m)});
    program_.entries.push_back({"step", {}, {}, 0, 0});
    find_wanted();
    for (uint32_t i = 0; i < g_.num_nodes(); ++i)
      if (Status s = check_layouts(NodeId{i}); !s.ok())
        return at_origin(std::move(s), g_, NodeId{i});
    for (uint32_t i = 0; i < g_.num_nodes(); ++i) {
      if (i % 256 == 0) SHW_RETURN_IF_ERROR(monitor_.poll());
      if (Status s = lower_node(NodeId{i}); !s.ok()) return at_origin(std::move(s), g_, NodeId{i});
      if (options_.copies == Copies::kAsPlanned) versions_.drop_copies();
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
    last_read_.assign(wanted_.size(), 0);
    for (uint32_t i = 0; i < g_.num_nodes(); ++i)
      for (NodeId o : g_.operands(NodeId{i}))
        if (o.valid()) last_read_[slots_[o.v].index] = i;
    const UserTable users(g_);
    std::vector<uint8_t> returned(g_.num_nodes(), 0);
    for (const OutputInfo& out : g_.outputs())
      if (out.node.valid()) returned[out.node.v] = 1;
    for (uint32_t i = 0; i < g_.num_nodes(); ++i)
      if (!g_.is_tuple(NodeId{i}) && (returned[i] || !users.users(NodeId{i}).empty()))
        wanted_[slots_[i].index] = 1;
  }

  Status check_layouts(NodeId n) const {
    const auto results = g_.results(n);
    for (size_t r = 0; r < results.size(); ++r)
      if (results[r]) SHW_RETURN_IF_ERROR(check_layout(results[r]->shape, a_.results(n)[r]));
    const auto operands = g_.operands(n);
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid() && !g_.is_tuple(operands[k])) {
        SHW_RETURN_IF_ERROR(check_layout(g_.type(operands[k]).shape, a_.operands(n)[k]));
        SHW_RETURN_IF_ERROR(check_average(n, k));
      }
    return {};
  }

  Status check_layout(const Dims& shape, const Layout& layout) const {
    if (layout.has_strided() && !is_evenly_sharded(shape, layout, mesh_))
      return invalid_argument("strided shards " + to_string(layout, mesh_.rank()) + " do not cut " +
                              to_string(row_major(Dtype::kF32, shape)) + " evenly");
    if (is_shardable(shape, layout, mesh_)) return {};
    return invalid_argument("layout " + to_string(layout, mesh_.rank()) + " does not cut " +
                            to_string(row_major(Dtype::kF32, shape)) +
                            ": a dim is not there, or has no element for every rank");
  }

  // An average of averages over blocks of different sizes is not the average. `compat` offers it.
  Status check_average(NodeId n, size_t k) const {
    const Dims& shape = g_.type(g_.operands(n)[k]).shape;
    for (int m = 0; m < mesh_.rank(); ++m) {
      const Placement in = a_.operands(n)[k][m], out = a_.results(n)[0][m];
      if (in.is_shard() && out == Placement::partial(ReduceOp::kAvg) &&
          !cuts_evenly(shape, a_.operands(n)[k], mesh_, static_cast<size_t>(in.dim())))
        return unimplemented(
            "averages over uneven shards do not average: dim " + std::to_string(in.dim()) + " of " +
            to_string(g_.type(g_.operands(n)[k])) + " as " +
            to_string(a_.operands(n)[k], mesh_.rank()) + "; rules full do not offer it");
    }
    return {};
  }

  Layout result_layout(NodeId n, size_t r) const {
    return redistributor_.canonical(a_.results(n)[r]);
  }
  TensorType local_type(const TensorType& global, const Layout& layout) const {
    return row_major(global.dtype, local_shape(global.shape, layout, mesh_));
  }

  // The operand in the layout that the node wants; with padding filled where it would count.
  Result<ValueId> version(NodeId n, size_t k) {
    const NodeId from = g_.operands(n)[k];
    const Layout wanted = redistributor_.canonical(a_.operands(n)[k]);
    return versions_.get(holder(from, wanted, n.v), wanted);
  }
  // The slot to read a value from: where an alias lies otherwise than a use wants it, but what it
  // stands for does not, and is there anyway, that.
  uint32_t holder(NodeId value, const Layout& wanted, uint32_t reader) const {
    const uint32_t own = slots_[value.v].index;
    if (versions_.defined_in(own, wanted)) return own;
    for (NodeId n = value; g_.op(n) == OpKind::kAlias;) {
      n = g_.operands(n)[0];
      const uint32_t slot = slots_[n.v].index;
      if (last_read_[slot] < reader && g_.op(n) != OpKind::kInput) break;
      if (versions_.defined_in(slot, wanted)) return slot;
    }
    return own;
  }
  Result<ValueId> operand(NodeId n, size_t k) {
    SHW_ASSIGN_OR_RETURN(const ValueId piece, version(n, k));
    const Layout layout = redistributor_.canonical(a_.operands(n)[k]);
    const auto fill = padding_.wanted(n, k, layout);
    return fill ? padding_.filled(g_.type(g_.operands(n)[k]).shape, layout, piece, *fill) : piece;
  }

  Status lower_node(NodeId n) {
    builder_.serve(g_.origin(n), g_.meta(n).phase);
    const OpKind op = g_.op(n);
    if (only_names(op, options_.copies)) return {};
    if (op == OpKind::kAlias) return lower_alias(n);
    if (op == OpKind::kInput) return lower_input(n);
    if (op_def(op).is_view) return lower_view(n);
    return is_product(op) && !written_order_[n.v].empty() ? lower_product(n) : lower_op(n);
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

  Status lower_alias(NodeId n) {
    SHW_ASSIGN_OR_RETURN(const ValueId value, version(n, 0));
    versions_.define(slots_[n.v].index, g_.type(n), result_layout(n, 0), value);
    return {};
  }

  Status lower_view(NodeId n) {
    const NodeId from = g_.operands(n)[0];
    SHW_ASSIGN_OR_RETURN(ValueId in, version(n, 0));
    const TensorType& global = g_.type(from);
    const auto results = g_.results(n);
    for (uint32_t r = 0; r < results.size(); ++r) {
      const uint32_t slot = slots_[n.v].index + r;
      if (!results[r] || (g_.is_tuple(n) && !wanted_[slot])) continue;
      const Layout layout = result_layout(n, r);
      const Dims shape = local_shape(results[r]->shape, layout, mesh_);
      auto window = view_window(g_.op(n), g_.attrs(n), global, builder_.value(in), shape, r);
      if (!window) {
        in = builder_.clone(in, prices_.copy_us(builder_.value(in).type.bytes()));
        window = view_window(g_.op(n), g_.attrs(n), global, builder_.value(in), shape, r);
      }
      if (!window)  // compat asks only whether each mesh dim alone divides the dim
        return unimplemented(
            "a view of uneven blocks is none: " + to_string(a_.operands(n)[0], mesh_.rank()) +
            " of " + to_string(global) + "; rules full do not offer it");
      versions_.define(slot, *results[r], layout,
                       builder_.window(window->type, window->storage, window->offset_bytes));
    }
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
      outputs.push_back(fresh_result(n, r));
    }
    ProgramStep& step =
        builder_.step(op_name(g_.op(n)), std::move(inputs), std::move(outputs), cost_of(n));
    step.attrs = g_.attrs(n);
    if (const Dims& order = written_order_[n.v]; !order.empty())
      step.attrs.set(AttrKey::kDims, std::vector<int64_t>(order.begin(), order.end()));
    if (op_def(g_.op(n)).wants_place != Place::kNone) say_place(n, step.attrs);
    return {};
  }
  void say_place(NodeId n, Attrs& attrs) const {
    const OpDef& def = op_def(g_.op(n));
    const bool of_result = def.wants_place == Place::kOfResult;
    const Dims& shape = of_result ? g_.type(n).shape : g_.type(g_.operands(n)[0]).shape;
    const Layout layout =
        of_result ? result_layout(n, 0) : redistributor_.canonical(a_.operands(n)[0]);
    if (def.is_random || local_shape(shape, layout, mesh_) != shape)
      set_place(attrs, shape, layout);
    // Each random node draws its own numbers, in every run the same.
    if (def.is_random && !attrs.has(AttrKey::kSeed)) attrs.set(AttrKey::kSeed, int64_t{n.v});
  }
  double cost_of(NodeId n) const {
    return options_.compute_us.empty() ? 0 : options_.compute_us[n.v];
  }

  // Where a result is written; the slot is defined as its readers see it.
  ValueId fresh_result(NodeId n, uint32_t r) {
    const TensorType& global = *g_.results(n)[r];
    const Layout layout = result_layout(n, r);
    const uint32_t slot = slots_[n.v].index + r;
    const Dims& order = written_order_[n.v];
    if (order.empty() || r >= num_ordered_results(g_.op(n))) {
      const ValueId out = builder_.fresh(local_type(global, layout));
      versions_.define(slot, global, layout, out);
      return out;
    }
    const Dims shape = local_shape(global.shape, layout, mesh_);
    Dims lies;
    for (int64_t d : order) lies.push_back(shape[static_cast<size_t>(d)]);
    const ValueId out = builder_.fresh(row_major(global.dtype, lies));
    TensorType seen{shape, shape, global.dtype};
    for (size_t i = 0; i < order.size(); ++i)
      seen.strides[static_cast<size_t>(order[i])] = row_major_strides(lies)[i];
    versions_.define(slot, global, layout, builder_.window_like(out, seen));
    return out;
  }

  // A product in the order of dims of the permute behind it.
  Status lower_product(NodeId n) {
    SHW_ASSIGN_OR_RETURN(ValueId a, operand(n, 0));
    SHW_ASSIGN_OR_RETURN(ValueId b, operand(n, 1));
    const Dims& order = written_order_[n.v];
    const ValueId out = fresh_result(n, 0);
    Attrs attrs = g_.attrs(n);
    if (g_.op(n) == OpKind::kEinsum) {
      std::string equation(attrs.get_string(AttrKey::kEquation));
      const size_t result = equation.size() - order.size();
      const std::string letters = equation.substr(result);
      for (size_t i = 0; i < order.size(); ++i)
        equation[result + i] = letters[static_cast<size_t>(order[i])];
      attrs.set(AttrKey::kEquation, equation);
    } else if (order[0] == 1) {  // (ab)ᵀ = bᵀaᵀ
      const ValueId a_transposed = transposed(a);
      a = transposed(b);
      b = a_transposed;
    }
    builder_.step(op_name(g_.op(n)), {a, b}, {out}, cost_of(n)).attrs = std::move(attrs);
    return {};
  }
  ValueId transposed(ValueId matrix) {
    const TensorType t = builder_.value(matrix).type;
    return builder_.window_like(matrix,
                                {{t.shape[1], t.shape[0]}, {t.strides[1], t.strides[0]}, t.dtype});
  }

  Status lower_output(const OutputInfo& out) {
    auto& ports = program_.entries[0].outputs;
    const auto number = static_cast<uint32_t>(ports.size());
    const auto role = static_cast<PortRole>(static_cast<int>(out.role) + 10);
    if (!out.node.valid()) {
      ports.push_back({g_.full_name(out), role, {}, {}, {}});
      return {};
    }
    builder_.serve(g_.origin(out.node), g_.meta(out.node).phase);
    const TensorType global = row_major(g_.type(out.node).dtype, g_.type(out.node).shape);
    const Layout layout = without_partials(a_.results(out.node)[0]);
    auto value = versions_.get(slots_[out.node.v].index, redistributor_.canonical(layout));
    if (!value.ok()) return at_origin(value.status(), g_, out.node);
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
  const Assignment& a_;
  const LowerOptions& options_;
  Monitor& monitor_;
  const MovePrices& prices_;
  Redistributor redistributor_;
  const std::vector<Slot> slots_;
  std::vector<uint8_t> wanted_;            // by slot
  std::vector<uint32_t> last_read_;        // by slot: the last node that reads it
  const std::vector<Dims> written_order_;  // by node
  Program program_;
  ProgramBuilder builder_;
  Versions versions_;
  Padding padding_;
};

}  // namespace

Result<Program> lower(const Graph& graph, const Mesh& mesh, const Assignment& assignment,
                      const MovePrices& prices, const LowerOptions& options, Monitor& monitor) {
  return Lowering(graph, mesh, assignment, prices, options, monitor).run();
}

}  // namespace shw
