// verify(Program): everything that the executor takes for granted. It shares no code with the
// passes whose work it checks, except the notion of what happens before what.
#include <algorithm>
#include <map>

#include "plan/happens_before.h"
#include "plan/program.h"

namespace shw {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 60;  // as check_tensor_type

std::string where(const Program& p, uint32_t step) {
  return "step " + std::to_string(step) + " (" + p.steps[step].kernel + "): ";
}

// Bytes [first, last) of the storage that a window touches; empty where it has no elements.
struct ByteRange {
  int64_t first = 0, last = 0;
  bool empty() const { return first >= last; }
};
ByteRange touched(const ProgramValue& v) {
  int64_t last_element = 0;
  for (size_t d = 0; d < v.type.shape.size(); ++d) {
    if (v.type.shape[d] == 0) return {};
    last_element += (v.type.shape[d] - 1) * v.type.strides[d];
  }
  return {v.offset_bytes, v.offset_bytes + (last_element + 1) * dtype_size(v.type.dtype)};
}

class Verifier {
 public:
  Verifier(const Program& program, bool planned) : p_(program), planned_(planned) {}
  Status run() {
    SHW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::create(p_.mesh));
    SHW_RETURN_IF_ERROR(storages());
    SHW_RETURN_IF_ERROR(values());
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      SHW_RETURN_IF_ERROR(step(i));
      if (p_.steps[i].attrs.has(AttrKey::kCuts)) SHW_RETURN_IF_ERROR(place(i, mesh));
      if (p_.steps[i].collective.kind != CollectiveKind::kNone)
        SHW_RETURN_IF_ERROR(collective(i, mesh));
    }
    SHW_RETURN_IF_ERROR(entries(mesh));
    SHW_RETURN_IF_ERROR(events());
    const HappensBefore order(p_);
    SHW_RETURN_IF_ERROR(dataflow(order));
    return planned_ ? arena(order) : Status();
  }

 private:
  Status storages() const {
    for (uint32_t i = 0; i < p_.storages.size(); ++i) {
      const ProgramStorage& s = p_.storages[StorageId{i}];
      const std::string me = "storage " + std::to_string(i) + ": ";
      if (s.bytes < 0 || s.bytes > kMaxBytes) return invalid_argument(me + "impossible size");
      if (s.kind < StorageKind::kArena || s.kind > StorageKind::kOutput)
        return invalid_argument(me + "unknown kind");
      if (!planned_ || s.kind != StorageKind::kArena) continue;
      if (s.offset_bytes < 0 || s.offset_bytes % kArenaAlignment != 0)
        return invalid_argument(me + "offset " + std::to_string(s.offset_bytes) +
                                " is not a multiple of " + std::to_string(kArenaAlignment));
      if (s.offset_bytes > p_.arena_bytes - s.bytes)
        return invalid_argument(me + "it ends beyond the arena of " +
                                std::to_string(p_.arena_bytes) + " bytes");
    }
    if (p_.arena_bytes < 0 || p_.arena_bytes > kMaxBytes || p_.live_peak_bytes < 0)
      return invalid_argument("impossible arena size");
    return {};
  }

  Status values() const {
    for (uint32_t i = 0; i < p_.values.size(); ++i) {
      const ProgramValue& v = p_.values[ValueId{i}];
      const std::string me = "value " + std::to_string(i) + ": ";
      if (v.storage.v >= p_.storages.size()) return invalid_argument(me + "no such storage");
      if (Status s = check_tensor_type(v.type); !s.ok()) return invalid_argument(me + s.message());
      const int64_t room = p_.storages[v.storage].bytes;
      if (v.offset_bytes < 0 || v.offset_bytes > room ||
          v.offset_bytes % std::min<int64_t>(dtype_size(v.type.dtype), 8) != 0)
        return invalid_argument(me + "offset " + std::to_string(v.offset_bytes) +
                                " is outside its storage or not aligned");
      // Steps of check: the last element first, so that no product overflows.
      int64_t elements = (room - v.offset_bytes) / dtype_size(v.type.dtype) - 1;
      bool any = true;
      for (size_t d = 0; d < v.type.shape.size(); ++d) any &= v.type.shape[d] > 0;
      for (size_t d = 0; any && d < v.type.shape.size(); ++d) {
        const int64_t n = v.type.shape[d] - 1, stride = v.type.strides[d];
        if (stride < 0 || (n > 0 && stride > elements / n))
          return invalid_argument(me + "the window does not fit into its storage");
        elements -= n * stride;
      }
      if (any && elements < 0)
        return invalid_argument(me + "the window does not fit into its storage");
    }
    return {};
  }

  Status step(uint32_t i) const {
    const ProgramStep& s = p_.steps[i];
    if (s.kernel.empty()) return invalid_argument(where(p_, i) + "no kernel");
    for (const auto* list : {&s.inputs, &s.outputs})
      for (ValueId v : *list)
        if (v.valid() && v.v >= p_.values.size())
          return invalid_argument(where(p_, i) + "no such value");
    if (static_cast<int>(s.stream) >= kNumStreams)
      return invalid_argument(where(p_, i) + "no such stream");
    if (s.collective.kind > CollectiveKind::kAllToAll)
      return invalid_argument(where(p_, i) + "no such collective");
    if (s.collective.op > ReduceOp::kProduct)
      return invalid_argument(where(p_, i) + "no such reduction");
    return {};
  }

  // Attributes that say where the piece lies in a whole tensor (program.h).
  Status place(uint32_t i, const Mesh& mesh) const {
    const Attrs& attrs = p_.steps[i].attrs;
    const std::vector<int64_t>&size = attrs.get_ints(AttrKey::kSize),
          &cuts = attrs.get_ints(AttrKey::kCuts);
    bool sound = attrs.has(AttrKey::kSize) && size.size() <= kMaxRank && cuts.size() % 2 == 0;
    for (int64_t d : size) sound &= d >= 0;
    uint32_t seen = 0;
    for (size_t c = 0; sound && c < cuts.size(); c += 2) {
      const int64_t m = cuts[c], d = cuts[c + 1];
      sound = m >= 0 && m < mesh.rank() && !(seen >> m & 1) && d >= 0 &&
              d < static_cast<int64_t>(size.size());
      if (sound) seen |= 1u << m;
    }
    return sound ? Status()
                 : invalid_argument(where(p_, i) + "'size' and 'cuts' do not say where it lies");
  }

  Status collective(uint32_t i, const Mesh& mesh) const {
    const ProgramStep& s = p_.steps[i];
    if (s.inputs.size() != 1 || s.outputs.size() != 1 || !s.inputs[0].valid() ||
        !s.outputs[0].valid())
      return invalid_argument(where(p_, i) + "a collective has one operand and one result");
    int64_t members = 1;
    uint32_t seen = 0;
    for (uint8_t axis : s.collective.axes) {
      if (axis >= mesh.rank() || (seen >> axis & 1))
        return invalid_argument(where(p_, i) + "its axes are not distinct mesh dims");
      seen |= 1u << axis;
      members *= mesh.size(axis);
    }
    if (seen == 0) return invalid_argument(where(p_, i) + "it has no axes");
    const TensorType& in = p_.values[s.inputs[0]].type;
    const TensorType& out = p_.values[s.outputs[0]].type;
    const auto leads = [&](const TensorType& t) { return t.rank() > 0 && t.shape[0] == members; };
    bool sound = in.contiguous() && out.contiguous() && in.dtype == out.dtype;
    switch (s.collective.kind) {
      case CollectiveKind::kAllGather:
        sound &= leads(out) && out.numel() / members == in.numel();
        break;
      case CollectiveKind::kReduceScatter:
        sound &= leads(in) && in.numel() / members == out.numel();
        break;
      case CollectiveKind::kAllToAll:
        sound &= leads(in) && leads(out) && in.numel() == out.numel();
        break;
      default:
        sound &= in.shape == out.shape;
    }
    if (!sound)
      return invalid_argument(where(p_, i) + to_string(in) + " -> " + to_string(out) +
                              " is not what it does among " + std::to_string(members) + " ranks");
    return {};
  }

  Status entries(const Mesh& mesh) const {
    uint64_t next = 0;
    for (const ProgramEntry& e : p_.entries) {
      if (e.first_step != next || uint64_t{e.first_step} + e.num_steps > p_.steps.size())
        return invalid_argument("entry '" + e.name + "': its steps are not the next ones");
      next = uint64_t{e.first_step} + e.num_steps;
      for (uint32_t i = 0; i < e.inputs.size(); ++i)
        SHW_RETURN_IF_ERROR(port(e, e.inputs[i], i, StorageKind::kInput, mesh));
      for (uint32_t i = 0; i < e.outputs.size(); ++i)
        SHW_RETURN_IF_ERROR(port(e, e.outputs[i], i, StorageKind::kOutput, mesh));
    }
    if (next != p_.steps.size()) return invalid_argument("steps that no entry owns");
    return {};
  }

  Status port(const ProgramEntry& e, const Port& port, uint32_t number, StorageKind kind,
              const Mesh& mesh) const {
    const auto refuse = [&](const std::string& why) {
      return invalid_argument("entry '" + e.name + "', port '" + port.name + "': " + why);
    };
    const bool is_input = port.role >= PortRole::kParameter && port.role <= PortRole::kSeed;
    const bool is_output = port.role >= PortRole::kResult && port.role <= PortRole::kUpdate;
    if (kind == StorageKind::kInput ? !is_input : !is_output) return refuse("unfit role");
    if (!port.value.valid())
      return kind == StorageKind::kOutput ? Status() : refuse("an input without a value");
    if (port.value.v >= p_.values.size()) return refuse("no such value");
    SHW_RETURN_IF_ERROR(check_tensor_type(port.global));
    SHW_RETURN_IF_ERROR(sound(port.layout, mesh));
    if (port.layout.has_partial()) return refuse("a partial value cannot be handed over");
    if (!is_shardable(port.global.shape, port.layout, mesh))
      return refuse("a dim that is cut has not an element for every rank");
    const ProgramValue& v = p_.values[port.value];
    const ProgramStorage& s = p_.storages[v.storage];
    if (s.kind != kind || s.port != number) return refuse("its storage is not the port's own");
    if (v.offset_bytes != 0 || !v.type.contiguous() || v.type.dtype != port.global.dtype ||
        v.type.shape != local_shape(port.global.shape, port.layout, mesh))
      return refuse(to_string(v.type) + " is not one rank's piece of " + to_string(port.global) +
                    " as " + to_string(port.layout, mesh.rank()));
    return {};
  }

  static Status sound(const Layout& layout, const Mesh& mesh) {
    uint32_t seen = 0;
    for (int m = 0; m < kMaxMeshRank; ++m) {
      const Placement p = layout[m];
      seen |= 1u << std::min<uint8_t>(layout.order[static_cast<size_t>(m)], 31);
      if (p.kind > Placement::Kind::kMasked || (m >= mesh.rank() && !p.is_replicate()) ||
          (p.is_shard() && p.arg >= kMaxRank) || (p.kind == Placement::Kind::kPartial && p.arg > 4))
        return invalid_argument("a layout that does not exist");
    }
    if (seen != (1u << kMaxMeshRank) - 1) return invalid_argument("a shard order that is none");
    return {};
  }

  Status events() const {
    std::vector<uint8_t> recorded(p_.num_events, 0);
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      for (uint32_t e : p_.steps[i].waits)
        if (e >= p_.num_events || !recorded[e])
          return invalid_argument(where(p_, i) + "it waits for event " + std::to_string(e) +
                                  ", which no earlier step records");
      const uint32_t e = p_.steps[i].records;
      if (e == kNoEvent) continue;
      if (e >= p_.num_events || recorded[e])
        return invalid_argument(where(p_, i) + "event " + std::to_string(e) +
                                " is out of range or recorded twice");
      recorded[e] = 1;
    }
    return {};
  }

  // Operands are written before, and known to be; nothing is written twice.
  Status dataflow(const HappensBefore& order) const {
    struct Write {
      ByteRange range;
      uint32_t step;
    };
    std::vector<std::vector<Write>> writes(p_.storages.size());
    const auto read = [&](ValueId id, uint32_t step, const std::string& who) {
      const ProgramValue& v = p_.values[id];
      const ByteRange range = touched(v);
      if (range.empty() || p_.storages[v.storage].kind == StorageKind::kInput) return Status();
      int64_t covered = range.first;  // writes are kept in ascending order
      for (const Write& w : writes[v.storage.v]) {
        if (w.range.last <= range.first || w.range.first >= range.last) continue;
        if (w.range.first > covered) break;
        covered = std::max(covered, w.range.last);
        if (step != UINT32_MAX && !order.before(w.step, step))
          return invalid_argument(who + "value " + std::to_string(id.v) + ", written by step " +
                                  std::to_string(w.step) + ", may not be there yet");
      }
      if (covered < range.last)
        return invalid_argument(who + "value " + std::to_string(id.v) +
                                " is read before it is written");
      return Status();
    };
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      for (ValueId id : p_.steps[i].inputs)
        if (id.valid()) SHW_RETURN_IF_ERROR(read(id, i, where(p_, i)));
      for (ValueId id : p_.steps[i].outputs) {
        if (!id.valid()) continue;
        const ProgramValue& v = p_.values[id];
        if (p_.storages[v.storage].kind == StorageKind::kInput)
          return invalid_argument(where(p_, i) + "it writes to an input");
        if (!v.type.contiguous())
          return invalid_argument(where(p_, i) + "its result is not contiguous");
        const ByteRange range = touched(v);
        if (range.empty()) continue;
        auto& list = writes[v.storage.v];
        const auto at = std::lower_bound(
            list.begin(), list.end(), range,
            [](const Write& w, const ByteRange& r) { return w.range.first < r.first; });
        if ((at != list.end() && at->range.first < range.last) ||
            (at != list.begin() && (at - 1)->range.last > range.first))
          return invalid_argument(where(p_, i) + "value " + std::to_string(id.v) +
                                  " overwrites another");
        list.insert(at, {range, i});
      }
    }
    for (const ProgramEntry& e : p_.entries)
      for (const Port& port : e.outputs)
        if (port.value.valid())
          SHW_RETURN_IF_ERROR(read(port.value, UINT32_MAX, "output '" + port.name + "': "));
    return {};
  }

  // Two storages may share bytes of the arena only if every step that touches the one is over when
  // the first that touches the other begins. Steps are walked in order; `owner` maps the arena's
  // byte ranges to the storage that used them last.
  Status arena(const HappensBefore& order) const {
    struct Owner {
      int64_t last;
      uint32_t storage;
    };
    std::map<int64_t, Owner> owner;  // by first byte; disjoint
    std::vector<std::vector<uint32_t>> accesses(p_.storages.size());
    std::vector<uint8_t> lost(p_.storages.size(), 0), seen(p_.storages.size(), 0);
    const auto touch = [&](uint32_t s, uint32_t step) -> Status {
      const ProgramStorage& storage = p_.storages[StorageId{s}];
      if (storage.kind != StorageKind::kArena || storage.bytes == 0) return {};
      if (lost[s])
        return invalid_argument(where(p_, step) + "storage " + std::to_string(s) +
                                " is used after its bytes went to another");
      accesses[s].push_back(step);
      if (seen[s]) return {};
      seen[s] = 1;
      const int64_t first = storage.offset_bytes, last = first + storage.bytes;
      auto it = owner.upper_bound(first);
      if (it != owner.begin() && std::prev(it)->second.last > first) --it;
      while (it != owner.end() && it->first < last) {
        const auto [old_first, old] = *it;
        for (uint32_t a : accesses[old.storage])
          if (!order.before(a, step))
            return invalid_argument(where(p_, step) + "storage " + std::to_string(s) +
                                    " takes bytes that step " + std::to_string(a) +
                                    " may still be using");
        lost[old.storage] = 1;
        it = owner.erase(it);
        if (old_first < first) owner[old_first] = {first, old.storage};
        if (old.last > last) owner[last] = old, it = owner.find(last);
      }
      owner[first] = {last, s};
      return {};
    };
    for (uint32_t i = 0; i < p_.steps.size(); ++i)
      for (const auto* list : {&p_.steps[i].inputs, &p_.steps[i].outputs})
        for (ValueId v : *list)
          if (v.valid()) SHW_RETURN_IF_ERROR(touch(p_.values[v].storage.v, i));
    return {};
  }

  const Program& p_;
  const bool planned_;
};

}  // namespace

Status verify(const Program& program, bool planned) { return Verifier(program, planned).run(); }

}  // namespace shw
