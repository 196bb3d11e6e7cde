// Measures how long an entry of a plan takes on this machine, and which steps take the time.
//
// Every rank of the plan's mesh runs in this process, on its own device. Runs are timed as a whole
// and, by default, each step by an event before and after it. After every run, matrix products are
// timed on gapless operands. The *floor* is the time that the plan's matrix products would take at
// the best of these rates. Both times are measured close together, so other load on the machine
// slows both.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/virtual_ranks.h"

namespace shw::runtime {

struct BenchOptions {
  std::string entry;    // empty: the plan's first entry
  int64_t warm_up = 2;  // untimed runs at the start
  int64_t repeats = 10;
  // Times only whole runs, without events inside them, because events cost a GPU a little time.
  // Then there is no floor and no time per rank. The same holds with graphs, which can only be
  // timed as a whole.
  bool whole = false;
  bool graphs = false;       // launch the run as CUDA graphs
  ExecutorOptions executor;  // its `time_steps` and `graphs` are overwritten
  RankBackend backend;
};

struct Quartiles {
  double low = 0, median = 0, high = 0;
};
Quartiles quartiles_of(std::vector<double> values);

// All launches of one kernel, or of one group of kernels (fusion/), on one rank. The times of a
// run's launches are added up; the result is the median over the runs.
struct BenchOp {
  std::string kernel;  // collectives with their group; groups list their kernels
  int64_t launches = 0, steps = 0;
  double seconds = 0;
  double planned_seconds = 0;   // the plan's prediction for its hardware
  double flops = 0, bytes = 0;  // per run
  bool product = false;         // its FLOPs count for the floor
};

// A launch in the last timed run.
struct BenchLaunch {
  std::string kernel;  // as in BenchOp
  std::string stream;  // "compute", "dp+tp", …
  uint32_t step = 0;   // number of its first step in the program
  int64_t node = -1;   // node of the caller's graph; -1: none
  double begin_s = 0,
         // Measured from the start of the rank's first launch, by the clock of its device.
      end_s = 0;
  double planned_seconds = 0;
};

struct BenchRank {
  std::vector<BenchOp> ops;           // longest first
  std::vector<BenchLaunch> timeline;  // in program order
  double seconds = 0;                 // start of the first step to end of the last, median
  double flops = 0;                   // of its matrix products in one run
  Quartiles over_floor;               // run time / time of its products at the best rate
};

struct BenchResult {
  std::string entry, device, model;  // model: the vendor's name; may be empty
  std::string hardware;              // hardware that the plan was made for
  int64_t warm_up = 0, repeats = 0;
  bool whole = false, graphs = false;  // as in the options
  bool computes = true;      // false: the times are those of launching, and there is no floor
  Quartiles seconds;         // per run, from its enqueueing to its end on all ranks
  double cpu_seconds = 0;    // CPU time of this process per run, all ranks, median
  Quartiles cpu_over_floor;  // cpu_seconds / CPU time of all ranks' products
  // The same ratio for f32 products on vector units only, if the processor also has a matrix unit;
  // and the rate of such products on one core. 0: not f32, or not on the CPU.
  Quartiles cpu_over_vector_floor;
  double vector_flops_per_second = 0;
  double flops_per_second = 0;  // best rate of a product, with all ranks active; 0: none
  double floor_seconds = 0;     // for the rank with the most FLOPs
  std::vector<BenchRank> ranks;
};

// NOT_FOUND: there is no such entry. FAILED_PRECONDITION: another entry must run before it, or the
// device cannot measure time.
Result<BenchResult> bench(std::shared_ptr<const Plan> plan, const BenchOptions& options);

std::string to_text(const BenchResult& result);
std::string to_json(const BenchResult& result);
// The timelines as Chrome trace events, for ui.perfetto.dev: a process for each rank, with a track
// for each stream. Each rank's time starts at its own first launch.
std::string to_trace(const BenchResult& result);

}  // namespace shw::runtime
