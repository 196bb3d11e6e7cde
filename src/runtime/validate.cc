#include "runtime/validate.h"

#include <algorithm>
#include <string>

namespace shw::runtime {
namespace {

std::string number(int64_t v) { return std::to_string(v); }

Status check_mesh(const Program& program, const Mesh& mesh) {
  bool same = program.mesh.size() == static_cast<size_t>(mesh.rank());
  for (int d = 0; same && d < mesh.rank(); ++d)
    same = program.mesh[static_cast<size_t>(d)].size == mesh.size(d);
  if (same) return {};
  std::string planned;
  for (const Mesh::Axis& axis : program.mesh)
    planned += (planned.empty() ? "" : ",") + axis.name + "=" + number(axis.size);
  return failed_precondition("the plan is for the mesh " + planned + ", the job has " +
                             mesh.to_string());
}

Status check_storages(const Program& program) {
  uint32_t i = 0;
  for (const ProgramStorage& s : program.storages) {
    const std::string name = "storage " + number(i++);
    if (s.bytes < 0) return data_loss(name + " has " + number(s.bytes) + " bytes");
    if (s.kind != StorageKind::kArena) continue;
    if (s.offset_bytes < 0)
      return failed_precondition(name + " has no place in the arena: memory is not planned");
    if (s.offset_bytes % kArenaAlignment != 0 || s.offset_bytes > program.arena_bytes ||
        s.bytes > program.arena_bytes - s.offset_bytes)
      return data_loss(name + " at " + number(s.offset_bytes) + ", " + number(s.bytes) +
                       " bytes, does not lie aligned inside the arena of " +
                       number(program.arena_bytes) + " bytes");
  }
  return {};
}

Status check_values(const Program& program) {
  uint32_t i = 0;
  for (const ProgramValue& v : program.values) {
    const std::string name = "value " + number(i++);
    if (Status s = check_tensor_type(v.type); !s.ok()) return data_loss(name + ": " + s.message());
    if (v.storage.v >= program.storages.size()) return data_loss(name + " has no storage");
    if (v.type.numel() == 0) continue;
    int64_t end = 1;  // elements from the first to the one that lies furthest
    bool fits = true;
    for (size_t d = 0; d < v.type.shape.size(); ++d) {
      int64_t reach = 0;
      fits = fits && !__builtin_mul_overflow(v.type.shape[d] - 1, v.type.strides[d], &reach) &&
             !__builtin_add_overflow(end, reach, &end);
    }
    const int64_t element = dtype_size(v.type.dtype);
    const int64_t have = program.storages[v.storage].bytes;
    fits = fits && v.offset_bytes >= 0 && v.offset_bytes <= have &&
           v.offset_bytes % element_alignment(v.type.dtype) == 0 &&
           end <= (have - v.offset_bytes) / element;
    if (!fits)
      return data_loss(name + ", " + to_string(v.type) + " at byte " + number(v.offset_bytes) +
                       ", does not lie inside its storage of " + number(have) + " bytes");
  }
  return {};
}

Status check_step(const Program& program, const ProgramStep& step, const Mesh& mesh) {
  const auto known = [&](ValueId v) { return !v.valid() || v.v < program.values.size(); };
  if (!std::all_of(step.inputs.begin(), step.inputs.end(), known) ||
      !std::all_of(step.outputs.begin(), step.outputs.end(), known))
    return data_loss("an operand is not in the table of values");
  const auto known_event = [&](uint32_t e) { return e < program.num_events; };
  if (static_cast<int>(step.stream) >= kNumStreams ||
      !std::all_of(step.waits.begin(), step.waits.end(), known_event) ||
      (step.records != kNoEvent && !known_event(step.records)))
    return data_loss("a stream or an event is out of range");
  for (ValueId out : step.outputs)
    if (out.valid() && program.storages[program.values[out].storage].kind == StorageKind::kInput)
      return data_loss("the step writes into an input");
  if (step.collective.kind == CollectiveKind::kNone) return {};
  const auto& axes = step.collective.axes;
  int64_t size = 1;
  for (uint8_t axis : axes) {
    if (axis >= mesh.rank() || std::count(axes.begin(), axes.end(), axis) != 1)
      return data_loss("the axes of a collective are not distinct mesh dims");
    size *= mesh.size(axis);
  }
  return collective_spec(program, step, size).status();
}

Status check_entry(const Program& program, const ProgramEntry& entry, const Mesh& mesh) {
  if (entry.first_step > program.steps.size() ||
      entry.num_steps > program.steps.size() - entry.first_step)
    return data_loss("the entry's steps are out of range");
  const auto check_port = [&](const Port& port, StorageKind kind, size_t index) -> Status {
    if (!port.value.valid()) return {};
    if (port.value.v >= program.values.size())
      return data_loss("'" + port.name + "' is not in the table of values");
    const ProgramStorage& s = program.storages[program.values[port.value].storage];
    if (s.kind != kind || s.port != index)
      return data_loss("'" + port.name + "' does not lie in the storage of its port");
    return {};
  };
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    SHW_RETURN_IF_ERROR(check_port(entry.inputs[i], StorageKind::kInput, i));
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    SHW_RETURN_IF_ERROR(check_port(entry.outputs[i], StorageKind::kOutput, i));
  // What the executor will ask of the caller: the storages behind the ports, and no others.
  const auto check_operand = [&](ValueId v) -> Status {
    if (!v.valid()) return {};
    const ProgramStorage& s = program.storages[program.values[v].storage];
    if (s.kind == StorageKind::kArena) return {};
    const auto& ports = s.kind == StorageKind::kInput ? entry.inputs : entry.outputs;
    if (s.port >= ports.size() || !ports[s.port].value.valid() ||
        program.storages[program.values[ports[s.port].value].storage].bytes < s.bytes)
      return data_loss("a step uses a port that the entry does not have");
    return {};
  };
  for (uint32_t i = 0; i < entry.num_steps; ++i) {
    const ProgramStep& step = program.steps[entry.first_step + i];
    for (const auto* operands : {&step.inputs, &step.outputs})
      for (ValueId v : *operands)
        if (Status s = check_operand(v); !s.ok()) return s.at_node(step.node, step.kernel);
  }
  return check_mesh(program, mesh);
}

}  // namespace

Status validate(const Program& program, const Mesh& mesh) {
  SHW_RETURN_IF_ERROR(check_mesh(program, mesh));
  SHW_RETURN_IF_ERROR(check_storages(program));
  SHW_RETURN_IF_ERROR(check_values(program));
  for (const ProgramStep& step : program.steps)
    if (Status s = check_step(program, step, mesh); !s.ok())
      return s.at_node(step.node, step.kernel);
  for (const ProgramEntry& entry : program.entries)
    SHW_RETURN_IF_ERROR(check_entry(program, entry, mesh));
  return {};
}

Result<CollectiveSpec> collective_spec(const Program& program, const ProgramStep& step,
                                       int64_t size) {
  if (step.inputs.size() != 1 || step.outputs.size() != 1 || !step.inputs[0].valid() ||
      !step.outputs[0].valid())
    return data_loss("a collective has one input and one output");
  const TensorType& in = program.values[step.inputs[0]].type;
  const TensorType& out = program.values[step.outputs[0]].type;
  const int64_t n = in.numel(), m = out.numel();
  int64_t count = -1;
  switch (step.collective.kind) {
    case CollectiveKind::kAllGather:
      count = n * size == m ? n : -1;
      break;
    case CollectiveKind::kReduceScatter:
      count = m * size == n ? m : -1;
      break;
    case CollectiveKind::kAllReduce:
      count = n == m ? n : -1;
      break;
    case CollectiveKind::kAllToAll:
      count = n == m && n % size == 0 ? n / size : -1;
      break;
    case CollectiveKind::kNone:
      break;
  }
  if (count < 0 || in.dtype != out.dtype || !in.contiguous() || !out.contiguous())
    return data_loss("a collective over " + std::to_string(size) + " ranks cannot make " +
                     to_string(out) + " of " + to_string(in));
  return CollectiveSpec{step.collective.kind, step.collective.op, in.dtype, count};
}

}  // namespace shw::runtime
