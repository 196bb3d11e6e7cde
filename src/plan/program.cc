// The streams of a program, and its text, one line per step, for people and golden tests.
#include "plan/program.h"

#include <algorithm>

namespace shw {

bool is_product(const ProgramStep& step) {
  static constexpr std::string_view kProducts[] = {
      "mm",        "bmm",        "addmm", "baddbmm",       "einsum",
      "scaled_mm", "grouped_mm", "sdpa",  "sdpa_backward", "sdpa_paged"};
  return std::ranges::find(kProducts, step.kernel) != std::end(kProducts);
}

bool is_copy(const ProgramStep& step) { return step.kernel == "clone"; }

bool is_cast(const ProgramStep& step) {
  static constexpr std::string_view kCasts[] = {"dtype_cast", "convert_element_type", "to_copy"};
  return std::ranges::find(kCasts, step.kernel) != std::end(kCasts);
}

bool is_local_slice(const ProgramStep& step) { return step.kernel == "local_slice"; }

namespace {

std::string value_text(const Program& p, ValueId id) {
  if (!id.valid()) return "_";
  const ProgramValue& v = p.values[id];
  const ProgramStorage& s = p.storages[v.storage];
  std::string text = "%" + std::to_string(id.v) + ": " + to_string(v.type) + "@";
  constexpr const char* kNames[] = {"",         "s",    "in",    "out",  "state",       "session",
                                    "constant", "host", "group", "lent", "host_session"};
  text += kNames[static_cast<size_t>(s.kind)];
  text += std::to_string(is_placed(s.kind) ? v.storage.v : s.port);
  if (v.offset_bytes != 0) text += "+" + std::to_string(v.offset_bytes);
  return text;
}

std::string list_text(const Program& p, std::span<const ValueId> values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + value_text(p, values[i]);
  return text;
}

std::string step_text(const Program& p, const ProgramStep& s) {
  std::string text = "  " + list_text(p, s.outputs) + " = " + kernel_text(p, s) + "(" +
                     list_text(p, s.inputs) + ")";
  for (const auto& [key, value] : s.attrs.items())
    text += " " + std::string(attr_key_name(key)) + "=" + to_string(value);
  if (s.in_place != kNotInPlace) text += " in_place=" + std::to_string(s.in_place);
  if (s.stream != kComputeStream)
    text +=
        (host_copy(p, s) == HostCopy::kNone ? " on=comm" : " on=link") + std::to_string(s.stream);
  for (size_t i = 0; i < s.waits.size(); ++i)
    text += (i ? ",e" : " after=e") + std::to_string(s.waits[i]);
  if (s.records != kNoEvent) text += " records=e" + std::to_string(s.records);
  if (s.recomputed) text += " recomputed";
  return text + "\n";
}

std::string port_text(const Program& p, const Port& port) {
  return "  " + port.name + ": " + to_string(port.global) + " as " +
         to_string(port.layout, static_cast<int>(p.mesh.size())) + " = " +
         value_text(p, port.value) + "\n";
}

}  // namespace

StreamNumber host_stream(Program& p, HostCopy direction) {
  const StreamKind kind =
      direction == HostCopy::kToHost ? StreamKind::kToHost : StreamKind::kFromHost;
  auto at = std::ranges::find(p.streams, kind, &ProgramStream::kind);
  if (at == p.streams.end()) at = p.streams.insert(at, {kind});
  return static_cast<StreamNumber>(at - p.streams.begin());
}

std::vector<uint8_t> links_of(std::vector<uint8_t> axes) {
  std::ranges::sort(axes);
  return axes;
}

StreamNumber communication_stream(Program& p, const std::vector<uint8_t>& axes) {
  const std::vector<uint8_t> links = links_of(axes);
  const auto first = p.streams.begin() + 1;
  auto at = std::find_if(first, p.streams.end(), [&](const ProgramStream& s) {
    return s.kind == StreamKind::kCommunication && s.axes == links;
  });
  if (at == p.streams.end() && p.streams.size() < kMaxStreams)
    at = p.streams.insert(at, {StreamKind::kCommunication, links});
  if (at == p.streams.end()) (--at)->axes.clear();  // from now on several sets of links share it
  return static_cast<StreamNumber>(at - p.streams.begin());
}

std::string axes_text(const Program& p, const std::vector<uint8_t>& axes) {
  std::string text;
  for (uint8_t axis : axes) text += (text.empty() ? "" : ",") + axis_of(p, axis).name;
  return text;
}

std::string kernel_text(const Program& p, const ProgramStep& s) {
  const Collective& c = s.collective;
  if (c.kind == CollectiveKind::kNone) return s.kernel;
  std::string text = s.kernel;
  if (reduces(c.kind)) text += "." + std::string(reduce_op_name(c.op));
  text += "[" + axes_text(p, c.axes);
  if (!c.to_axes.empty()) text += " -> " + axes_text(p, c.to_axes);
  return text + "]";
}

Mesh::Axis axis_of(const Program& program, uint8_t axis) {
  if (axis < program.mesh.size()) return program.mesh[axis];
  size_t part = axis - size_t{kFirstMeshPart};
  for (const Mesh::Axis& a : program.mesh) {
    if (part < a.parts.size()) return {a.part_name(part), a.parts[part]};
    part -= a.parts.size();
  }
  return {"?", 1};
}

int64_t num_ranks(const Program& program) {
  int64_t ranks = 1;
  for (const Mesh::Axis& a : program.mesh) ranks *= a.size;
  return ranks;
}

bool is_whole(const Program& program, ValueId value) {
  const ProgramValue& v = program.values[value];
  return v.offset_bytes == 0 && v.type.contiguous() &&
         v.type.bytes() == program.storages[v.storage].bytes;
}

bool is_of_model(const Program& program, StorageId storage) {
  const ProgramStorage& s = program.storages[storage];
  if (s.kind == StorageKind::kConstant) return true;
  if (s.kind != StorageKind::kInput && s.kind != StorageKind::kState) return false;
  return is_of_model(program.ports[PortId{s.port}].role);
}

namespace {

std::string dims_text(const Dims& dims) {
  std::string text;
  for (const int64_t n : dims) text += (text.empty() ? "" : ",") + std::to_string(n);
  return "[" + text + "]";
}

}  // namespace

std::string fused_group_text(const Program& program, const FusedGroup& group) {
  std::string text = dims_text(group.shape) + " in " + dims_text(group.slices) + " slices:";
  for (uint32_t i = 0; i < group.num_steps; ++i)
    text += " " + program.steps[group.first_step + i].kernel;
  return text;
}

int64_t type_bytes(const Program& program, std::span<const ValueId> values) {
  int64_t bytes = 0;
  for (ValueId v : values)
    if (v.valid()) bytes += program.values[v].type.bytes();
  return bytes;
}

std::vector<StepSpan> spans_of_steps(const Program& program) {
  std::vector<StepSpan> spans(program.steps.size());
  for (uint32_t i = 0; i < spans.size(); ++i) spans[i] = {i, i};
  for (const FusedGroup& g : program.fused_groups)
    for (uint32_t i = 0; i < g.num_steps; ++i)
      spans[g.first_step + i] = {g.first_step, g.first_step + g.num_steps - 1};
  return spans;
}

void drop_fused_groups(Program& program) {
  program.fused_groups.clear();
  program.group_bytes = 0;
  for (ProgramStorage& s : program.storages)
    if (s.kind == StorageKind::kGroup) s.kind = StorageKind::kArena, s.offset_bytes = -1;
}

std::string to_text(const Program& p) {
  std::string text = "program mesh";
  for (const Mesh::Axis& a : p.mesh) {
    text += " " + a.name + "=" + std::to_string(a.size);
    for (size_t i = 0; i < a.parts.size(); ++i)
      text += (i == 0 ? "(" : "*") + std::to_string(a.parts[i]);
    if (!a.parts.empty()) text += ")";
  }
  if (p.arena_bytes > 0) text += ", arena " + std::to_string(p.arena_bytes) + " bytes";
  if (p.session_bytes > 0) text += ", session " + std::to_string(p.session_bytes) + " bytes";
  if (p.group_bytes > 0) text += ", groups " + std::to_string(p.group_bytes) + " bytes";
  if (p.host_bytes > 0) text += ", host " + std::to_string(p.host_bytes) + " bytes";
  if (p.host_session_bytes > 0)
    text += ", session in host memory " + std::to_string(p.host_session_bytes) + " bytes";
  text += "\n";
  for (const Port& port : p.ports)
    if (is_input(port.role) && !p.lies_in(port, StorageKind::kInput)) text += port_text(p, port);
  for (const ProgramEntry& e : p.entries) {
    text += "entry " + e.name;
    for (uint32_t before : e.after) text += " after " + p.entries[before].name;
    text += "\n inputs\n";
    for (PortId id : e.inputs) text += port_text(p, p.ports[id]);
    text += " outputs\n";
    for (PortId id : e.outputs) text += port_text(p, p.ports[id]);
    text += " steps\n";
    for (uint32_t i = e.first_step; i < e.first_step + e.num_steps; ++i) {
      for (const FusedGroup& g : p.fused_groups)
        if (g.first_step == i) text += " together " + fused_group_text(p, g) + "\n";
      text += step_text(p, p.steps[i]);
    }
  }
  return text;
}

}  // namespace shw
