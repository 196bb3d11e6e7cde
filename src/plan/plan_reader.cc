// Bytes → plan. The order of checks matters: size, alignment, identifier, checksum, format version,
// FlatBuffers verifier, then conditions that the schema cannot express, then verify(Program).
// Nothing is read through a generated accessor before the verifier has passed.
#include <cstring>
#include <memory>
#include <new>

#include "plan/plan.h"
#include "plan/plan_format.h"
#include "plan_generated.h"
#include "support/hash.h"
#include "tensor/wire.h"

namespace shw {
namespace {

using plan_format::kTrailerBytes;

Status check_envelope(std::span<const uint8_t> bytes) {
  if (bytes.size() > plan_format::kMaxBytes)
    return data_loss("not a plan: " + std::to_string(bytes.size()) + " bytes, the limit is " +
                     std::to_string(plan_format::kMaxBytes));
  if (bytes.size() < 8 + kTrailerBytes)
    return data_loss("not a plan: only " + std::to_string(bytes.size()) + " bytes");
  if (std::memcmp(bytes.data() + 4, fb::PlanIdentifier(), 4) != 0)
    return data_loss("not a plan: the file identifier is not SWPL");
  const size_t hashed = bytes.size() - 8;
  if (flatbuffers::ReadScalar<uint64_t>(bytes.data() + hashed) != hash_bytes(bytes.data(), hashed))
    return data_loss("the plan is damaged or truncated: its checksum does not fit its " +
                     std::to_string(bytes.size()) + " bytes");
  const auto version = flatbuffers::ReadScalar<uint32_t>(bytes.data() + hashed - 8);
  if (version != plan_format::kVersion)
    return failed_precondition("the plan has format version " + std::to_string(version) +
                               ", this library (" + plan_format::kLibraryVersion +
                               ") reads version " + std::to_string(plan_format::kVersion) +
                               ": compile the plan again");
  if (flatbuffers::ReadScalar<uint32_t>(bytes.data() + hashed - 4) != 0)
    return data_loss("the plan is damaged: reserved bytes are not zero");
  return {};
}

Status damaged(const std::string& what) { return data_loss("the plan is not sound: " + what); }

std::string text(const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); }
using wire::copy;
template <class T>
uint32_t length(const flatbuffers::Vector<T>* v) {
  return wire::count(v);
}
template <class I = ValueId>
std::vector<I> ids(const flatbuffers::Vector<uint32_t>* v) {
  std::vector<I> list;
  list.reserve(length(v));
  for (uint32_t i = 0; i < length(v); ++i) list.push_back(I{v->Get(i)});
  return list;
}

Result<TensorType> read_plan_type(const wire::TensorType& t, Exprs* sizes = nullptr) {
  auto type = wire::read_type(t, sizes);
  return type.ok() ? std::move(type) : damaged(type.status().message());
}

Result<Layout> read_layout(const fb::PlanLayout& l, size_t mesh_rank) {
  Layout layout;
  if (l.kind()->size() != mesh_rank || l.arg()->size() != mesh_rank ||
      (l.order() != nullptr && l.order()->size() != mesh_rank))
    return damaged("a layout for another mesh rank");
  for (uint32_t m = 0; m < mesh_rank; ++m) {
    if (l.kind()->Get(m) > 3) return damaged("an unknown placement");
    layout.placement[m] = {static_cast<Placement::Kind>(l.kind()->Get(m)), l.arg()->Get(m)};
    if (l.order() != nullptr) layout.order[m] = l.order()->Get(m);
  }
  return layout;
}

Result<Attrs> read_attrs(const fb::PlanAttrs& list) {
  Attrs attrs;
  for (const wire::Attr* a : *list.items()) {
    const auto key = attr_key_from_name(a->name()->string_view());
    if (!key || attrs.has(*key)) return damaged("attribute '" + a->name()->str() + "'");
    auto value = wire::read_value(*a);
    if (!value.ok()) return damaged(value.status().message());
    attrs.set(*key, *std::move(value));
  }
  return attrs;
}

class ProgramReader {
 public:
  ProgramReader(const fb::PlanProgram& source, Program& program) : f_(source), p_(program) {}
  Status read() {
    SHW_RETURN_IF_ERROR(values());
    SHW_RETURN_IF_ERROR(storages());
    for (uint32_t i = 0; i < length(f_.attrs()); ++i) {
      SHW_ASSIGN_OR_RETURN(Attrs a, read_attrs(*f_.attrs()->Get(i)));
      attrs_.push_back(std::move(a));
    }
    p_.steps.reserve(length(f_.steps()));
    for (uint32_t i = 0; i < length(f_.steps()); ++i)
      SHW_RETURN_IF_ERROR(step(*f_.steps()->Get(i)));
    for (uint32_t i = 0; i < length(f_.ports()); ++i)
      SHW_RETURN_IF_ERROR(port(*f_.ports()->Get(i)));
    for (uint32_t i = 0; i < length(f_.entries()); ++i) entry(*f_.entries()->Get(i));
    streams();
    for (uint32_t i = 0; i < length(f_.fused_groups()); ++i)
      SHW_RETURN_IF_ERROR(fused_group(*f_.fused_groups()->Get(i)));
    p_.num_events = f_.num_events();
    p_.alignment = f_.alignment();
    p_.arena_bytes = f_.arena_bytes();
    p_.session_bytes = f_.session_bytes();
    p_.live_peak_bytes = f_.live_peak_bytes();
    p_.host_bytes = f_.host_bytes();
    p_.group_bytes = f_.group_bytes();
    p_.host_session_bytes = f_.host_session_bytes();
    // Each step records at most one event. A larger count is rejected, since it would only cost
    // memory.
    if (p_.num_events > p_.steps.size()) return damaged("more events than steps");
    return {};
  }

 private:
  Status values() {
    std::vector<TensorType> types;
    for (uint32_t i = 0; i < length(f_.types()); ++i) {
      SHW_ASSIGN_OR_RETURN(const TensorType t, read_plan_type(*f_.types()->Get(i)));
      types.push_back(t);
    }
    const uint32_t n = length(f_.value_type());
    if (length(f_.value_storage()) != n || length(f_.value_offset()) != n)
      return damaged("columns of values differ in length");
    const std::vector<int64_t> offset = copy(f_.value_offset());
    p_.values.reserve(n);
    for (uint32_t i = 0; i < n; ++i) {
      if (f_.value_type()->Get(i) >= types.size()) return damaged("a value of no type");
      p_.values.push_back(
          {types[f_.value_type()->Get(i)], StorageId{f_.value_storage()->Get(i)}, offset[i]});
    }
    return {};
  }

  Status storages() {
    const uint32_t n = length(f_.storage_bytes());
    if (length(f_.storage_kind()) != n || length(f_.storage_port()) != n ||
        length(f_.storage_offset()) != n)
      return damaged("columns of storages differ in length");
    const std::vector<int64_t> bytes = copy(f_.storage_bytes()), offset = copy(f_.storage_offset());
    for (uint32_t i = 0; i < n; ++i)
      p_.storages.push_back({bytes[i], static_cast<StorageKind>(f_.storage_kind()->Get(i)),
                             f_.storage_port()->Get(i), offset[i]});
    return {};
  }

  Status step(const fb::PlanStep& s) {
    ProgramStep step;
    if (s.kernel() >= length(f_.kernels())) return damaged("a step of no kernel");
    step.kernel = f_.kernels()->Get(s.kernel())->str();
    step.inputs = ids(s.inputs());
    step.outputs = ids(s.outputs());
    if (s.attrs() != UINT32_MAX) {
      if (s.attrs() >= attrs_.size()) return damaged("a step's attributes are missing");
      step.attrs = attrs_[s.attrs()];
    }
    step.collective = {static_cast<CollectiveKind>(s.collective()),
                       static_cast<ReduceOp>(s.reduce()), copy(s.axes()), copy(s.to_axes())};
    step.stream = s.stream();
    step.waits = copy(s.waits());
    step.records = s.records();
    step.node = s.node();
    step.phase = s.phase();
    step.cost_us = s.cost_us();
    step.in_place = s.in_place();
    step.basis = static_cast<PriceBasis>(s.basis());
    step.recomputed = s.recomputed();
    p_.steps.push_back(std::move(step));
    return {};
  }

  Status port(const fb::PlanPort& f) {
    Port port;
    port.name = f.name()->str();
    port.role = static_cast<PortRole>(f.role());
    SHW_ASSIGN_OR_RETURN(port.global, read_plan_type(*f.global(), &port.sizes));
    SHW_ASSIGN_OR_RETURN(port.layout, read_layout(*f.layout(), p_.mesh.size()));
    port.value = ValueId{f.value()};
    port.data = copy(f.data());
    p_.ports.push_back(std::move(port));
    return {};
  }

  void entry(const fb::PlanEntry& e) {
    ProgramEntry entry;
    entry.name = e.name()->str();
    entry.inputs = ids<PortId>(e.inputs());
    entry.outputs = ids<PortId>(e.outputs());
    entry.first_step = e.first_step();
    entry.num_steps = e.num_steps();
    entry.weight = e.weight();
    entry.after = copy(e.after());
    entry.bucket_of = text(e.bucket_of());
    entry.bucket = copy(e.bucket());
    p_.entries.push_back(std::move(entry));
  }

  Status fused_group(const fb::PlanFusedGroup& f) {
    if (length(f.shape()) > kMaxRank || length(f.slices()) > kMaxRank)
      return damaged("a group of steps with too many dims");
    p_.fused_groups.push_back(
        {f.first_step(), f.num_steps(), Dims(copy(f.shape())), Dims(copy(f.slices()))});
    return {};
  }

  void streams() {
    p_.streams.clear();
    for (uint32_t i = 0; i < length(f_.streams()); ++i) {
      const fb::PlanStream& s = *f_.streams()->Get(i);
      p_.streams.push_back({static_cast<StreamKind>(s.kind()), copy(s.axes())});
    }
  }

  const fb::PlanProgram& f_;
  Program& p_;
  std::vector<Attrs> attrs_;
};

void read_summary(const fb::Plan& f, PlanSummary& s) {
  s.objective_us = f.objective_us();
  s.bound_us = f.bound_us();
  s.proven = f.proven();
  s.compute_us = f.compute_us();
  s.comm_us = f.comm_us();
  s.transition_us = f.transition_us();
  s.num_nodes = f.num_nodes();
  s.num_strategies = f.num_strategies();
  s.hardware = text(f.hardware());
  s.rules = text(f.rules());
  s.graph_hash = f.graph_hash();
  s.options_hash = f.options_hash();
  s.mesh_hash = f.mesh_hash();
  s.memory_limit_bytes = f.memory_limit_bytes();
  s.memory_peak_bytes = f.memory_peak_bytes();
  s.memory_peak_node = text(f.memory_peak_node());
  s.memory_price_per_gib = f.memory_price_per_gib();
  s.memory_binding_points = f.memory_binding_points();
  s.overlap = text(f.overlap());
  s.recompute_excess_us = f.recompute_excess_us();
  s.step_bound_us = f.step_bound_us();
  s.memory_program_bytes = f.memory_program_bytes();
  for (uint32_t i = 0; i < length(f.memory_shares()); ++i) {
    const fb::PlanMemoryShare& share = *f.memory_shares()->Get(i);
    s.memory_shares.push_back({share.kind()->str(), text(share.module_path()), share.bytes()});
  }
  s.decisions.reserve(length(f.decisions()));
  for (uint32_t i = 0; i < length(f.decisions()); ++i) {
    const fb::PlanDecision& d = *f.decisions()->Get(i);
    s.decisions.push_back({text(d.name()), text(d.op()), d.phase(), text(d.module_path()),
                           text(d.operand_layouts()), text(d.result_layout()), d.compute_us(),
                           d.comm_us(), d.transition_us()});
  }
}

// Checks that the shares are sorted, the largest first, and add up to the peak, so that readers
// that show only some of them can state the rest.
Status check_shares(const PlanSummary& s) {
  if (s.memory_shares.empty()) return {};
  int64_t left = s.memory_peak_bytes;
  for (size_t i = 0; i < s.memory_shares.size(); ++i) {
    const int64_t bytes = s.memory_shares[i].bytes;
    if (bytes < 0 || bytes > left || (i > 0 && bytes > s.memory_shares[i - 1].bytes))
      return damaged("its shares of memory are not those of its peak");
    left -= bytes;
  }
  return left == 0 ? Status() : damaged("its shares of memory do not add up to its peak");
}

Result<Plan> read_content(const uint8_t* content, size_t size) {
  flatbuffers::Verifier verifier(content, size, /*max_depth=*/16, /*max_tables=*/10'000'000);
  if (!fb::VerifyPlanBuffer(verifier)) return damaged("its FlatBuffer is malformed");
  const fb::Plan& f = *fb::GetPlan(content);
  Plan plan;
  for (const fb::MeshAxis* a : *f.mesh())
    plan.program.mesh.push_back({a->name()->str(), a->size(), copy(a->parts())});
  if (auto mesh = Mesh::create(plan.program.mesh); !mesh.ok())
    return damaged(mesh.status().message());
  read_summary(f, plan.summary);
  SHW_RETURN_IF_ERROR(check_shares(plan.summary));
  if (f.source_graph() != nullptr)
    plan.source_graph.assign(f.source_graph()->begin(), f.source_graph()->end());
  if (f.programs()->size() != 1 || length(f.rank_program()) != 0)
    return unimplemented("the plan has " + std::to_string(f.programs()->size()) +
                         " programs; only one, which all ranks run, is supported");
  auto symbols = wire::read_symbols(f.symbols());
  if (!symbols.ok()) return damaged(symbols.status().message());
  plan.program.symbols = *std::move(symbols);
  SHW_RETURN_IF_ERROR(ProgramReader(*f.programs()->Get(0), plan.program).read());
  if (Status s = verify(plan.program, /*planned=*/true); !s.ok()) return damaged(s.message());
  return plan;
}

}  // namespace

Result<Plan> read_plan(std::span<const uint8_t> bytes) {
  SHW_RETURN_IF_ERROR(check_envelope(bytes));
  const size_t size = bytes.size() - kTrailerBytes;
  const auto read = [&](const uint8_t* content) -> Result<Plan> {
    SHW_ASSIGN_OR_RETURN(Plan plan, read_content(content, size));
    plan.checksum = flatbuffers::ReadScalar<uint64_t>(bytes.data() + bytes.size() - 8);
    return plan;
  };
  if (reinterpret_cast<uintptr_t>(bytes.data()) % plan_format::kBaseAlignment == 0)
    return read(bytes.data());
  // The FlatBuffers verifier checks the alignment of offsets, not of the base address, so unaligned
  // bytes are copied.
  struct Free {
    void operator()(uint8_t* p) const {
      ::operator delete(p, std::align_val_t(plan_format::kBaseAlignment));
    }
  };
  const std::unique_ptr<uint8_t, Free> aligned(
      static_cast<uint8_t*>(::operator new(size, std::align_val_t(plan_format::kBaseAlignment))));
  std::memcpy(aligned.get(), bytes.data(), size);
  return read(aligned.get());
}

}  // namespace shw
