#include "runtime/session.h"

#include <string>

#include "runtime/program_layout.h"

namespace shw::runtime {

Result<std::shared_ptr<Session>> Session::create(Owner owner, std::shared_ptr<Device> device,
                                                 const Program& program) {
  std::shared_ptr<Session> session(new Session(std::move(owner), program.entries.size()));
  SHW_ASSIGN_OR_RETURN(session->memory_,
                       Buffer::allocate(device, {program.session_bytes, arena_alignment(program)}));
  if (program.host_session_bytes > 0) {
    SHW_ASSIGN_OR_RETURN(session->host_memory_,
                         Buffer::allocate(device, {program.host_session_bytes,
                                                   arena_alignment(program), MemoryKind::kHost}));
  }
  return session;
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
