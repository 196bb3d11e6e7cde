// What nccl-tests (and rccl-tests) print: all_gather_perf, reduce_scatter_perf, all_reduce_perf,
// alltoall_perf. Of every version since 2020: columns are found by their names in the header.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/status.h"

namespace shw::import {

struct NcclTestRow {
  int64_t bytes;  // as printed: gathered, before the scatter, or of one rank
  double us;      // out of place; in place where only that was run
};

struct NcclTestRun {
  std::string collective;  // "all_gather", "reduce_scatter", "all_reduce", "all_to_all"
  int64_t nodes = 1, devices_per_node = 1;
  std::vector<NcclTestRow> rows;  // by rising size; none empty
  int line = 0;                   // where the run begins
};

// Runs may follow one another, between other output (of mpirun, NCCL's own log). Old versions do
// not print which collective they ran: it is told from the columns, or by `collective` where those
// leave it open. INVALID_ARGUMENT says the line.
Result<std::vector<NcclTestRun>> parse_nccl_tests(std::string_view text,
                                                  std::string_view collective = {});

}  // namespace shw::import
