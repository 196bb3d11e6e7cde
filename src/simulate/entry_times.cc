#include "simulate/entry_times.h"

#include <algorithm>

#include "simulate/lower_bound.h"

namespace shw {

std::string queue_name(const Program& program, const SimulatedQueue& queue) {
  switch (queue.kind) {
    case QueueKind::kCompute:
      return "compute";
    case QueueKind::kToHost:
      return "to_host";
    case QueueKind::kFromHost:
      return "from_host";
    case QueueKind::kCommunicator:
      break;
  }
  std::string name;
  for (uint8_t axis : queue.axes) name += (name.empty() ? "" : "+") + axis_of(program, axis).name;
  return name.empty() ? "communication" : name;
}

EntryTime entry_time(const Program& program, const ProgramEntry& entry) {
  const Simulation s = simulate(program, entry);
  EntryTime t;
  t.us = s.total_us;
  t.exposed_us = s.exposed_us;
  t.lower_bound_us = lower_bound_us(program, entry, s);
  t.unavoidable_us = std::clamp(t.lower_bound_us - s.queues[0].busy_us, 0.0, t.exposed_us);
  t.longest_chain_us = s.longest_chain_us;
  t.device_peak_bytes = s.live.device_peak;
  for (const SimulatedQueue& q : s.queues)
    t.queues.push_back({queue_name(program, q), q.num_steps, q.busy_us, q.exposed_us});
  return t;
}

std::vector<EntryTime> entry_times(const Program& program) {
  std::vector<EntryTime> times;
  for (const ProgramEntry& entry : program.entries) times.push_back(entry_time(program, entry));
  return times;
}

}  // namespace shw
