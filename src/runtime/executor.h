// Runs a plan on one rank: resolves kernels and memory once, then puts runs on streams.
//
//   create    looks kernels up by name, prepares them for their types, makes channels, allocates
//   the
//             arena and workspaces, and writes down the commands of each entry
//   enqueue   fills in the pointers of this run's inputs and outputs and replays the commands:
//             no allocation (when the caller brings the outputs), no look-up, no waiting
//
// Errors that happen while a run is under way are late and sticky: that run's Completion and all
// following ones report the first cause, and so does enqueue, until reset(). A rank that fails, or
// is aborted, takes the other ranks of the job with it instead of leaving them in a collective.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "runtime/buffer.h"
#include "runtime/channel.h"
#include "runtime/hal.h"
#include "runtime/timeline.h"

namespace shw::runtime {

// The body of the manual regions (local_map) of a name: a kernel that the embedding program brings.
struct RegionBody {
  std::string name;
  std::function<Result<std::unique_ptr<PreparedKernel>>(const KernelArgs&)> prepare;
};

struct ExecutorOptions {
  int max_in_flight = 4;  // runs; enqueue blocks while that many are unfinished
  std::vector<RegionBody> regions = {};
};

class Executor {
 public:
  // `provider` says which rank of which mesh this is.
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
  // overlap inputs. One thread at a time.
  Result<Completion> enqueue(const ProgramEntry& entry, std::span<const BufferRef> inputs,
                             std::span<BufferRef> outputs,
                             std::span<const Completion> wait_for = {});

  // Stops what runs and what is queued, here and on the other ranks. Any thread.
  void abort();
  Status fault() const;  // the sticky error
  // Waits until everything has ended, then forgets the error. Ranks that were in one job must all
  // do it before they communicate again. One thread at a time, not while enqueue runs.
  void reset();

 private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Bytes that the buffer of a port must have. 0 for a port without a value.
int64_t port_bytes(const Program& program, const Port& port);

}  // namespace shw::runtime
