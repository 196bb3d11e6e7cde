// How long an entry of a plan takes on this machine, and where the time goes.
//
// Every rank of the plan's mesh runs in this process, on a device of its own. The runs are timed as
// a whole, and, unless told otherwise, each step by two events around it. In the same run, product
// after product is timed on gapless operands: the best rate gives the time that the plan's matrix
// products would take alone, its floor. A step is compared with the rate that was measured right
// after it, so a machine that is busy with other work slows both.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/virtual_ranks.h"

namespace shw::runtime {

struct BenchOptions {
  std::string entry;    // empty: the plan's first
  int64_t warm_up = 2;  // runs that are not counted
  int64_t repeats = 10;
  // Only runs as a whole, with no event inside them, which costs a GPU a little time: no floor, and
  // ranks have no times. So it is with graphs, which can be timed in no other way.
  bool whole = false;
  bool graphs = false;       // as CUDA graphs
  ExecutorOptions executor;  // `time_steps` and `graphs` are set as those above say
  RankBackend backend;
};

struct Quartiles {
  double low = 0, median = 0, high = 0;
};
Quartiles quartiles_of(std::vector<double> values);

// All launches of one kernel, or of one group of kernels (fusion/), on one rank. Times are medians
// over the runs, of their sum in a run.
struct BenchOp {
  std::string kernel;  // of a collective with its group; of a group one after another
  int64_t launches = 0, steps = 0;
  double seconds = 0;
  double planned_seconds = 0;   // what the plan says that they take on its hardware
  double flops = 0, bytes = 0;  // of one run
  bool product = false;         // its FLOPs are part of the floor
};

// A launch in the run that was timed last.
struct BenchLaunch {
  std::string kernel;  // as of BenchOp
  std::string stream;  // "compute", "dp+tp", …
  uint32_t step = 0;   // in the program: its first
  int64_t node = -1;   // of the caller's graph; -1: none
  double begin_s = 0,
         end_s = 0;  // from the begin of the rank's first launch, by its device's clock
  double planned_seconds = 0;
};

struct BenchRank {
  std::vector<BenchOp> ops;           // the longest first
  std::vector<BenchLaunch> timeline;  // in the program's order
  double seconds = 0;    // from the begin of its first step to the end of its last, median
  double flops = 0;      // of its matrix products in one run
  Quartiles over_floor;  // time of a run, by the time of its products at the best rate
};

struct BenchResult {
  std::string entry, device, model;  // model: what its maker calls the device; may be empty
  std::string hardware;              // that the plan was made for
  int64_t warm_up = 0, repeats = 0;
  bool whole = false, graphs = false;  // of the options
  bool computes = true;      // false: the times are those of launching, and there is no floor
  Quartiles seconds;         // of a run, from its enqueueing to its end on every rank
  double cpu_seconds = 0;    // of this process in a run, median; all ranks together
  Quartiles cpu_over_floor;  // the same by the CPU time of the products of all ranks; on the CPU
  // That of f32 products which take vectors alone, where the processor has a matrix unit too, and
  // their rate on one core. 0: not f32, or not on the CPU.
  Quartiles cpu_over_vector_floor;
  double vector_flops_per_second = 0;
  double flops_per_second = 0;  // the best rate of a product while every rank does one; 0: none
  double floor_seconds = 0;     // of the rank with the most FLOPs
  std::vector<BenchRank> ranks;
};

// NOT_FOUND: there is no such entry. FAILED_PRECONDITION: it needs another one to run before it, or
// the device does not keep the time of real hardware.
Result<BenchResult> bench(std::shared_ptr<const Plan> plan, const BenchOptions& options);

std::string to_text(const BenchResult& result);
std::string to_json(const BenchResult& result);
// The timelines as Chrome trace events, which ui.perfetto.dev opens: a process for each rank, in it
// a track for each stream. Each rank's time begins with its own first launch.
std::string to_trace(const BenchResult& result);

}  // namespace shw::runtime
