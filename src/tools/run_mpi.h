// `run --mpi`: this process's rank of a plan, in a job started by mpirun.
#pragma once
#include <memory>
#include <string>

#include "import/safetensors.h"
#include "plan/plan.h"
#include "runtime/world/message_world.h"

namespace shw::tools {

struct MpiOptions {
  double timeout_s = 600;  // of each wait for another rank
  std::string plugin;      // path of libshardwise_mpi.so; empty: searched
};

Result<std::shared_ptr<runtime::ProcessWorld>> join_mpi(const MpiOptions& options);

// Runs the entry `repeat` times with the other processes, which call it with the same arguments.
// Whole outputs of the last run on rank 0, none on the others.
Result<import::TensorFile> execute_on_mpi(std::shared_ptr<const Plan> plan,
                                          const std::string& entry,
                                          const import::TensorFile& inputs, int64_t repeat,
                                          std::shared_ptr<runtime::ProcessWorld> world);

// Ends the process after a failed run. Other ranks may be dead or stopped: MPI's own end, which
// would wait for them, is left out. Prints the error with this rank's number.
[[noreturn]] void give_up(const Status& status,
                          const std::shared_ptr<runtime::ProcessWorld>& world);

}  // namespace shw::tools
