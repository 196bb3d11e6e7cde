#include "lowering/ports.h"

#include <algorithm>
#include <optional>
#include <string>

#include "ops/op_def.h"

namespace shw {
namespace {

// The layout of a port: a partial value cannot be passed to or from the caller.
Layout without_partials(Layout layout) {
  for (Placement& p : layout.placement)
    if (p.is_partial()) p = Placement::replicate();
  return normalised(layout);
}

StorageKind storage_kind(const InputInfo& input) {
  if (input.role == InputRole::kConstant) return StorageKind::kConstant;
  return input.storage == InputStorage::kState ? StorageKind::kState : StorageKind::kInput;
}

}  // namespace

Status Ports::create(bool allow_partial_inputs) {
  for (uint32_t i = 0; i < g_.inputs().size(); ++i)
    if (Status s = create_input(i, allow_partial_inputs); !s.ok())
      return at_origin(std::move(s), g_, g_.inputs()[i].node);
  for (uint32_t i = 0; i < g_.outputs().size(); ++i)
    if (Status s = create_output(i); !s.ok())
      return at_origin(std::move(s), g_, g_.outputs()[i].node);
  return {};
}

Status Ports::create_input(uint32_t input, bool allow_partial) {
  const InputInfo& info = g_.inputs()[input];
  const Layout& chosen = a_.results(info.node)[0];
  if (chosen.has_partial() && !allow_partial)
    return invalid_argument("an input cannot be partial: " + to_string(chosen, mesh_.rank()));
  const Layout layout = without_partials(chosen);
  const TensorType global = row_major(g_.type(info.node).dtype, g_.type(info.node).shape);
  const TensorType local = row_major(global.dtype, local_shape(global.shape, layout, mesh_));
  const ValueId value = builder_.fresh(local, storage_kind(info), input);
  Port port{g_.full_name(info), static_cast<PortRole>(info.role), global, layout, value};
  if (info.data != nullptr) port.data = *info.data;
  port.sizes = info.sizes;
  p_.ports.push_back(std::move(port));
  return {};
}

Status Ports::create_output(uint32_t output) {
  const OutputInfo& out = g_.outputs()[output];
  const auto role = static_cast<PortRole>(static_cast<int>(out.role) + 10);
  Port port{g_.full_name(out), role, {}, {}, {}};
  if (out.node.valid()) {
    port.global = row_major(g_.type(out.node).dtype, g_.type(out.node).shape);
    port.layout = without_partials(a_.results(out.node)[0]);
    port.sizes = out.sizes;
    if (out.in_place) {
      const Port& input = p_.ports[of_input(static_cast<uint32_t>(out.of_input))];
      if (input.layout != port.layout)
        return invalid_argument(
            "the update of '" + input.name + "' lies " + to_string(port.layout, mesh_.rank()) +
            ", and not where it is to be, " + to_string(input.layout, mesh_.rank()));
      port.value = input.value;
    }
  }
  p_.ports.push_back(std::move(port));
  return {};
}

// The operand in the storage `in`, if the op may overwrite it with its result.
std::optional<uint32_t> Ports::overwritable_operand(const ProgramStep& step, StorageId in) const {
  const auto op = op_from_name(step.kernel);
  if (!op) return std::nullopt;
  for (uint32_t k = 0; k < step.inputs.size(); ++k) {
    if (!step.inputs[k].valid() || p_.values[step.inputs[k]].storage != in) continue;
    const InPlace allowed = op_def(*op).in_place;
    const bool may =
        allowed == InPlace::kAnyOperand || (allowed == InPlace::kFirstOperand && k == 0);
    return may ? std::optional(k) : std::nullopt;
  }
  return std::nullopt;
}

bool Ports::is_whole_storage(ValueId value) const {
  return p_.lies_in(value, StorageKind::kArena) && is_whole(p_, value);
}

void Ports::move_storage(StorageId from, StorageId to) {
  for (ProgramValue& v : p_.values)
    if (v.storage == from) v.storage = to;
  p_.storages[from].bytes = 0;
}

void Ports::export_output(uint32_t output, ValueId value, bool read_later) {
  if (g_.outputs()[output].in_place) {
    updates_.push_back({static_cast<uint32_t>(g_.outputs()[output].of_input), value, read_later});
    return;
  }
  const PortId id = of_output(output);
  const ProgramValue& v = builder_.value(value);
  const TensorType type = row_major(v.type.dtype, v.type.shape);
  const bool as_it_lies = is_whole_storage(value) && !read_later;
  const ValueId known = p_.ports[id].value;  // another entry returns it, too
  if (as_it_lies && known.valid()) {
    move_storage(v.storage, p_.values[known].storage);
  } else if (as_it_lies) {
    ProgramStorage& storage = p_.storages[v.storage];
    storage.kind = StorageKind::kOutput;
    storage.port = id.v;
    p_.ports[id].value = builder_.window_like(value, type);
  } else {
    const ValueId copy = known.valid() ? known : builder_.fresh(type, StorageKind::kOutput, id.v);
    builder_.step("clone", {value}, {copy}, prices_.copy_us(type.bytes()));
    p_.ports[id].value = copy;
  }
}

void Ports::update_in_place(uint32_t first_step) {
  // First the updates that can be written directly. The others become copies at the end of the
  // entry.
  std::vector<Update> copies;
  const std::vector<Accesses> of =
      updates_.empty() ? std::vector<Accesses>() : accesses(first_step);
  for (const Update& u : updates_) {
    if (can_overwrite(u, of))
      move_storage(p_.values[u.value].storage, p_.values[input_value(u.input)].storage);
    else
      copies.push_back(u);
  }
  // Copying one input into another must not read an input that is already overwritten. So all such
  // inputs are read first.
  for (Update& u : copies)
    if (p_.storages[p_.values[u.value].storage].kind != StorageKind::kArena)
      u.value = builder_.clone(u.value, prices_.copy_us(p_.values[u.value].type.bytes()));
  for (const Update& u : copies) {
    const int64_t bytes = p_.values[u.value].type.bytes();
    builder_.step("clone", {u.value}, {input_value(u.input)}, prices_.copy_us(bytes));
  }
  updates_.clear();
}

// By storage: the steps from `first_step` on that write and read it.
std::vector<Ports::Accesses> Ports::accesses(uint32_t first_step) const {
  std::vector<Accesses> of(p_.storages.size());
  for (uint32_t i = first_step; i < p_.steps.size(); ++i) {
    for (ValueId v : p_.steps[i].outputs)
      if (v.valid()) {
        Accesses& a = of[p_.values[v].storage.v];
        a.written_twice |= a.maker.has_value();
        a.maker = i;
      }
    for (ValueId v : p_.steps[i].inputs)
      if (v.valid()) of[p_.values[v].storage.v].last_reader = i;
  }
  return of;
}

// Requires that only one step makes the new value, and that no later step reads the old one. If
// that step itself reads the old value, it must be as an operand that the kernel may overwrite.
bool Ports::can_overwrite(const Update& update, const std::vector<Accesses>& of) {
  if (update.read_later || !is_whole_storage(update.value)) return false;
  const StorageId from = p_.values[update.value].storage;
  const StorageId to = p_.values[input_value(update.input)].storage;
  if (p_.values[update.value].type != p_.values[input_value(update.input)].type) return false;
  if (of[from.v].written_twice) return false;
  const std::optional<uint32_t> maker = of[from.v].maker, last_reader = of[to.v].last_reader;
  if (!maker || p_.steps[*maker].collective.kind != CollectiveKind::kNone) return false;
  if (!last_reader || *last_reader < *maker) return true;
  if (*last_reader > *maker) return false;
  ProgramStep& step = p_.steps[*maker];
  const auto operand = overwritable_operand(step, to);
  if (!operand) return false;
  const ProgramValue& in = p_.values[step.inputs[*operand]];
  const ProgramValue& out = p_.values[step.outputs[0]];
  if (in.storage != to || in.offset_bytes != 0 || in.type != out.type || out.storage != from)
    return false;
  for (uint32_t k = 0; k < step.inputs.size(); ++k)
    if (k != *operand && step.inputs[k].valid() && p_.values[step.inputs[k]].storage == to)
      return false;
  step.in_place = *operand;
  return true;
}

void Ports::finish() {
  std::vector<uint32_t> writer(p_.storages.size(), UINT32_MAX);
  for (uint32_t e = 0; e < p_.entries.size(); ++e) {
    const ProgramEntry& entry = p_.entries[e];
    for (uint32_t i = entry.first_step; i < entry.first_step + entry.num_steps; ++i) {
      for (ValueId v : p_.steps[i].inputs) {
        if (!v.valid()) continue;
        const StorageId s = p_.values[v].storage;
        if (p_.storages[s].kind == StorageKind::kArena && writer[s.v] != e)
          p_.storages[s].kind = StorageKind::kSession;
      }
      for (ValueId v : p_.steps[i].outputs)
        if (v.valid()) writer[p_.values[v].storage.v] = e;
    }
  }
}

}  // namespace shw
