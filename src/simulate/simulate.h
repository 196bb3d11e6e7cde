// Simulates when each step of an entry begins and ends on one rank, at the prices that the program
// holds. Every rank runs the same program at the same prices, so one rank stands for all.
//
// Queues. A queue runs one step at a time, in the order of the program. There is one for compute,
// one for each communicator (the mesh dims of a group, whatever their order: ranks that are
// numbered in another order send over the same links), and one for each direction of the link to
// host memory. A step belongs to
//   - a link, if it copies to or from host memory, or touches a storage that the caller has put
//     there;
//   - a communicator, if it is a collective. One on the compute stream blocks that, too;
//   - compute otherwise.
//
// Beginning. A step begins at the earliest time that satisfies all of these:
//   - the previous step of its queue has ended;
//   - the events that it waits for, or that an earlier step of its stream waited for, are ready;
//   - the steps that wrote what it reads, and that read what it overwrites, have ended;
//   - the host has launched it: `launch_us` for each step, in the order of the program;
//   - on a link: the compute step before it in the program has ended, since that issues it.
// An event is ready when the step that records it and all earlier steps of its stream have ended;
// HappensBefore makes the same guarantee. When an entry begins, everything before it is over. So
// one pass over the steps determines all times, without a search, and equal programs give bitwise
// equal times.
//
// The duration of a step is its price; a price that is not positive counts as 0. The prices of
// kernels include their launch as a lower bound (cost/roofline.h), which is why `launch_us` is 0
// unless the caller asks for a slow host.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/program.h"
#include "simulate/live_bytes.h"

namespace shw {

struct SimulationOptions {
  // False: all collectives of a stream share one queue, as on a backend with one channel.
  bool queue_per_communicator = true;
  double launch_us = 0;
  std::span<const double> step_us{};   // by step of the program; empty: ProgramStep::cost_us
  std::span<const uint8_t> in_host{};  // by storage, 1: in host memory; empty: no storage is
  // Compute only steps, queues and sums of times: no paths, no lower bound, no live bytes.
  bool only_times = false;
};

enum class QueueKind : uint8_t { kCompute = 0, kCommunicator = 1, kToHost = 2, kFromHost = 3 };

struct SimulatedQueue {
  QueueKind kind = QueueKind::kCompute;
  std::vector<uint8_t> axes{};  // of a communicator: links_of(); empty: all share this queue
  uint32_t num_steps = 0;
  double busy_us = 0;
  // Time that compute is idle because of this queue. Each moment of a stall is charged to the step
  // whose end ends the stall, or to what that step itself was waiting for at the moment.
  double exposed_us = 0;
};

struct SimulatedStep {
  double start_us = 0, end_us = 0;
  uint32_t queue = 0;
  // The step of the program whose end determines this step's start; kNoStep: the step begins with
  // the entry, or when the host launches it.
  uint32_t cause = kNoStep;
  // Its share of SimulatedQueue::exposed_us.
  double exposed_us = 0;
};

struct Simulation {
  uint32_t first_step = 0;             // of the entry
  std::vector<SimulatedStep> steps;    // of the entry, in order
  std::vector<SimulatedQueue> queues;  // compute first, then in order of their first steps
  double total_us = 0;                 // until the last step has ended
  double one_after_another_us = 0;     // all durations
  double collectives_us = 0;           // of those, of collectives
  double exposed_us = 0;               // of communicators
  // A chain of steps: each begins when the previous one ends; the last ends with the entry.
  std::vector<uint32_t> critical_path;
  // The longest chain of steps in which each reads what the previous one wrote, or overwrites what
  // the previous one read. No number of queues makes the entry shorter than this chain.
  std::vector<uint32_t> longest_chain;
  double longest_chain_us = 0;
  // The maximum of the longest chain and the busy time of each queue. No order of the steps takes
  // less time.
  double lower_bound_us = 0;
  LiveCurves live;

  const SimulatedStep& at(uint32_t step) const { return steps[step - first_step]; }
};

// The program must pass verify(), except that it need not have a memory plan, streams or events
// yet. Takes time and memory in proportion to its size.
Simulation simulate(const Program& program, const ProgramEntry& entry,
                    const SimulationOptions& options = {});

double simulated_us(const Program& program);  // of all entries, by their weights

}  // namespace shw
