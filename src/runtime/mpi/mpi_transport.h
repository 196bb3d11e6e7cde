// MPI as a transport of worlds. The code that uses MPI is in a plug-in, libshardwise_mpi.so, which
// is loaded on demand. So this library can be built, installed and loaded without MPI.
#pragma once
#include <memory>
#include <string>

#include "runtime/collective/log.h"
#include "runtime/world/transport.h"

namespace shw::runtime {

// Opens the plug-in at `path`. If `path` is empty, it searches the folder of the object that
// contains this code, the folder `../lib` relative to it, and the system's library path. Joins
// MPI_COMM_WORLD. Initialises MPI with MPI_THREAD_MULTIPLE, which is required, unless the process
// has initialised it. UNAVAILABLE states which paths were tried, or why MPI failed.
// DEADLINE_EXCEEDED: other processes did not make the same call within `timeout`. Closing the
// transport also takes at most `timeout`.
Result<std::unique_ptr<Transport>> open_mpi_transport(const std::string& path, Timeout timeout);

}  // namespace shw::runtime
