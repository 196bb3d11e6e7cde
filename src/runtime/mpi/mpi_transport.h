// MPI as a transport of worlds. MPI itself is in a plug-in, libshardwise_mpi.so, that is opened
// when somebody asks for it: this library needs no MPI to be built, installed or loaded.
#pragma once
#include <memory>
#include <string>

#include "runtime/collective/log.h"
#include "runtime/world/transport.h"

namespace shw::runtime {

// Opens the plug-in at `path`; where that is empty, beside the object that this code is in, in the
// folder `../lib` from there, and where the system looks for libraries. Joins MPI_COMM_WORLD, and
// initialises MPI unless the process has: with MPI_THREAD_MULTIPLE, which is needed. UNAVAILABLE
// says what was tried, or why MPI refused; DEADLINE_EXCEEDED: other processes did not do the same
// within `timeout`. The close of the transport takes no longer than that, either.
Result<std::unique_ptr<Transport>> open_mpi_transport(const std::string& path, Timeout timeout);

}  // namespace shw::runtime
