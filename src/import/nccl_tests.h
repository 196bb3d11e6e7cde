// Parses the output of nccl-tests and rccl-tests (all_gather_perf, reduce_scatter_perf,
// all_reduce_perf, alltoall_perf, sendrecv_perf), of every version since 2020, and of `shardwise
// bench --collectives`: columns are identified by their header.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/status.h"

namespace shw::import {

struct NcclTestRow {
  int64_t bytes;  // as printed: gathered, before the scatter, or per rank
  double us;      // out of place, or in place if only that was run
};

struct NcclTestRun {
  std::string collective;  // "all_gather", "reduce_scatter", "all_reduce", "all_to_all",
                           // "collective_permute"
  int64_t nodes = 1, devices_per_node = 1;
  std::vector<NcclTestRow> rows;  // by increasing size; at least one
  int line = 0;                   // where the run begins
};

// Several runs, and other output in between (of mpirun, or NCCL's log), are accepted. Old versions
// do not print the collective; it is inferred from the columns, or taken from `collective` if they
// are ambiguous. INVALID_ARGUMENT states the line.
Result<std::vector<NcclTestRun>> parse_nccl_tests(std::string_view text,
                                                  std::string_view collective = {});

}  // namespace shw::import
