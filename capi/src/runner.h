// The objects behind the handles of a runner and of a pending run.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "executor.h"
#include "shardwise/runner.h"

namespace shw::capi {

// The buffers of one run, rank by rank.
struct RunBuffers {
  std::vector<std::unique_ptr<shw_buffer>> inputs, outputs;
};

// Data that a runner shares with the runs that it started, which may outlive it.
struct RunnerShared {
  PlanRef plan;
  std::atomic<bool> failed = false;            // executors must be reset before further use
  std::atomic<uint64_t> epoch = 0;             // number of resets of all executors
  std::atomic<uint64_t> stopped = 0;           // 1 + the epoch in which the caller stopped all runs
  std::mutex mutex;                            // guards `spare`
  std::vector<std::vector<RunBuffers>> spare;  // by entry: buffers of runs without a handle
};

}  // namespace shw::capi

struct shw_runner {
  std::shared_ptr<shw::capi::RunnerShared> shared;
  std::vector<std::unique_ptr<shw_executor>> executors;
  bool recovering = false;  // also between calls, if memory ran out during recovery
  size_t num_reset = 0;     // executors that this recovery has reset
};

struct shw_pending {
  std::shared_ptr<shw::capi::RunnerShared> shared;
  size_t entry = 0;
  uint64_t epoch = 0;  // epoch in which it was started
  shw::capi::RunBuffers buffers;
  std::vector<std::unique_ptr<shw_event>> events;  // by rank

  ~shw_pending();
  const shw::ProgramEntry& of_entry() const { return shared->plan->plan.program.entries[entry]; }
  // The pieces of an output, by rank.
  std::vector<shw_buffer*> pieces(size_t output) const;
};

namespace shw::capi {

bool has_ended(const shw_pending& pending);

// `timeout_ns` as in shw_pending_wait().
Status wait_for(const shw_pending& pending, int64_t timeout_ns);

}  // namespace shw::capi
