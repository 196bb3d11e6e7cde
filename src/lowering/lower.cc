#include "lowering/lower.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "lowering/lowered_memory.h"
#include "lowering/padding.h"
#include "lowering/piece_attrs.h"
#include "lowering/ports.h"
#include "lowering/shared_versions.h"
#include "lowering/slots.h"
#include "lowering/versions.h"
#include "lowering/window.h"
#include "lowering/written_order.h"
#include "ops/defaults.h"
#include "ops/entries.h"
#include "ops/op_def.h"
#include "ops/placed_tensor.h"
#include "strategy/alternatives.h"

namespace shw {
namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, const Assignment& assignment, Redistributor& redistributor,
           const LowerOptions& options, Monitor& monitor)
      : g_(graph),
        mesh_(redistributor.mesh()),
        a_(assignment),
        options_(options),
        monitor_(monitor),
        redistributor_(redistributor),
        prices_(redistributor.move_prices()),
        slots_(slots_of(graph, options.copies)),
        own_memory_(options.memory == nullptr ? lowered_memory(graph) : LoweredMemory()),
        memory_(options.memory == nullptr ? own_memory_ : *options.memory),
        entries_(graph.entries()),
        nodes_(nodes_of_entries(graph)),
        before_(entries_before(entries_)),
        users_(graph),
        builder_(program_),
        ports_(graph, mesh_, a_, program_, builder_, prices_) {}

  Result<Program> run() {
    program_.mesh = mesh_.axes();
    for (uint32_t i = 0; i < g_.num_nodes(); ++i)
      if (Status s = check_layouts(NodeId{i}); !s.ok())
        return at_origin(std::move(s), g_, NodeId{i});
    program_.symbols = g_.symbols().table;
    program_.values.reserve(size_t{2} * g_.num_nodes());
    program_.steps.reserve(g_.num_nodes());
    SHW_RETURN_IF_ERROR(ports_.create(options_.allow_partial_inputs));
    for (entry_ = 0; entry_ < entries_.size(); ++entry_) SHW_RETURN_IF_ERROR(lower_entry());
    ports_.finish();
    drop_unused_parts();
    if (options_.verify) SHW_RETURN_IF_ERROR(verify(program_, /*planned=*/false));
    if (options_.found != nullptr)
      *options_.found = shared_versions(g_, a_, redistributor_, slots_, *versions_.front(), reads_);
    return std::move(program_);
  }

 private:
  // Most programs use no parts of mesh dims. Their mesh is then the one that the caller gave.
  void drop_unused_parts() {
    const auto is_part = [](int64_t axis) { return axis >= kFirstMeshPart; };
    for (const ProgramStep& s : program_.steps)
      if (std::ranges::any_of(s.collective.axes, is_part) ||
          (is_local_slice(s) && std::ranges::any_of(s.attrs.get_ints(AttrKey::kDims), is_part)))
        return;
    for (Mesh::Axis& a : program_.mesh) a.parts.clear();
  }

  Status lower_entry() {
    const EntryInfo& info = entries_[entry_];
    const auto first_step = static_cast<uint32_t>(program_.steps.size());
    begin_entry();
    for (uint32_t i = 0; i < g_.num_nodes(); ++i) {
      if (!nodes_[entry_][i]) continue;
      if (i % 256 == 0) SHW_RETURN_IF_ERROR(monitor_.poll());
      if (Status s = lower_node(NodeId{i}); !s.ok()) return at_origin(std::move(s), g_, NodeId{i});
      if (options_.copies == Copies::kAsPlanned) versions().drop_copies();
    }
    for (uint32_t o : info.outputs) SHW_RETURN_IF_ERROR(lower_output(o));
    ports_.update_in_place(first_step);
    ProgramEntry& entry = program_.entries.emplace_back();
    entry.name = info.name;
    entry.weight = info.weight;
    entry.after = info.after;
    entry.bucket_of = info.bucket_of;
    entry.bucket = info.bucket;
    entry.first_step = first_step;
    entry.num_steps = static_cast<uint32_t>(program_.steps.size()) - first_step;
    for (uint32_t i : info.inputs) entry.inputs.push_back(Ports::of_input(i));
    for (uint32_t o : info.outputs)
      if (!is_state_update(o)) entry.outputs.push_back(ports_.of_output(o));
    return {};
  }

  // An entry starts with the versions that earlier entries of its session have left, and nothing
  // else.
  void begin_entry() {
    versions_.push_back(std::make_unique<Versions>(g_.num_results(), builder_, redistributor_,
                                                   prices_, memory_.orders));
    padding_.emplace(g_, mesh_, a_, builder_, prices_);
    std::vector<const Versions*> earlier;
    for (uint32_t e : entries_[entry_].after) earlier.push_back(versions_[e].get());
    versions().start_from(earlier);
    find_wanted();
  }
  Versions& versions() { return *versions_[entry_]; }
  bool is_state_update(uint32_t output) const {
    const OutputInfo& out = g_.outputs()[output];
    return out.in_place &&
           g_.inputs()[static_cast<size_t>(out.of_input)].storage == InputStorage::kState;
  }

  // Of a tuple, only the results that this entry or a later one reads are computed.
  void find_wanted() {
    std::vector<uint8_t> here(nodes_[entry_]), later(g_.num_nodes(), 0);
    std::vector<uint8_t> returned(g_.num_nodes(), 0), returned_later(g_.num_nodes(), 0);
    for (uint32_t e = entry_; e < entries_.size(); ++e) {
      const bool follows = std::ranges::binary_search(before_[e], entry_);
      if (e != entry_ && !follows) continue;
      for (uint32_t i = 0; follows && i < g_.num_nodes(); ++i) later[i] |= nodes_[e][i];
      for (uint32_t o : entries_[e].outputs)
        if (const NodeId n = g_.outputs()[o].node; n.valid()) {
          returned[n.v] = 1;
          returned_later[n.v] |= follows;
        }
    }
    wanted_.assign(g_.num_results(), 0);
    last_read_.assign(wanted_.size(), 0);
    read_later_.assign(g_.num_nodes(), 0);
    considered_.assign(g_.num_nodes(), 0);
    for (uint32_t i = g_.num_nodes(); i-- > 0;) {
      bool used = returned[i] != 0;
      for (NodeId u : users_.users(NodeId{i})) {
        used |= here[u.v] || later[u.v];
        read_later_[i] |= later[u.v] || (op_def(g_.op(u)).is_view && read_later_[u.v]);
      }
      read_later_[i] |= returned_later[i];
      if (used && !g_.is_tuple(NodeId{i})) wanted_[slots_[i].index] = 1;
    }
    for (uint32_t i = 0; i < g_.num_nodes(); ++i)
      if (here[i])
        for (NodeId o : g_.operands(NodeId{i}))
          if (o.valid()) last_read_[slots_[o.v].index] = i;
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

  // The operand in the layout that the node requires. operand() also fills its padding where it
  // would change the result.
  Result<ValueId> version(NodeId n, size_t k) {
    const NodeId from = g_.operands(n)[k];
    const Layout wanted = redistributor_.canonical(a_.operands(n)[k]);
    const GraphEdge edge{n, static_cast<uint32_t>(k)};
    if (options_.copies == Copies::kShared) {
      const SharedVersions::Read* read =
          options_.shared == nullptr ? nullptr : options_.shared->read(edge);
      if (read != nullptr) SHW_RETURN_IF_ERROR(make(read->from));
      if (g_.op(from) == OpKind::kAlias) SHW_RETURN_IF_ERROR(make_if_cheaper(from));
    }
    const uint32_t slot = holder(from, wanted, n.v);
    auto piece = versions().get(slot, wanted);
    if (const auto version = versions().index_of(slot, wanted);
        version && options_.found != nullptr)
      reads_.push_back({edge, *version});
    return piece;
  }
  // Makes a version that the plan shares between several uses, in its layout.
  Status make(const SharedVersions::Source& source) {
    const uint32_t slot = slots_[source.value.v].index;
    if (source.version == SharedVersions::kAsItLies)
      return versions().get(slot, result_layout(source.value, 0)).status();
    const SharedVersions::Version& version = options_.shared->versions[source.version];
    SHW_RETURN_IF_ERROR(make(version.from));
    return versions().get(slot, redistributor_.canonical(version.layout)).status();
  }
  // Makes the layout of a choice point before the first use of it, if that makes the versions for
  // all its uses cheaper: with it, a later use may save more than this use pays. A single use never
  // gains, since its own route is the cheapest.
  Status make_if_cheaper(NodeId alias) {
    if (std::exchange(considered_[alias.v], 1) != 0 || users_.users(alias).size() < 2) return {};
    const uint32_t slot = slots_[alias.v].index;
    const Layout own = result_layout(alias, 0);
    if (versions().index_of(slot, own)) return {};
    std::vector<Layout> wanted{own};
    for (NodeId user : users_.users(alias)) {
      if (!nodes_[entry_][user.v] || only_names(g_.op(user), options_.copies)) continue;
      for (size_t k = 0; k < g_.operands(user).size(); ++k)
        if (g_.operands(user)[k] == alias)
          wanted.push_back(redistributor_.canonical(a_.operands(user)[k]));
    }
    const std::span<const Layout> own_first(wanted);
    const double made_us = versions().price(slot, own_first);
    return made_us < versions().price(slot, own_first.subspan(1))
               ? versions().get(slot, own).status()
               : Status();
  }
  // The slot from which to read a value. If an alias has another layout than the use requires, but
  // its operand has the required layout and is still live, the use reads the operand.
  uint32_t holder(NodeId value, const Layout& wanted, uint32_t reader) {
    const uint32_t own = slots_[value.v].index;
    if (versions().defined_in(own, wanted)) return own;
    for (NodeId n = value; g_.op(n) == OpKind::kAlias;) {
      n = g_.operands(n)[0];
      const uint32_t slot = slots_[n.v].index;
      if (last_read_[slot] < reader && g_.op(n) != OpKind::kInput) break;
      if (versions().defined_in(slot, wanted)) return slot;
    }
    return own;
  }
  Result<ValueId> operand(NodeId n, size_t k) {
    SHW_ASSIGN_OR_RETURN(const ValueId piece, version(n, k));
    const Layout layout = redistributor_.canonical(a_.operands(n)[k]);
    const auto fill = padding_->wanted(n, k, layout);
    return fill ? padding_->filled(g_.type(g_.operands(n)[k]).shape, layout, piece, *fill) : piece;
  }

  Status lower_node(NodeId n) {
    builder_.serve(g_.origin(n), g_.meta(n).phase);
    const OpKind op = g_.op(n);
    if (only_names(op, options_.copies)) return {};
    if (op == OpKind::kAlias) return lower_alias(n);
    if (op == OpKind::kInput) return lower_input(n);
    if (op_def(op).is_view) return lower_view(n);
    return is_product(op) && !memory_.written[n.v].empty() ? lower_product(n) : lower_op(n);
  }

  Status lower_input(NodeId n) {
    const int32_t number = g_.input_index(n);
    SHW_CHECK(number >= 0);
    const auto input = static_cast<uint32_t>(number);
    versions().define(slots_[n.v].index, program_.ports[Ports::of_input(input)].global,
                      result_layout(n, 0), ports_.input_value(input));
    return {};
  }

  Status lower_alias(NodeId n) {
    SHW_ASSIGN_OR_RETURN(const ValueId value, version(n, 0));
    versions().define(slots_[n.v].index, g_.type(n), result_layout(n, 0), value);
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
      if (!window)  // compat only checks that each mesh dim alone divides the dim
        return unimplemented(
            "a view of uneven blocks is none: " + to_string(a_.operands(n)[0], mesh_.rank()) +
            " of " + to_string(global) + "; rules full do not offer it");
      versions().define(slot, *results[r], layout,
                        builder_.window(window->type, window->storage, window->offset_bytes));
    }
    return {};
  }

  Status lower_op(NodeId n) {
    const auto operands = g_.operands(n);
    ValueList inputs(operands.size()), outputs;
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
    step.attrs = without_defaults(g_.op(n), g_.attrs(n));
    if (g_.op(n) == OpKind::kLocalMap) SHW_RETURN_IF_ERROR(pick_alternative(n, step.attrs));
    if (const Dims& order = memory_.written[n.v]; !order.empty())
      step.attrs.set(AttrKey::kDims, std::vector<int64_t>(order.begin(), order.end()));
    if (const auto placed = placed_tensor(g_, n)) say_place(n, *placed, step.attrs);
    return {};
  }
  // Reduces the attributes of a region's step to those of the chosen alternative.
  Status pick_alternative(NodeId n, Attrs& attrs) const {
    if (options_.choice.empty()) return {};
    SHW_ASSIGN_OR_RETURN(const std::vector<StatedAlternative> all, alternatives_on(g_, n, mesh_));
    SHW_CHECK(options_.choice[n.v] < all.size());
    attrs = without_defaults(g_.op(n), all[options_.choice[n.v]].attrs);
    return {};
  }
  void say_place(NodeId n, const PlacedTensor& placed, Attrs& attrs) const {
    const bool is_random = op_def(g_.op(n)).is_random(g_.attrs(n));
    const Dims& shape = placed.is_result ? g_.results(n)[placed.at]->shape
                                         : g_.type(g_.operands(n)[placed.at]).shape;
    const Layout layout = placed.is_result ? result_layout(n, placed.at)
                                           : redistributor_.canonical(a_.operands(n)[placed.at]);
    if (is_random || local_shape(shape, layout, mesh_) != shape) set_piece(attrs, shape, layout);
    // Each random node of the caller's graph draws its own numbers, which do not depend on
    // rewrites.
    if (is_random && !attrs.has(AttrKey::kSeed)) attrs.set(AttrKey::kSeed, int64_t{g_.origin(n).v});
  }
  double cost_of(NodeId n) const {
    return options_.compute_us.empty() ? 0 : options_.compute_us[n.v];
  }

  // The window into which a result is written. The slot is defined with the type that its readers
  // see.
  ValueId fresh_result(NodeId n, uint32_t r) {
    const TensorType& global = *g_.results(n)[r];
    const Layout layout = result_layout(n, r);
    const uint32_t slot = slots_[n.v].index + r;
    const Dims& order = memory_.written[n.v];
    if (order.empty() || r >= num_ordered_results(g_.op(n))) {
      const ValueId out = builder_.fresh(local_type(global, layout));
      versions().define(slot, global, layout, out);
      return out;
    }
    const Dims shape = local_shape(global.shape, layout, mesh_);
    Dims lies;
    for (int64_t d : order) lies.push_back(shape[static_cast<size_t>(d)]);
    const ValueId out = builder_.fresh(row_major(global.dtype, lies));
    TensorType seen{shape, shape, global.dtype};
    for (size_t i = 0; i < order.size(); ++i)
      seen.strides[static_cast<size_t>(order[i])] = row_major_strides(lies)[i];
    versions().define(slot, global, layout, builder_.window_like(out, seen));
    return out;
  }

  // Writes a product in the order of dims of the permute that reads it.
  Status lower_product(NodeId n) {
    SHW_ASSIGN_OR_RETURN(ValueId a, operand(n, 0));
    SHW_ASSIGN_OR_RETURN(ValueId b, operand(n, 1));
    const Dims& order = memory_.written[n.v];
    const ValueId out = fresh_result(n, 0);
    Attrs attrs = without_defaults(g_.op(n), g_.attrs(n));
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

  Status lower_output(uint32_t output) {
    const NodeId n = g_.outputs()[output].node;
    if (!n.valid()) return {};
    builder_.serve(g_.origin(n), g_.meta(n).phase);
    const Layout& layout = program_.ports[ports_.of_output(output)].layout;
    auto value = versions().get(slots_[n.v].index, redistributor_.canonical(layout));
    if (!value.ok()) return at_origin(value.status(), g_, n);
    ports_.export_output(output, *value, read_later_[n.v]);
    return {};
  }

  const Graph& g_;
  const Mesh& mesh_;
  const Assignment& a_;
  const LowerOptions& options_;
  Monitor& monitor_;
  Redistributor& redistributor_;
  const MovePrices& prices_;
  const std::vector<Slot> slots_;
  const LoweredMemory own_memory_;  // unless the caller has it
  const LoweredMemory& memory_;
  const std::vector<EntryInfo> entries_;
  const std::vector<std::vector<uint8_t>> nodes_;    // by entry and node
  const std::vector<std::vector<uint32_t>> before_;  // by entry
  const UserTable users_;
  Program program_;
  ProgramBuilder builder_;
  Ports ports_;
  // For the current entry.
  uint32_t entry_ = 0;
  std::vector<uint8_t> wanted_;      // by slot
  std::vector<uint32_t> last_read_;  // by slot: the last node that reads it
  std::vector<uint8_t> read_later_;  // by node: whether an entry after this one reads its storage
  std::vector<uint8_t> considered_;  // by node: choice points that make_if_cheaper() has seen
  std::optional<Padding> padding_;
  std::vector<VersionRead> reads_;                   // if asked for
  std::vector<std::unique_ptr<Versions>> versions_;  // by entry
};

}  // namespace

Result<Program> lower(const Graph& graph, const Assignment& assignment,
                      Redistributor& redistributor, const LowerOptions& options, Monitor& monitor) {
  return Lowering(graph, assignment, redistributor, options, monitor).run();
}

}  // namespace shw
