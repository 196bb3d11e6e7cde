// How fast collectives are among the ranks of this process, and whether their results are right:
// what nccl-tests measures, by the same rules, on any backend.
//
// All members of a group launch one collective many times in a row, out of place. The time of one
// is the average over the launches, by the device's events, and over the ranks. Its sizes are those
// of nccl-tests: what an all-gather gathers and a reduce-scatter scatters, of others a rank's
// operand.
#pragma once
#include <string>
#include <vector>

#include "plan/program.h"
#include "runtime/collective/log.h"
#include "runtime/rank_backend.h"

namespace shw::runtime {

struct CollectiveBenchOptions {
  Mesh mesh;                       // of the ranks; not empty
  std::vector<std::string> group;  // mesh dims along which ranks communicate; empty: all
  Dtype dtype = Dtype::kF32;
  int64_t min_bytes = int64_t{1} << 10, max_bytes = int64_t{1} << 22;
  int64_t factor = 4;  // from one size to the next
  int64_t warm_up = 5, repeats = 20;
  RankBackend backend;
};

struct CollectiveTime {
  int64_t bytes = 0, count = 0;  // count: elements of the smaller of operand and result
  double seconds = 0;
  double algorithm_bandwidth = 0, bus_bandwidth = 0;  // bytes a second
  int64_t wrong = 0;                                  // elements, of all ranks
};
struct CollectiveTimes {
  CollectiveKind kind = CollectiveKind::kNone;
  std::vector<CollectiveTime> sizes;
};
struct CollectiveBenchResult {
  std::string device, model;  // model: what the vendor calls it; may be empty
  Dtype dtype = Dtype::kF32;
  int64_t ranks = 0, group_size = 0, warm_up = 0, repeats = 0;
  std::vector<CollectiveTimes> collectives;
  int64_t wrong() const;
};

// The bus bandwidth is the algorithm's bandwidth times this: what a link carries is the same then
// for any number of ranks. Factors of nccl-tests.
double bus_factor(CollectiveKind kind, int64_t group_size);

// INVALID_ARGUMENT: the options. FAILED_PRECONDITION: the device keeps no time, or computes
// nothing.
Result<CollectiveBenchResult> bench_collectives(const CollectiveBenchOptions& options);

// A table for each collective, which `shardwise calibrate` and others that read output of
// nccl-tests take.
std::string to_text(const CollectiveBenchResult& result);
std::string to_json(const CollectiveBenchResult& result);

}  // namespace shw::runtime
