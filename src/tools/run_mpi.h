// `run --mpi`: runs this process's rank of a plan in a job started by mpirun.
#pragma once
#include <memory>
#include <string>

#include "runtime/world/message_world.h"

namespace shw::tools {

struct MpiOptions {
  double timeout_s = 600;  // for each wait for another rank
  std::string plugin;      // path of libshardwise_mpi.so; empty: search for it
};

Result<std::shared_ptr<runtime::ProcessWorld>> join_mpi(const MpiOptions& options);

// Ends the process after a failed run and prints the error with this rank's number. Skips
// MPI_Finalize, which would wait for ranks that may be dead or stopped.
[[noreturn]] void give_up(const Status& status,
                          const std::shared_ptr<runtime::ProcessWorld>& world);

}  // namespace shw::tools
