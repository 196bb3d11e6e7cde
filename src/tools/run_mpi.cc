#include "tools/run_mpi.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "runtime/mpi/mpi_transport.h"
#include "tools/commands.h"

namespace shw::tools {

Result<std::shared_ptr<runtime::ProcessWorld>> join_mpi(const MpiOptions& options) {
  runtime::WorldOptions world;
  world.timeout = std::chrono::nanoseconds(static_cast<int64_t>(options.timeout_s * 1e9));
  SHW_ASSIGN_OR_RETURN(auto transport, runtime::open_mpi_transport(options.plugin, world.timeout));
  return runtime::create_message_world(std::move(transport), world);
}

void give_up(const Status& status, const std::shared_ptr<runtime::ProcessWorld>& world) {
  const int code = print_error(status, "rank " + std::to_string(world->rank()) + ": ");
  std::fflush(nullptr);
  world->abort(status);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // give other ranks time to notice
  _exit(code);
}

}  // namespace shw::tools
