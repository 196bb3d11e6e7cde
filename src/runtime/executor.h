// Runs a plan on one rank. Kernels and memory are resolved once; each run is then enqueued on
// streams.
//
//   create    prepares the kernels for their types and makes channels (step_kernels.h), allocates
//             arena and workspaces (program_memory.h), and writes the command list of each entry
//             (entry_commands.h)
//   enqueue   fills in the pointers of this run's inputs and outputs and replays the commands, or
//             launches graphs of them. Does no look-up and does not wait for the device. Does not
//             allocate if the caller supplies the outputs and no graph has to be captured again
//   later     a thread of the executor detects the end of runs (run_monitor.h)
//
// Errors during a run are reported late and are sticky: the Completion of that run, all later
// Completions, and enqueue report the first cause until reset(). If a rank fails or is aborted, the
// other ranks of the job are aborted too, so that none waits in a collective for ever.
#pragma once
#include <chrono>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "runtime/buffer.h"
#include "runtime/channel.h"
#include "runtime/hal.h"
#include "runtime/program_layout.h"
#include "runtime/session.h"
#include "runtime/step_kernels.h"
#include "runtime/timeline.h"

namespace shw::runtime {

struct ExecutorOptions {
  int max_in_flight = 4;  // runs; enqueue blocks while that many are unfinished
  std::vector<RegionBody> regions = {};
  // The limit for one run, measured from the end of the previous one. When it is exceeded,
  // everything is stopped with DEADLINE_EXCEEDED. 0: no limit.
  std::chrono::nanoseconds time_limit{0};
  // The caller's stream to compute on, if the device supports that (Capabilities::native_streams).
  void* native_stream = nullptr;
  bool fuse = true;         // fuse steps into groups if the device can (fusion/)
  bool time_steps = false;  // for launch_times(); disables capture as graphs
  bool graphs = false;      // launch captured graphs where possible (entry_graphs.h)
};

struct LaunchTime {
  const StepLaunch* launch = nullptr;
  double begin_s = 0, end_s = 0;  // measured from the start of the entry's first launch
};

class Executor {
 public:
  // `provider` determines the rank and the mesh. UNIMPLEMENTED: graphs are requested and the device
  // cannot capture them.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const Plan> plan,
                                                  std::shared_ptr<Device> device,
                                                  std::unique_ptr<ChannelProvider> provider,
                                                  const ExecutorOptions& options = {});
  // Cancels unfinished runs, and waits for them to end.
  ~Executor();

  const Program& program() const;
  int64_t rank() const;
  const ProgramEntry* find_entry(std::string_view name) const;  // null: none

  // Starts one run after everything in `wait_for` has ended without error. Each input must have at
  // least the bytes of its port. The executor holds inputs and outputs until the run has ended. An
  // output that is null is allocated and returned in its place (ports without a value stay null).
  // Outputs must not overlap inputs, with one exception: if an output updates an input in place,
  // pass the input's buffer, or null, which is replaced by that buffer. `session`: where entries
  // leave data for later entries; null: the executor's own session. FAILED_PRECONDITION: an entry
  // that must run first has not run in this session. INVALID_ARGUMENT: the session belongs to
  // another executor. One thread at a time.
  Result<Completion> enqueue(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                             std::span<BufferRef> outputs,
                             std::span<const Completion> wait_for = {}, Session* session = nullptr);

  // Memory for the data that entries pass to later entries, in addition to the executor's own
  // session. It lets several sequences of entries be in flight. The session may outlive the
  // executor.
  Result<std::shared_ptr<Session>> create_session();
  // The memory of a port whose state the executor keeps; initially zeros. Null: the port is not
  // state. Access it only while no run is in flight.
  BufferRef state(PortId port) const;

  // Stops running and queued runs, here and on the other ranks. Any thread.
  void abort() noexcept;
  // The start and end of each launch in the entry's latest run. Needs `time_steps`; call it once
  // that run has ended.
  Result<std::vector<LaunchTime>> launch_times(const ProgramEntry& entry) const;
  Status fault() const;  // the sticky error
  // Waits until everything has ended, then clears the error, unless the device is lost. All ranks
  // of the job must call reset() before they communicate again. One thread at a time, and not
  // during enqueue.
  void reset();

 private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shw::runtime
