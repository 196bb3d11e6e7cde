#include "runtime/session.h"

#include <string>

#include "runtime/program_layout.h"

namespace shw::runtime {

Result<std::shared_ptr<Session>> Session::create(Owner owner, std::shared_ptr<Device> device,
                                                 const Program& program) {
  SHW_ASSIGN_OR_RETURN(
      BufferRef memory,
      Buffer::allocate(std::move(device), {program.session_bytes, arena_alignment(program)}));
  return std::shared_ptr<Session>(
      new Session(std::move(owner), std::move(memory), program.entries.size()));
}

Status Session::check(const Owner& owner, const Program& program, size_t entry) const {
  if (owner != owner_) return invalid_argument("the session belongs to another executor");
  for (uint32_t before : program.entries[entry].after)
    if (!has_run_[before])
      return failed_precondition("entry '" + program.entries[entry].name + "' runs after '" +
                                 program.entries[before].name +
                                 "', which has not run in this session");
  return {};
}

}  // namespace shw::runtime
