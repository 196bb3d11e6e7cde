#include "tools/run_mpi.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "runtime/entry.h"
#include "runtime/mpi/mpi_transport.h"
#include "runtime/world/process_rank.h"
#include "tools/commands.h"
#include "tools/execute.h"

namespace shw::tools {

Result<std::shared_ptr<runtime::ProcessWorld>> join_mpi(const MpiOptions& options) {
  runtime::WorldOptions world;
  world.timeout = std::chrono::nanoseconds(static_cast<int64_t>(options.timeout_s * 1e9));
  SHW_ASSIGN_OR_RETURN(auto transport, runtime::open_mpi_transport(options.plugin, world.timeout));
  return runtime::create_message_world(std::move(transport), world);
}

Result<import::TensorFile> execute_on_mpi(std::shared_ptr<const Plan> plan,
                                          const std::string& entry_name,
                                          const import::TensorFile& inputs, int64_t repeat,
                                          std::shared_ptr<runtime::ProcessWorld> world) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry, runtime::find_entry(plan->program, entry_name));
  SHW_ASSIGN_OR_RETURN(const auto views, bind_inputs(plan->program, *entry, inputs));
  SHW_ASSIGN_OR_RETURN(const auto rank, runtime::ProcessRank::create(plan, std::move(world)));
  std::vector<runtime::HostTensor> outputs;
  for (int64_t i = 0; i < repeat; ++i) {
    SHW_ASSIGN_OR_RETURN(outputs, rank->run(entry_name, views));
  }
  return named_outputs(plan->program, *entry, outputs);
}

void give_up(const Status& status, const std::shared_ptr<runtime::ProcessWorld>& world) {
  const int code = print_error(status, "rank " + std::to_string(world->rank()) + ": ");
  std::fflush(nullptr);
  world->abort(status);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // give other ranks time to notice
  _exit(code);
}

}  // namespace shw::tools
