// The suites on the ranks of an MPI job: every process runs all cases, each for its own rank. How
// such a job is started: tests/mpi.
#pragma once
#include <memory>

#include "cts/backends.h"
#include "runtime/world/message_world.h"

namespace shw::cts {

// The job that this process is a rank of; null: there is none, and all ranks are in this process.
// Environment: SHW_CTS_MPI_PLUGIN, the path of libshardwise_mpi.so.
const std::shared_ptr<runtime::ProcessWorld>& mpi_world();

// What the backend "mpi" is exempt from.
std::vector<Exemption> mpi_exemptions();

// Whether a job of so many ranks can be made, and whether this process has a rank of it.
bool can_have_ranks(int64_t count);
bool has_rank(int64_t rank);

// A rank's channels of a new job, over MPI.
std::unique_ptr<runtime::ChannelProvider> join_mpi_job(const Mesh& mesh);

}  // namespace shw::cts
