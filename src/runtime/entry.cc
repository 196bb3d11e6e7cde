#include "runtime/entry.h"

#include <string>

#include "runtime/host_tensor.h"

namespace shw::runtime {

Result<const ProgramEntry*> find_entry(const Program& program, std::string_view name) {
  for (const ProgramEntry& entry : program.entries)
    if (entry.name == name) return &entry;
  return Status(Code::kNotFound, "the plan has no entry '" + std::string(name) + "'");
}

Result<const ProgramEntry*> entry_to_run(const Program& program, const Mesh& mesh,
                                         std::string_view name, size_t num_inputs) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, find_entry(program, name));
  if (num_inputs != entry->inputs.size())
    return invalid_argument("entry '" + entry->name + "' has " +
                            std::to_string(entry->inputs.size()) + " inputs, not " +
                            std::to_string(num_inputs));
  for (PortId id : entry->outputs)
    if (const Port& port = program.ports[id]; port.value.valid())
      SHW_RETURN_IF_ERROR(check_can_shard(port, mesh));
  return entry;
}

}  // namespace shw::runtime
