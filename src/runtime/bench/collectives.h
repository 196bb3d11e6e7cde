// Measures how fast collectives are among the ranks of this process, and checks their results: what
// nccl-tests measures, by the same rules, on any backend.
//
// All members of a group launch one collective many times in a row, out of place. The reported time
// is the average over launches (by the device's events) and ranks. Sizes are defined as in
// nccl-tests: the gathered tensor of an all-gather, the input of a reduce-scatter, and a rank's
// operand for all others.
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
  int64_t factor = 4;  // ratio of successive sizes
  int64_t warm_up = 5, repeats = 20;
  RankBackend backend;
};

struct CollectiveTime {
  int64_t bytes = 0, count = 0;  // count: elements of the smaller of operand and result
  double seconds = 0;
  double algorithm_bandwidth = 0, bus_bandwidth = 0;  // bytes a second
  int64_t wrong = 0;                                  // wrong elements on all ranks
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

// Bus bandwidth divided by algorithm bandwidth, with the factors of nccl-tests. The factor makes
// the bus bandwidth the rate of a link, independent of the number of ranks.
double bus_factor(CollectiveKind kind, int64_t group_size);

// INVALID_ARGUMENT: the options are invalid. FAILED_PRECONDITION: the device cannot measure time,
// or computes nothing.
Result<CollectiveBenchResult> bench_collectives(const CollectiveBenchOptions& options);

// A table for each collective, in the format of nccl-tests, which `shardwise calibrate` and other
// tools read.
std::string to_text(const CollectiveBenchResult& result);
std::string to_json(const CollectiveBenchResult& result);

}  // namespace shw::runtime
