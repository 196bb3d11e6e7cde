// Runs a plan on one rank: resolves kernels and memory once, then puts runs on streams.
//
//   create    prepares the kernels for their types and makes channels (step_kernels.h), allocates
//             arena and workspaces (program_memory.h), and writes down the commands of each entry
//             (entry_commands.h)
//   enqueue   fills in the pointers of this run's inputs and outputs and replays the commands, or
//             launches graphs of them: no allocation (when the caller brings the outputs, and
//             graphs need no other pointers), no look-up, no waiting
//   later     a thread of the executor sees runs end (run_monitor.h)
//
// Errors that happen while a run is under way are late and sticky: that run's Completion and all
// following ones report the first cause, and so does enqueue, until reset(). A rank that fails, or
// is aborted, takes the other ranks of the job with it instead of leaving them in a collective.
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
  // Of a run, from the end of the one before it: then all is stopped, DEADLINE_EXCEEDED. 0: none.
  std::chrono::nanoseconds time_limit{0};
  void* native_stream = nullptr;  // of the caller, to compute on, where the device knows such
  bool fuse = true;               // steps into groups, where the device can (fusion/)
  bool time_steps = false;        // see launch_times(). Runs are not captured as graphs
  bool graphs = false;            // what can be captured is launched as graphs (entry_graphs.h)
};

struct LaunchTime {
  const StepLaunch* launch = nullptr;
  double begin_s = 0, end_s = 0;  // from the begin of the entry's first launch
};

class Executor {
 public:
  // `provider` says which rank of which mesh this is. UNIMPLEMENTED: graphs, on a device that
  // captures none.
  static Result<std::unique_ptr<Executor>> create(std::shared_ptr<const Plan> plan,
                                                  std::shared_ptr<Device> device,
                                                  std::unique_ptr<ChannelProvider> provider,
                                                  const ExecutorOptions& options = {});
  // Cancels what is unfinished, and waits for it to end.
  ~Executor();

  const Program& program() const;
  int64_t rank() const;
  const ProgramEntry* find_entry(std::string_view name) const;  // null: none

  // Starts one run after everything in `wait_for` has ended well. Inputs must hold at least the
  // bytes of their ports, and are kept until the run has ended, as outputs are; an output that is
  // null is allocated and returned in its place (ports without a value stay null). Outputs must not
  // overlap inputs, but for an output that updates an input in place: it is that buffer (or null,
  // and is returned as that). `session`: where entries leave what others need; null: the executor's
  // own. FAILED_PRECONDITION: an entry that must run before has not run in it. INVALID_ARGUMENT:
  // the session is another executor's. One thread at a time.
  Result<Completion> enqueue(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                             std::span<BufferRef> outputs,
                             std::span<const Completion> wait_for = {}, Session* session = nullptr);

  // Memory for what entries leave to one another, beside the executor's own: for several sequences
  // of entries in flight. It may outlive the executor.
  Result<std::shared_ptr<Session>> create_session();
  // The memory of a port that the executor keeps; zeros at first. Null: the port is no state. It is
  // read and written while no run is under way.
  BufferRef state(PortId port) const;

  // Stops what runs and what is queued, here and on the other ranks. Any thread.
  void abort() noexcept;
  // When each launch of the entry began and ended in its latest run. With `time_steps`, once that
  // run has ended.
  Result<std::vector<LaunchTime>> launch_times(const ProgramEntry& entry) const;
  Status fault() const;  // the sticky error
  // Waits until everything has ended, then forgets the error, unless the device is lost. Ranks that
  // were in one job must all do it before they communicate again. One thread at a time, not while
  // enqueue runs.
  void reset();

 private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shw::runtime
