// verify(Program) checks everything that the executor assumes. It shares no code with the passes
// whose work it checks, except HappensBefore. verify_dataflow.cc checks the order of reads and
// writes.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "plan/happens_before.h"
#include "plan/verify_dataflow.h"
#include "plan/verify_fused_groups.h"

namespace shw {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 60;  // as check_tensor_type
constexpr int64_t kMaxAlignment = 1 << 16;

class Verifier {
 public:
  Verifier(const Program& program, bool planned) : p_(program), planned_(planned) {}
  Status run() {
    SHW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::create(p_.mesh));
    SHW_RETURN_IF_ERROR(streams(mesh));
    SHW_RETURN_IF_ERROR(storages());
    SHW_RETURN_IF_ERROR(values());
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      SHW_RETURN_IF_ERROR(step(i));
      if (p_.steps[i].attrs.has(AttrKey::kCuts)) SHW_RETURN_IF_ERROR(piece(i, mesh));
      if (p_.steps[i].collective.kind != CollectiveKind::kNone)
        SHW_RETURN_IF_ERROR(collective(i, mesh));
    }
    SHW_RETURN_IF_ERROR(ports(mesh));
    SHW_RETURN_IF_ERROR(entries());
    SHW_RETURN_IF_ERROR(events());
    const HappensBefore order(p_);
    SHW_RETURN_IF_ERROR(groups(order));
    SHW_RETURN_IF_ERROR(verify_dataflow(p_, order));
    SHW_RETURN_IF_ERROR(verify_fused_groups(p_));
    return planned_ ? verify_memory(p_, order) : Status();
  }

 private:
  Status streams(const Mesh& mesh) const {
    const size_t n = p_.streams.size();
    if (n == 0 || n > kMaxStreams)
      return invalid_argument(std::to_string(n) + " streams: expected 1 to " +
                              std::to_string(kMaxStreams));
    std::set<std::vector<uint8_t>> seen;
    std::set<StreamKind> links;
    for (size_t i = 0; i < n; ++i) {
      const ProgramStream& s = p_.streams[i];
      const std::string me = "stream " + std::to_string(i) + ": ";
      if ((i == kComputeStream) != (s.kind == StreamKind::kCompute) ||
          s.kind > StreamKind::kFromHost)
        return invalid_argument(me + "the first stream computes, the others communicate or copy");
      if (s.kind > StreamKind::kCommunication && !links.insert(s.kind).second)
        return invalid_argument(me + "an earlier stream copies in the same direction");
      if (s.axes.empty()) continue;
      if (s.kind != StreamKind::kCommunication || !mesh.are_distinct(s.axes))
        return invalid_argument(
            me + "its axes are not distinct mesh dims, or parts of them, of a communicator");
      if (!seen.insert(s.axes).second)
        return invalid_argument(me + "an earlier stream has the same communicator");
    }
    return {};
  }

  Status storages() const {
    if (p_.alignment < 64 || p_.alignment > kMaxAlignment ||
        !std::has_single_bit(static_cast<uint64_t>(p_.alignment)))
      return invalid_argument("alignment " + std::to_string(p_.alignment) +
                              " is not a power of two from 64 to " + std::to_string(kMaxAlignment));
    if (p_.arena_bytes < 0 || p_.arena_bytes > kMaxBytes || p_.live_peak_bytes < 0 ||
        p_.session_bytes < 0 || p_.session_bytes > kMaxBytes || p_.host_bytes < 0 ||
        p_.host_bytes > kMaxBytes || p_.group_bytes < 0 || p_.group_bytes > kMaxBytes ||
        p_.host_session_bytes < 0 || p_.host_session_bytes > kMaxBytes)
      return invalid_argument("impossible arena size");
    for (uint32_t i = 0; i < p_.storages.size(); ++i)
      if (Status s = storage(p_.storages[StorageId{i}]); !s.ok())
        return invalid_argument("storage " + std::to_string(i) + ": " + s.message());
    return {};
  }

  Status storage(const ProgramStorage& s) const {
    if (s.bytes < 0 || s.bytes > kMaxBytes) return invalid_argument("impossible size");
    if (s.kind < StorageKind::kArena || s.kind > StorageKind::kHostSession)
      return invalid_argument("unknown kind");
    if (!is_placed(s.kind))
      return s.port < p_.ports.size() ? Status() : invalid_argument("it belongs to no port");
    if (s.kind == StorageKind::kInOutput)
      SHW_RETURN_IF_ERROR(lender(s));
    else if (s.port != UINT32_MAX)
      return invalid_argument("it is scratch, and says that it belongs to a port");
    if (!planned_) return {};
    const auto [memory, room] =
        s.kind == StorageKind::kInOutput  ? std::pair("output", lent_bytes(s))
        : s.kind == StorageKind::kArena   ? std::pair("arena", p_.arena_bytes)
        : s.kind == StorageKind::kSession ? std::pair("session", p_.session_bytes)
        : s.kind == StorageKind::kGroup   ? std::pair("memory of groups", p_.group_bytes)
        : s.kind == StorageKind::kHost    ? std::pair("host memory", p_.host_bytes)
                                       : std::pair("session in host memory", p_.host_session_bytes);
    if (s.offset_bytes < 0 || s.offset_bytes % p_.alignment != 0)
      return invalid_argument("offset " + std::to_string(s.offset_bytes) +
                              " is not a multiple of " + std::to_string(p_.alignment));
    if (s.offset_bytes > room - s.bytes)
      return invalid_argument("it ends beyond the " + std::string(memory) + " of " +
                              std::to_string(room) + " bytes");
    return {};
  }

  // Checks the output in whose memory the scratch lies.
  Status lender(const ProgramStorage& s) const {
    const bool is_port = s.port < p_.ports.size();
    const ValueId v = is_port ? p_.ports[PortId{s.port}].value : ValueId{};
    return v.valid() && v.v < p_.values.size() && p_.values[v].storage.v < p_.storages.size() &&
                   p_.lies_in(v, StorageKind::kOutput)
               ? Status()
               : invalid_argument("it is in the memory of an output that does not exist");
  }
  int64_t lent_bytes(const ProgramStorage& s) const {
    return p_.storages[p_.values[p_.ports[PortId{s.port}].value].storage].bytes;
  }

  Status values() const {
    for (uint32_t i = 0; i < p_.values.size(); ++i) {
      const ProgramValue& v = p_.values[ValueId{i}];
      const auto refuse = [&](const std::string& why) {
        return invalid_argument("value " + std::to_string(i) + ": " + why);
      };
      if (v.storage.v >= p_.storages.size()) return refuse("no such storage");
      if (Status s = check_tensor_type(v.type); !s.ok()) return refuse(s.message());
      const int64_t room = p_.storages[v.storage].bytes;
      if (v.offset_bytes < 0 || v.offset_bytes > room ||
          v.offset_bytes % std::min<int64_t>(dtype_size(v.type.dtype), 8) != 0)
        return refuse("offset " + std::to_string(v.offset_bytes) +
                      " is outside its storage or not aligned");
      // Index of the last element that fits. Dims are checked by division, so that no product
      // overflows.
      int64_t elements = (room - v.offset_bytes) / dtype_size(v.type.dtype) - 1;
      bool any = true;
      for (size_t d = 0; d < v.type.shape.size(); ++d) any &= v.type.shape[d] > 0;
      for (size_t d = 0; any && d < v.type.shape.size(); ++d) {
        const int64_t n = v.type.shape[d] - 1, stride = v.type.strides[d];
        if (stride < 0 || (n > 0 && stride > elements / n))
          return refuse("the window does not fit into its storage");
        elements -= n * stride;
      }
      if (any && elements < 0) return refuse("the window does not fit into its storage");
    }
    return {};
  }

  Status step(uint32_t i) const {
    const ProgramStep& s = p_.steps[i];
    if (s.kernel.empty()) return invalid_argument(at_step(p_, i) + "no kernel");
    for (const auto* list : {&s.inputs, &s.outputs})
      for (ValueId v : *list)
        if (v.valid() && v.v >= p_.values.size())
          return invalid_argument(at_step(p_, i) + "no such value");
    if (s.stream >= p_.streams.size()) return invalid_argument(at_step(p_, i) + "no such stream");
    if (s.collective.kind > CollectiveKind::kPermute)
      return invalid_argument(at_step(p_, i) + "no such collective");
    if (s.collective.op > ReduceOp::kProduct)
      return invalid_argument(at_step(p_, i) + "no such reduction");
    if (static_cast<size_t>(s.basis) >= kNumPriceBases)
      return invalid_argument(at_step(p_, i) + "no such basis of a price");
    if (s.in_place != kNotInPlace &&
        (s.in_place >= s.inputs.size() || !s.inputs[s.in_place].valid() || s.outputs.empty() ||
         !s.outputs[0].valid() || s.collective.kind != CollectiveKind::kNone))
      return invalid_argument(at_step(p_, i) + "it cannot be done in place");
    return host_memory(i);
  }

  // Only copies may touch host memory. They run on the stream of their direction, or on stream 0.
  Status host_memory(uint32_t i) const {
    const ProgramStep& s = p_.steps[i];
    const auto refuse = [&](const std::string& why) {
      return invalid_argument(at_step(p_, i) + why);
    };
    const HostCopy copy = host_copy(p_, s);
    const bool to = copy == HostCopy::kToHost, from = copy == HostCopy::kFromHost;
    for (const auto* list : {&s.inputs, &s.outputs})
      for (ValueId v : *list)
        if (copy == HostCopy::kNone && p_.lies_in_host(v))
          return refuse("only copies to and from scratch touch the host");
    if (copy != HostCopy::kNone &&
        (s.inputs.size() != 1 || s.outputs.size() != 1 ||
         !p_.lies_in(to ? s.inputs[0] : s.outputs[0], StorageKind::kArena) ||
         s.collective.kind != CollectiveKind::kNone ||
         p_.values[s.inputs[0]].type != p_.values[s.outputs[0]].type ||
         !p_.values[s.inputs[0]].type.contiguous()))
      return refuse("it is not a copy between scratch and host");
    const StreamKind stream = p_.streams[s.stream].kind;
    if ((stream == StreamKind::kToHost && !to) || (stream == StreamKind::kFromHost && !from) ||
        (stream == StreamKind::kCommunication && copy != HostCopy::kNone))
      return refuse("stream " + std::to_string(s.stream) + " is not for such steps");
    return {};
  }

  // Checks the attributes that locate a piece in a whole tensor (program.h).
  Status piece(uint32_t i, const Mesh& mesh) const {
    const Attrs& attrs = p_.steps[i].attrs;
    const std::vector<int64_t>&size = attrs.get_ints(AttrKey::kSize),
          &cuts = attrs.get_ints(AttrKey::kCuts);
    bool sound = attrs.has(AttrKey::kSize) && size.size() <= kMaxRank && cuts.size() % 2 == 0;
    sound = sound && check_tensor_type(row_major(Dtype::kI8, Dims(size))).ok();
    uint32_t seen = 0;
    for (size_t c = 0; sound && c < cuts.size(); c += 2) {
      const int64_t m = cuts[c], d = cuts[c + 1];
      sound = m >= 0 && m < mesh.rank() && !(seen >> m & 1) && d >= 0 &&
              d < static_cast<int64_t>(size.size());
      if (sound) seen |= 1u << m;
    }
    return sound ? Status()
                 : invalid_argument(at_step(p_, i) + "'size' and 'cuts' do not say where it lies");
  }

  Status collective(uint32_t i, const Mesh& mesh) const {
    const ProgramStep& s = p_.steps[i];
    if (s.inputs.size() != 1 || s.outputs.size() != 1 || !s.inputs[0].valid() ||
        !s.outputs[0].valid())
      return invalid_argument(at_step(p_, i) + "a collective has one operand and one result");
    if (!mesh.are_distinct(s.collective.axes))
      return invalid_argument(at_step(p_, i) +
                              "its axes are not distinct mesh dims, or parts of them");
    if (s.collective.axes.empty()) return invalid_argument(at_step(p_, i) + "it has no axes");
    int64_t members = 1;
    for (uint8_t axis : s.collective.axes) members *= mesh.size(axis);
    const std::vector<uint8_t>& to = s.collective.to_axes;
    const bool is_permute = s.collective.kind == CollectiveKind::kPermute;
    if (is_permute ? !std::ranges::is_permutation(to, s.collective.axes) : !to.empty())
      return invalid_argument(at_step(p_, i) + "the order of axes after it is not one of its axes");
    const std::vector<uint8_t>& of_stream = p_.streams[s.stream].axes;
    if (!of_stream.empty() && !std::ranges::is_permutation(of_stream, s.collective.axes))
      return invalid_argument(at_step(p_, i) + "stream " + std::to_string(s.stream) +
                              " is for other links");
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
      return invalid_argument(at_step(p_, i) + to_string(in) + " -> " + to_string(out) +
                              " is not what it does among " + std::to_string(members) + " ranks");
    return {};
  }

  // Checks that each group runs one collective at a time, in the same order on every rank.
  Status groups(const HappensBefore& order) const {
    std::map<std::vector<uint8_t>, uint32_t> last;  // by axes: the latest step
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      const Collective& c = p_.steps[i].collective;
      if (c.kind == CollectiveKind::kNone) continue;
      const auto [at, is_first] = last.try_emplace(c.axes, i);
      if (!is_first && !order.before(at->second, i))
        return invalid_argument(at_step(p_, i) + "it may run beside step " +
                                std::to_string(at->second) + ", a collective of the same group");
      at->second = i;
    }
    return {};
  }

  Status ports(const Mesh& mesh) const {
    for (uint32_t i = 0; i < p_.ports.size(); ++i)
      if (Status s = port(PortId{i}, mesh); !s.ok())
        return invalid_argument("port '" + p_.ports[PortId{i}].name + "': " + s.message());
    // A storage belongs to its port, or to the input which the port updates in place.
    for (uint32_t i = 0; i < p_.storages.size(); ++i) {
      const ProgramStorage& s = p_.storages[StorageId{i}];
      if (is_placed(s.kind)) continue;
      const ValueId v = p_.ports[PortId{s.port}].value;
      if (!v.valid() || p_.values[v].storage.v != i)
        return invalid_argument("storage " + std::to_string(i) + " is not the one of its port '" +
                                p_.ports[PortId{s.port}].name + "'");
    }
    return {};
  }

  Status port(PortId id, const Mesh& mesh) const {
    const Port& port = p_.ports[id];
    const bool is_input = port.role >= PortRole::kParameter && port.role <= PortRole::kConstant;
    const bool is_output = port.role >= PortRole::kResult && port.role <= PortRole::kUpdate;
    if (!is_input && !is_output) return invalid_argument("unfit role");
    if (!port.value.valid())
      return is_output ? Status() : invalid_argument("an input without a value");
    if (port.value.v >= p_.values.size()) return invalid_argument("no such value");
    SHW_RETURN_IF_ERROR(check_tensor_type(port.global));
    if (!port.sizes.empty() && port.sizes.size() != port.global.shape.size())
      return invalid_argument("expressions of another number of sizes");
    for (const Expr& e : port.sizes) SHW_RETURN_IF_ERROR(check_expr(e, p_.symbols.size()));
    SHW_RETURN_IF_ERROR(sound(port.layout, mesh));
    if (port.layout.has_partial()) return invalid_argument("a partial value cannot be handed over");
    if (!is_shardable(port.global.shape, port.layout, mesh))
      return invalid_argument("a dim that is cut has not an element for every rank");
    const ProgramValue& v = p_.values[port.value];
    if (v.offset_bytes != 0 || !v.type.contiguous() || v.type.dtype != port.global.dtype ||
        v.type.shape != local_shape(port.global.shape, port.layout, mesh))
      return invalid_argument(to_string(v.type) + " is not one rank's piece of " +
                              to_string(port.global) + " as " +
                              to_string(port.layout, mesh.rank()));
    const bool is_constant = port.role == PortRole::kConstant;
    if (port.data.size() != (is_constant ? static_cast<size_t>(port.global.bytes()) : 0))
      return invalid_argument("its data is not that of a constant");
    return lies_right(id);
  }

  Status lies_right(PortId id) const {
    const Port& port = p_.ports[id];
    const ProgramStorage& s = p_.storages[p_.values[port.value].storage];
    const bool own = s.port == id.v;
    const auto refuse = [] { return invalid_argument("its storage is not the port's own"); };
    switch (s.kind) {
      case StorageKind::kConstant:
        return own && port.role == PortRole::kConstant ? Status() : refuse();
      case StorageKind::kOutput:
        return own && !is_input(port.role) ? Status() : refuse();
      case StorageKind::kState:
      case StorageKind::kInput: {
        if (own)
          return is_input(port.role) && port.role != PortRole::kConstant ? Status() : refuse();
        if (port.role != PortRole::kUpdate || s.port >= p_.ports.size()) return refuse();
        const Port& updated = p_.ports[PortId{s.port}];
        return updated.global == port.global && updated.layout == port.layout
                   ? Status()
                   : invalid_argument("it is made in place of '" + updated.name +
                                      "', which has another type or layout");
      }
      default:
        return refuse();
    }
  }

  Status entries() const {
    std::set<std::string> names;
    uint64_t next = 0;
    for (uint32_t i = 0; i < p_.entries.size(); ++i) {
      const ProgramEntry& e = p_.entries[i];
      const auto refuse = [&](const std::string& why) {
        return invalid_argument("entry '" + e.name + "': " + why);
      };
      if (!names.insert(e.name).second) return refuse("there are two of that name");
      if (e.first_step != next || uint64_t{e.first_step} + e.num_steps > p_.steps.size())
        return refuse("its steps are not the next ones");
      next = uint64_t{e.first_step} + e.num_steps;
      if (!(e.weight > 0 && e.weight < 1e30)) return refuse("its weight is not positive");
      for (uint32_t before : e.after)
        if (before >= i) return refuse("it runs after an entry that does not stand before it");
      if (Status s = lists(e); !s.ok()) return refuse(s.message());
      if (Status s = bucket(e); !s.ok()) return refuse(s.message());
    }
    return next == p_.steps.size() ? Status() : invalid_argument("steps that no entry owns");
  }

  // Checks that the sizes of a bucket are valid, and that its ports have these sizes.
  Status bucket(const ProgramEntry& e) const {
    const bool is_bucket = !e.bucket_of.empty();
    if (e.bucket.size() != (is_bucket ? p_.symbols.size() : 0))
      return invalid_argument("its bucket is not one of " + std::to_string(p_.symbols.size()) +
                              " symbols");
    for (size_t s = 0; s < e.bucket.size(); ++s)
      if (e.bucket[s] != -1) SHW_RETURN_IF_ERROR(check_size(p_.symbols[s], e.bucket[s]));
    for (const auto* list : {&e.inputs, &e.outputs})
      for (PortId id : *list)
        if (const Port& port = p_.ports[id]; port.value.valid() && !port.sizes.empty())
          SHW_RETURN_IF_ERROR(has_sizes(port, e));
    return {};
  }
  static Status has_sizes(const Port& port, const ProgramEntry& e) {
    bool same = !e.bucket.empty();
    for (size_t d = 0; same && d < port.sizes.size(); ++d) {
      for (const auto& [symbol, factor] : port.sizes[d].terms) same &= e.bucket[symbol] >= 0;
      same = same && value_of(port.sizes[d], e.bucket) == port.global.shape[d];
    }
    return same ? Status()
                : invalid_argument("port '" + port.name + "' has other sizes than the bucket");
  }

  // Checks the ports of an entry, and that its steps use no others.
  Status lists(const ProgramEntry& e) const {
    std::vector<uint8_t> listed(p_.ports.size(), 0);
    const auto list = [&](PortId id, bool as_input) -> Status {
      if (id.v >= p_.ports.size()) return invalid_argument("no such port");
      const Port& port = p_.ports[id];
      const std::string name = "port '" + port.name + "' ";
      if (listed[id.v]++) return invalid_argument(name + "is listed twice");
      if (is_input(port.role) != as_input) return invalid_argument(name + "has an unfit role");
      if (p_.lies_in(port, StorageKind::kState) || p_.lies_in(port, StorageKind::kConstant))
        return invalid_argument(name + "is not the caller's");
      return {};
    };
    for (PortId id : e.inputs) SHW_RETURN_IF_ERROR(list(id, true));
    for (PortId id : e.outputs) SHW_RETURN_IF_ERROR(list(id, false));
    for (PortId id : e.outputs)
      if (p_.lies_in(p_.ports[id], StorageKind::kInput) &&
          !listed[p_.storages[p_.values[p_.ports[id].value].storage].port])
        return invalid_argument("port '" + p_.ports[id].name +
                                "' updates an input that is not the entry's");
    for (uint32_t i = e.first_step; i < e.first_step + e.num_steps; ++i)
      for (const auto* operands : {&p_.steps[i].inputs, &p_.steps[i].outputs})
        for (ValueId v : *operands) {
          if (!v.valid()) continue;
          const ProgramStorage& s = p_.storages[p_.values[v].storage];
          if ((s.kind == StorageKind::kInput || s.kind == StorageKind::kOutput ||
               s.kind == StorageKind::kInOutput) &&
              !listed[s.port])
            return invalid_argument(at_step(p_, i) + "it uses port '" +
                                    p_.ports[PortId{s.port}].name +
                                    "', which the entry does not have");
        }
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
          return invalid_argument(at_step(p_, i) + "it waits for event " + std::to_string(e) +
                                  ", which no earlier step records");
      const uint32_t e = p_.steps[i].records;
      if (e == kNoEvent) continue;
      if (e >= p_.num_events || recorded[e])
        return invalid_argument(at_step(p_, i) + "event " + std::to_string(e) +
                                " is out of range or recorded twice");
      recorded[e] = 1;
    }
    return {};
  }

  const Program& p_;
  const bool planned_;
};

}  // namespace

Status verify(const Program& program, bool planned) { return Verifier(program, planned).run(); }

}  // namespace shw
