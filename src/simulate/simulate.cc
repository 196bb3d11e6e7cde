#include "simulate/simulate.h"

#include <algorithm>
#include <map>

#include "simulate/moments.h"

namespace shw {
namespace {

class Run {
 public:
  Run(const Program& program, const ProgramEntry& entry, const SimulationOptions& options)
      : p_(program), entry_(entry), o_(options), moments_(program, entry) {
    events_.resize(program.num_events);
    known_.resize(program.streams.size());
    done_.resize(program.streams.size());
    result_.first_step = entry.first_step;
    result_.steps.resize(entry.num_steps);
    chain_before_.assign(entry.num_steps, kNoStep);
    result_.queues.emplace_back();
    free_.emplace_back();
  }

  Simulation run() {
    for (uint32_t i = 0; i < entry_.num_steps; ++i) {
      run_step(entry_.first_step + i);
      if (!o_.only_times) extend_chain(entry_.first_step + i);
    }
    expose(last_.step, free_[0].us, last_.us);
    result_.total_us = last_.us;
    for (const SimulatedQueue& q : result_.queues)
      if (q.kind == QueueKind::kCommunicator) result_.exposed_us += q.exposed_us;
    if (!o_.only_times) {
      find_paths();
      result_.live = live_curves(p_, entry_, o_.in_host);
    }
    return std::move(result_);
  }

 private:
  void find_paths() {
    result_.critical_path = path_to(last_.step, [&](uint32_t s) { return result_.at(s).cause; });
    result_.longest_chain_us = chain_.us;
    result_.longest_chain =
        path_to(chain_.step, [&](uint32_t s) { return chain_before_[local(s)]; });
    result_.lower_bound_us = chain_.us;
    for (const SimulatedQueue& q : result_.queues)
      result_.lower_bound_us = std::max(result_.lower_bound_us, q.busy_us);
  }

  uint32_t local(uint32_t step) const { return step - entry_.first_step; }
  double duration(uint32_t i) const {
    const double us = o_.step_us.empty() ? p_.steps[i].cost_us : o_.step_us[i];
    return us > 0 ? us : 0;
  }

  // Moves `moment` behind this use of what the values touch.
  void put_after(const ValueList& values, Moment UseMoments::*use, Moment& moment) const {
    for (ValueId v : values)
      if (v.valid())
        moments_.for_each_before(v, [&](const UseMoments& m) { moment.not_before(m.*use); });
  }

  void run_step(uint32_t i) {
    const ProgramStep& step = p_.steps[i];
    const StreamNumber stream = step.stream;
    const uint32_t q = queue_of(step);
    const bool on_link = is_link(result_.queues[q].kind);
    const bool blocks_compute = q == 0 || (stream == kComputeStream && !on_link);

    Moment start = free_[q];
    if (blocks_compute || on_link) start.not_before(free_[0]);
    for (uint32_t e : step.waits) known_[stream].not_before(events_[e]);
    start.not_before(known_[stream]);
    put_after(step.inputs, &UseMoments::written, start);
    put_after(step.outputs, &UseMoments::read, start);
    launched_us_ += o_.launch_us;
    start.not_before({launched_us_, kNoStep});

    const Moment end{start.us + duration(i), i};
    result_.steps[local(i)] = {start.us, end.us, q, start.step, 0};
    SimulatedQueue& queue = result_.queues[q];
    ++queue.num_steps;
    queue.busy_us += duration(i);
    result_.one_after_another_us += duration(i);
    if (step.collective.kind != CollectiveKind::kNone) result_.collectives_us += duration(i);

    // Accounts for the stall in front of a step of the compute stream. A collective on that stream
    // is itself a stall.
    if (blocks_compute) expose(q == 0 ? start.step : i, free_[0].us, q == 0 ? start.us : end.us);
    free_[q] = end;
    if (blocks_compute) free_[0] = end;
    if (!on_link) done_[stream].not_before(end);
    if (step.records != kNoEvent) events_[step.records] = on_link ? end : done_[stream];
    for (ValueId v : step.inputs)
      if (v.valid()) moments_.of(v).read.not_before(end);
    for (ValueId v : step.outputs)
      if (v.valid()) moments_.of(v).written.not_before(end);
    last_.not_before(end);
  }

  void extend_chain(uint32_t i) {
    const ProgramStep& step = p_.steps[i];
    Moment before;
    put_after(step.inputs, &UseMoments::chain_written, before);
    put_after(step.outputs, &UseMoments::chain_read, before);
    chain_before_[local(i)] = before.step;
    const Moment end{before.us + duration(i), i};
    for (ValueId v : step.inputs)
      if (v.valid()) moments_.of(v).chain_read.not_before(end);
    for (ValueId v : step.outputs)
      if (v.valid()) moments_.of(v).chain_written.not_before(end);
    chain_.not_before(end);
  }

  static bool is_link(QueueKind kind) {
    return kind == QueueKind::kToHost || kind == QueueKind::kFromHost;
  }
  bool in_host(std::span<const ValueId> values) const {
    return std::ranges::any_of(
        values, [&](ValueId v) { return v.valid() && o_.in_host[p_.values[v].storage.v] != 0; });
  }

  uint32_t queue_of(const ProgramStep& step) {
    if (const HostCopy copy = host_copy(p_, step); copy != HostCopy::kNone)
      return queue(copy == HostCopy::kToHost ? QueueKind::kToHost : QueueKind::kFromHost, {});
    if (!o_.in_host.empty()) {
      if (in_host(step.outputs)) return queue(QueueKind::kToHost, {});
      if (in_host(step.inputs)) return queue(QueueKind::kFromHost, {});
    }
    if (step.collective.kind == CollectiveKind::kNone) return 0;
    if (!o_.queue_per_communicator) return queue(QueueKind::kCommunicator, {});
    return queue(QueueKind::kCommunicator, step.collective.axes);
  }
  // The queue of a group's links, which do not depend on the order of its axes.
  uint32_t queue(QueueKind kind, const std::vector<uint8_t>& axes) {
    uint64_t key = static_cast<uint64_t>(kind);
    for (uint8_t axis : axes) key |= uint64_t{1} << (8 + axis);  // below 36: 2^20 ranks
    const auto [it, added] =
        queue_numbers_.try_emplace(key, static_cast<uint32_t>(result_.queues.size()));
    if (added) {
      result_.queues.push_back({kind, links_of(axes)});
      free_.emplace_back();
    }
    return it->second;
  }

  // Compute is idle in (from, to]: until `step` ends, or until the step begins whose start `step`
  // determines.
  void expose(uint32_t step, double from, double to) {
    while (step != kNoStep && to > from) {
      SimulatedStep& s = result_.steps[local(step)];
      const double begin = std::max(s.start_us, from);
      if (to > begin) {
        result_.queues[s.queue].exposed_us += to - begin;
        s.exposed_us += to - begin;
      }
      to = std::min(to, begin);
      step = s.cause;
    }
  }

  template <class Before>
  static std::vector<uint32_t> path_to(uint32_t step, Before before) {
    std::vector<uint32_t> path;
    for (; step != kNoStep; step = before(step)) path.push_back(step);
    std::ranges::reverse(path);
    return path;
  }

  const Program& p_;
  const ProgramEntry& entry_;
  const SimulationOptions& o_;
  Simulation result_;
  StorageMoments moments_;
  std::vector<Moment> events_;        // when each is ready; those of earlier entries: at the start
  std::vector<Moment> free_;          // by queue: its last step has ended
  std::vector<Moment> known_, done_;  // by stream: waited for so far; ended so far
  std::map<uint64_t, uint32_t> queue_numbers_;
  std::vector<uint32_t> chain_before_;
  Moment last_, chain_;
  double launched_us_ = 0;
};

}  // namespace

Simulation simulate(const Program& program, const ProgramEntry& entry,
                    const SimulationOptions& options) {
  return Run(program, entry, options).run();
}

double simulated_us(const Program& program) {
  double us = 0;
  for (const ProgramEntry& entry : program.entries)
    us += entry.weight * simulate(program, entry, {.only_times = true}).total_us;
  return us;
}

}  // namespace shw
