// Plan → bytes. Everything is written in the order of the program's tables, pools in order of first
// use, so equal plans give equal bytes.
#include <cstring>
#include <unordered_map>

#include "plan/plan.h"
#include "plan/plan_format.h"
#include "plan_generated.h"
#include "support/hash.h"
#include "tensor/wire.h"

namespace shw {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// A pool of distinct entries, in order of first use.
template <class T, class Hash>
class Pool {
 public:
  uint32_t index_of(const T& item) {
    const uint64_t h = hash_(item);
    for (auto [it, end] = by_hash_.equal_range(h); it != end; ++it)
      if (*items_[it->second] == item) return it->second;
    by_hash_.emplace(h, static_cast<uint32_t>(items_.size()));
    items_.push_back(&item);
    return static_cast<uint32_t>(items_.size() - 1);
  }
  const std::vector<const T*>& items() const { return items_; }

 private:
  Hash hash_;
  std::vector<const T*> items_;                          // not owned: the plan outlives the writer
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;  // look-up only
};
struct HashOf {
  template <class T>
  uint64_t operator()(const T& t) const {
    return hash_of(t);
  }
  uint64_t operator()(const std::string& s) const { return hash_bytes(s); }
};

class Writer {
 public:
  // Reserves enough memory for most plans, so that the buffer is not copied as it grows.
  explicit Writer(const Plan& plan)
      : fbb_((size_t{1} << 16) + plan.source_graph.size() + 256 * plan.summary.decisions.size() +
             256 * plan.program.steps.size() + 64 * plan.program.values.size()) {}

  std::vector<uint8_t> write(const Plan& plan) {
    const auto program = write_program(plan.program);
    std::vector<Offset<fb::PlanDecision>> decisions;
    for (const NodeDecision& d : plan.summary.decisions) decisions.push_back(decision(d));
    std::vector<Offset<fb::MeshAxis>> mesh;
    for (const Mesh::Axis& a : plan.program.mesh)
      mesh.push_back(fb::CreateMeshAxis(fbb_, fbb_.CreateString(a.name), a.size,
                                        a.parts.empty() ? 0 : fbb_.CreateVector(a.parts)));
    const PlanSummary& s = plan.summary;
    const auto version = fbb_.CreateString(plan_format::kLibraryVersion);
    const auto axes = fbb_.CreateVector(mesh);
    const auto hardware = fbb_.CreateString(s.hardware);
    const auto rules = fbb_.CreateString(s.rules);
    const auto all = fbb_.CreateVector(decisions);
    const auto programs = fbb_.CreateVector(&program, 1);
    const auto symbols = wire::write_symbols(fbb_, plan.program.symbols);
    Offset<flatbuffers::Vector<uint8_t>> graph;
    if (!plan.source_graph.empty()) graph = fbb_.CreateVector(plan.source_graph);
    Offset<flatbuffers::String> peak_node;
    if (!s.memory_peak_node.empty()) peak_node = fbb_.CreateString(s.memory_peak_node);
    Offset<flatbuffers::String> overlap;
    if (!s.overlap.empty()) overlap = fbb_.CreateString(s.overlap);
    std::vector<Offset<fb::PlanMemoryShare>> shares;
    for (const MemoryShare& share : s.memory_shares) shares.push_back(memory_share(share));
    Offset<flatbuffers::Vector<Offset<fb::PlanMemoryShare>>> all_shares;
    if (!shares.empty()) all_shares = fbb_.CreateVector(shares);
    fbb_.Finish(
        fb::CreatePlan(fbb_, version, s.graph_hash, s.options_hash, s.mesh_hash, axes, hardware,
                       rules, s.objective_us, s.bound_us, s.proven, s.compute_us, s.comm_us,
                       s.transition_us, s.num_nodes, s.num_strategies, all, symbols, programs, 0,
                       graph, s.memory_limit_bytes, s.memory_peak_bytes, peak_node,
                       s.memory_price_per_gib, s.memory_binding_points, overlap,
                       s.memory_program_bytes, all_shares, s.recompute_excess_us, s.step_bound_us),
        fb::PlanIdentifier());
    return with_trailer();
  }

 private:
  std::vector<uint8_t> with_trailer() const {
    const size_t size = fbb_.GetSize();
    std::vector<uint8_t> bytes;
    bytes.reserve(size + plan_format::kTrailerBytes);
    bytes.assign(fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + size);
    bytes.resize(size + plan_format::kTrailerBytes, 0);
    flatbuffers::WriteScalar(bytes.data() + size, plan_format::kVersion);
    flatbuffers::WriteScalar(bytes.data() + size + 8, hash_bytes(bytes.data(), size + 8));
    return bytes;
  }

  // Equal strings are written once. The builder's own CreateSharedString() searches a tree.
  Offset<flatbuffers::String> shared(const std::string& s) {
    const auto [it, added] = shared_.try_emplace(s);
    if (added) it->second = fbb_.CreateString(s);
    return it->second;
  }

  Offset<fb::PlanDecision> decision(const NodeDecision& d) {
    const auto name = fbb_.CreateString(d.name);
    const auto op = shared(d.op);
    const auto path = shared(d.module_path);
    const auto operands = shared(d.operand_layouts);
    const auto result = shared(d.result_layout);
    return fb::CreatePlanDecision(fbb_, name, op, d.phase, path, operands, result, d.compute_us,
                                  d.comm_us, d.transition_us);
  }

  Offset<fb::PlanMemoryShare> memory_share(const MemoryShare& share) {
    const auto kind = shared(share.kind);
    Offset<flatbuffers::String> path;
    if (!share.module_path.empty()) path = shared(share.module_path);
    return fb::CreatePlanMemoryShare(fbb_, kind, path, share.bytes);
  }

  Offset<fb::PlanLayout> layout(const Layout& l, size_t mesh_rank) {
    std::vector<uint8_t> kind, arg;
    for (size_t m = 0; m < mesh_rank; ++m) {
      kind.push_back(static_cast<uint8_t>(l.placement[m].kind));
      arg.push_back(l.placement[m].arg);
    }
    const auto kinds = fbb_.CreateVector(kind);
    const auto args = fbb_.CreateVector(arg);
    Offset<flatbuffers::Vector<uint8_t>> order;
    if (l.order != Layout{}.order) order = fbb_.CreateVector(l.order.data(), mesh_rank);
    return fb::CreatePlanLayout(fbb_, kinds, args, order);
  }

  Offset<fb::PlanAttrs> attrs(const Attrs& a) {
    std::vector<Offset<wire::Attr>> items;
    for (const auto& [key, value] : a.items()) items.push_back(wire::write_attr(fbb_, key, value));
    return fb::CreatePlanAttrs(fbb_, fbb_.CreateVector(items));
  }

  // Empty vectors are omitted.
  template <class Ids>
  Offset<flatbuffers::Vector<uint32_t>> ids(const Ids& list) {
    if (list.empty()) return {};
    scratch_.clear();
    for (const auto v : list) scratch_.push_back(v.v);
    return fbb_.CreateVector(scratch_);
  }
  template <class Numbers, class T = typename Numbers::value_type>
  Offset<flatbuffers::Vector<T>> numbers(const Numbers& list) {
    return list.empty() ? Offset<flatbuffers::Vector<T>>()
                        : fbb_.CreateVector(list.data(), list.size());
  }

  Offset<fb::PlanStep> step(const ProgramStep& s) {
    const uint32_t kernel = kernels_.index_of(s.kernel);
    const uint32_t attrs = s.attrs.empty() ? UINT32_MAX : attrs_.index_of(s.attrs);
    const auto inputs = ids(s.inputs);
    const auto outputs = ids(s.outputs);
    const auto axes = numbers(s.collective.axes);
    const auto waits = numbers(s.waits);
    const auto to_axes = numbers(s.collective.to_axes);
    return fb::CreatePlanStep(
        fbb_, kernel, inputs, outputs, attrs, static_cast<fb::PlanCollective>(s.collective.kind),
        static_cast<fb::PlanReduce>(s.collective.op), axes, s.stream, waits, s.records, s.node,
        s.phase, s.cost_us, s.in_place, static_cast<fb::PlanBasis>(s.basis), to_axes, s.recomputed);
  }

  Offset<fb::PlanPort> port(const Port& p, size_t mesh_rank) {
    const auto name = fbb_.CreateString(p.name);
    const auto global = wire::write_type(fbb_, p.global, p.sizes);
    const auto where = layout(p.layout, mesh_rank);
    return fb::CreatePlanPort(fbb_, name, static_cast<fb::PlanRole>(p.role), global, where,
                              p.value.v, numbers(p.data));
  }

  Offset<fb::PlanEntry> entry(const ProgramEntry& e) {
    const auto name = fbb_.CreateString(e.name);
    const auto inputs = ids(e.inputs);
    const auto outputs = ids(e.outputs);
    const auto after = numbers(e.after);
    Offset<flatbuffers::String> bucket_of;
    if (!e.bucket_of.empty()) bucket_of = fbb_.CreateString(e.bucket_of);
    const auto bucket = numbers(e.bucket);
    return fb::CreatePlanEntry(fbb_, name, inputs, outputs, e.first_step, e.num_steps, e.weight,
                               after, bucket_of, bucket);
  }

  Offset<flatbuffers::Vector<Offset<fb::PlanFusedGroup>>> fused_groups(const Program& p) {
    if (p.fused_groups.empty()) return {};
    std::vector<Offset<fb::PlanFusedGroup>> list;
    for (const FusedGroup& g : p.fused_groups) {
      const auto shape = fbb_.CreateVector(g.shape.begin(), g.shape.size());
      const auto slices = fbb_.CreateVector(g.slices.begin(), g.slices.size());
      list.push_back(fb::CreatePlanFusedGroup(fbb_, g.first_step, g.num_steps, shape, slices));
    }
    return fbb_.CreateVector(list);
  }

  Offset<flatbuffers::Vector<Offset<fb::PlanStream>>> streams(const Program& p) {
    std::vector<Offset<fb::PlanStream>> list;
    for (const ProgramStream& s : p.streams)
      list.push_back(fb::CreatePlanStream(fbb_, static_cast<fb::PlanStreamKind>(s.kind),
                                          s.axes.empty() ? 0 : fbb_.CreateVector(s.axes)));
    return fbb_.CreateVector(list);
  }

  Offset<fb::PlanProgram> write_program(const Program& p) {
    std::vector<Offset<fb::PlanStep>> steps;
    steps.reserve(p.steps.size());
    for (const ProgramStep& s : p.steps) steps.push_back(step(s));
    std::vector<Offset<fb::PlanEntry>> entries;
    for (const ProgramEntry& e : p.entries) entries.push_back(entry(e));
    std::vector<Offset<fb::PlanPort>> ports;
    for (const Port& port_of : p.ports) ports.push_back(port(port_of, p.mesh.size()));

    std::vector<uint32_t> value_type, value_storage, storage_port;
    std::vector<int64_t> value_offset, storage_bytes, storage_offset;
    std::vector<fb::PlanStorageKind> storage_kind;
    for (const ProgramValue& v : p.values) {
      value_type.push_back(types_.index_of(v.type));
      value_storage.push_back(v.storage.v);
      value_offset.push_back(v.offset_bytes);
    }
    for (const ProgramStorage& s : p.storages) {
      storage_bytes.push_back(s.bytes);
      storage_kind.push_back(static_cast<fb::PlanStorageKind>(s.kind));
      storage_port.push_back(s.port);
      storage_offset.push_back(s.offset_bytes);
    }
    std::vector<Offset<wire::TensorType>> types;
    for (const TensorType* t : types_.items()) types.push_back(wire::write_type(fbb_, *t));
    std::vector<Offset<flatbuffers::String>> kernels;
    for (const std::string* k : kernels_.items()) kernels.push_back(fbb_.CreateString(*k));
    std::vector<Offset<fb::PlanAttrs>> all_attrs;
    for (const Attrs* a : attrs_.items()) all_attrs.push_back(attrs(*a));

    const auto v_type = fbb_.CreateVector(value_type);
    const auto v_storage = fbb_.CreateVector(value_storage);
    const auto v_offset = fbb_.CreateVector(value_offset);
    const auto pool = fbb_.CreateVector(types);
    const auto s_bytes = fbb_.CreateVector(storage_bytes);
    const auto s_kind = fbb_.CreateVector(storage_kind);
    const auto s_port = fbb_.CreateVector(storage_port);
    const auto s_offset = fbb_.CreateVector(storage_offset);
    const auto names = fbb_.CreateVector(kernels);
    const auto arguments = fbb_.CreateVector(all_attrs);
    const auto list = fbb_.CreateVector(steps);
    const auto ways = fbb_.CreateVector(entries);
    const auto all_ports = fbb_.CreateVector(ports);
    const auto all_streams = streams(p);
    const auto groups = fused_groups(p);
    return fb::CreatePlanProgram(fbb_, v_type, v_storage, v_offset, pool, s_bytes, s_kind, s_port,
                                 s_offset, names, arguments, list, ways, all_ports, all_streams,
                                 p.num_events, static_cast<uint32_t>(p.alignment), p.arena_bytes,
                                 p.session_bytes, p.live_peak_bytes, p.host_bytes, groups,
                                 p.group_bytes, p.host_session_bytes);
  }

  FlatBufferBuilder fbb_;
  // Look-up only; the strings belong to the plan, which outlives the writer.
  std::unordered_map<std::string_view, Offset<flatbuffers::String>> shared_;
  Pool<TensorType, HashOf> types_;
  Pool<std::string, HashOf> kernels_;
  Pool<Attrs, HashOf> attrs_;
  std::vector<uint32_t> scratch_;
};

}  // namespace

std::vector<uint8_t> write_plan(const Plan& plan) { return Writer(plan).write(plan); }

}  // namespace shw
