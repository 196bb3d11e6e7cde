// Runs the suites on the ranks of an MPI job. Each process runs all cases, each time for its own
// rank. tests/mpi starts such jobs.
#pragma once
#include <memory>

#include "cts/backends.h"
#include "runtime/world/message_world.h"

namespace shw::cts {

// The job that this process is a rank of; null if there is none and all ranks are in this process.
// The environment variable SHW_CTS_MPI_PLUGIN holds the path of libshardwise_mpi.so.
const std::shared_ptr<runtime::ProcessWorld>& mpi_world();

// The cases from which the backend "mpi" is exempt.
std::vector<Exemption> mpi_exemptions();

// can_have_ranks: whether a job with so many ranks is possible. has_rank: whether `rank` is in this
// process.
bool can_have_ranks(int64_t count);
bool has_rank(int64_t rank);

// Returns a rank's channels of a new job, over MPI.
std::unique_ptr<runtime::ChannelProvider> join_mpi_job(const Mesh& mesh);

}  // namespace shw::cts
