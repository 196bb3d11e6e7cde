#include "simulate/lower_bound.h"

#include <algorithm>
#include <queue>

#include "support/stable_sort.h"

namespace shw {
namespace {

struct Job {
  double head_us, us, tail_us;  // the longest chain before it, its own time, the longest behind it
};

// The longest chain of steps added so far that ends at a predecessor of the next step. Two steps
// that touch a storage are ordered if at least one of them writes it.
class Chains {
 public:
  explicit Chains(const Program& program)
      : p_(program), written_(program.storages.size(), 0), read_(program.storages.size(), 0) {}
  double linked_to(const ProgramStep& step) const {
    double us = 0;
    for (ValueId v : step.inputs)
      if (v.valid()) us = std::max(us, written_[p_.values[v].storage.v]);
    for (ValueId v : step.outputs)
      if (v.valid()) us = std::max(us, read_[p_.values[v].storage.v]);
    return us;
  }
  void add(const ProgramStep& step, double us) {
    for (ValueId v : step.inputs) raise(read_, v, us);
    for (ValueId v : step.outputs) raise(written_, v, us);
  }

 private:
  void raise(std::vector<double>& by_storage, ValueId v, double us) const {
    if (v.valid())
      by_storage[p_.values[v].storage.v] = std::max(by_storage[p_.values[v].storage.v], us);
  }
  const Program& p_;
  std::vector<double> written_, read_;  // by storage
};

std::vector<Job> jobs_of(const Program& p, const ProgramEntry& entry, const Simulation& s) {
  std::vector<Job> jobs;
  for (const SimulatedStep& step : s.steps) jobs.push_back({0, step.end_us - step.start_us, 0});
  Chains before(p), behind(p);
  for (size_t i = 0; i < jobs.size(); ++i) {
    const ProgramStep& step = p.steps[entry.first_step + i];
    jobs[i].head_us = before.linked_to(step);
    before.add(step, jobs[i].head_us + jobs[i].us);
  }
  for (size_t i = jobs.size(); i-- > 0;) {
    const ProgramStep& step = p.steps[entry.first_step + i];
    jobs[i].tail_us = behind.linked_to(step);
    behind.add(step, jobs[i].tail_us + jobs[i].us);
  }
  return jobs;
}

// Preemptive schedule of one queue: at each moment, of the steps whose heads are over, the one with
// the longest tail runs.
double one_queue_us(std::vector<Job> jobs) {
  sort_stably(jobs, {}, &Job::head_us);
  std::priority_queue<std::pair<double, size_t>> waiting;  // by tail
  double now = 0, end = 0;
  for (size_t next = 0; next < jobs.size() || !waiting.empty();) {
    if (waiting.empty()) now = std::max(now, jobs[next].head_us);
    for (; next < jobs.size() && jobs[next].head_us <= now; ++next)
      waiting.emplace(jobs[next].tail_us, next);
    Job& job = jobs[waiting.top().second];
    if (next < jobs.size() && now + job.us > jobs[next].head_us) {
      job.us -= jobs[next].head_us - now;
      now = jobs[next].head_us;
      continue;
    }
    now += job.us;
    end = std::max(end, now + job.tail_us);
    waiting.pop();
  }
  return end;
}

}  // namespace

double lower_bound_us(const Program& program, const ProgramEntry& entry,
                      const Simulation& simulation) {
  const std::vector<Job> jobs = jobs_of(program, entry, simulation);
  std::vector<std::vector<Job>> by_queue(simulation.queues.size());
  for (size_t i = 0; i < jobs.size(); ++i) by_queue[simulation.steps[i].queue].push_back(jobs[i]);
  double bound = simulation.lower_bound_us;
  for (std::vector<Job>& queue : by_queue) bound = std::max(bound, one_queue_us(std::move(queue)));
  return std::min(bound, simulation.total_us);  // sums may be rounded
}

}  // namespace shw
