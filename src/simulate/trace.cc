#include "simulate/trace.h"

#include <algorithm>
#include <map>

#include "plan/report.h"
#include "simulate/entry_times.h"
#include "simulate/simulate.h"
#include "support/json_writer.h"

namespace shw {
namespace {

constexpr int kProcess = 1;

class Trace {
 public:
  Trace(const Program& program, std::span<const TraceNode> nodes) : p_(program), nodes_(nodes) {
    j_.begin_object().member("displayTimeUnit", "ms").key("traceEvents").begin_array();
    describe("process_name", 0, "each of " + std::to_string(num_ranks(p_)) + " ranks");
  }

  void add_entry(const ProgramEntry& entry) {
    const Simulation s = simulate(p_, entry);
    std::vector<int> tracks;
    for (const SimulatedQueue& q : s.queues) tracks.push_back(track(queue_name(p_, q)));
    std::vector<uint8_t> critical(entry.num_steps, 0);
    for (uint32_t i : s.critical_path) critical[i - entry.first_step] = 1;
    for (uint32_t k = 0; k < entry.num_steps; ++k)
      add_step(entry, entry.first_step + k, s.steps[k], tracks[s.steps[k].queue], critical[k] != 0);
    add_flows(entry, s, tracks);
    add_live(s);
    begin_us_ += s.total_us;
  }

  std::string take() {
    j_.end_array().end_object();
    return j_.take();
  }

 private:
  JsonWriter& event(const char* phase, int track) {
    return j_.begin_object().member("ph", phase).member("pid", kProcess).member("tid", track);
  }
  void describe(const char* what, int track, const std::string& name) {
    event("M", track).member("name", what).key("args").begin_object();
    j_.member("name", name).end_object().end_object();
  }
  int track(const std::string& name) {
    const auto [it, added] = tracks_.try_emplace(name, static_cast<int>(tracks_.size()) + 1);
    if (added) {
      describe("thread_name", it->second, name);
      event("M", it->second).member("name", "thread_sort_index").key("args").begin_object();
      j_.member("sort_index", it->second).end_object().end_object();
    }
    return it->second;
  }

  const TraceNode* node_of(const ProgramStep& step) const {
    return step.node < nodes_.size() ? &nodes_[step.node] : nullptr;
  }

  void add_step(const ProgramEntry& entry, uint32_t i, const SimulatedStep& time, int track,
                bool critical) {
    const ProgramStep& step = p_.steps[i];
    const TraceNode* node = node_of(step);
    const bool communicates = step.collective.kind != CollectiveKind::kNone;
    const bool copies = host_copy(p_, step) != HostCopy::kNone;
    std::string name = step.kernel;
    if (node != nullptr && !node->module.empty()) name += " " + node->module;
    event("X", track).member("name", name);
    j_.member("cat", communicates ? "collective" : copies ? "host_copy" : "compute");
    j_.member("ts", begin_us_ + time.start_us).member("dur", time.end_us - time.start_us);
    j_.key("args").begin_object().member("step", i).member("entry", entry.name);
    j_.member("phase", step.phase == 0 ? "forward" : "backward");
    if (step.recomputed) j_.member("recomputed", true);
    if (node != nullptr) j_.member("node", node->name).member("module", node->module);
    if (!step.outputs.empty() && step.outputs[0].valid())
      j_.member("result", to_string(p_.values[step.outputs[0]].type));
    j_.member("price_basis", basis_name(step.basis));
    if (communicates) j_.member("wire_bytes", wire_bytes(p_, step));
    j_.member("on_critical_path", critical).end_object().end_object();
  }

  // For each collective and each copy to or from host memory, an arrow from the step that wrote its
  // operand, through it, to the first step that reads its result. If there is no such step, the
  // arrow begins or ends at the collective or copy.
  void add_flows(const ProgramEntry& entry, const Simulation& s, const std::vector<int>& tracks) {
    const uint32_t end = entry.first_step + entry.num_steps;
    std::vector<uint32_t> writer(p_.storages.size(), kNoStep);
    std::vector<uint32_t> sends(p_.storages.size(), kNoStep);  // a link's step without a reader yet
    std::vector<uint32_t> reader(entry.num_steps, kNoStep), source(entry.num_steps, kNoStep);
    for (uint32_t i = entry.first_step; i < end; ++i) {
      const ProgramStep& step = p_.steps[i];
      for (ValueId v : step.inputs) {
        if (!v.valid()) continue;
        const uint32_t storage = p_.values[v].storage.v;
        if (sends[storage] != kNoStep) reader[sends[storage] - entry.first_step] = i;
        sends[storage] = kNoStep;
        source[i - entry.first_step] = writer[storage];
      }
      for (ValueId v : step.outputs) {
        if (!v.valid()) continue;
        writer[p_.values[v].storage.v] = i;
        sends[p_.values[v].storage.v] = runs_on_link(p_, step) ? i : kNoStep;
      }
    }
    for (uint32_t i = entry.first_step; i < end; ++i) {
      if (!runs_on_link(p_, p_.steps[i])) continue;
      const uint32_t k = i - entry.first_step;
      if (source[k] == kNoStep && reader[k] == kNoStep) continue;
      ++num_flows_;
      const auto point = [&](const char* phase, uint32_t step) {
        const SimulatedStep& time = s.at(step);
        event(phase, tracks[time.queue]).member("name", "data").member("cat", "flow");
        j_.member("id", num_flows_).member("ts", begin_us_ + time.start_us);
        if (*phase == 'f') j_.member("bp", "e");
        j_.end_object();
      };
      point("s", source[k] == kNoStep ? i : source[k]);
      if (source[k] != kNoStep && reader[k] != kNoStep) point("t", i);
      point("f", reader[k] == kNoStep ? i : reader[k]);
    }
  }

  // Live bytes are known by step. Those of a step on another stream count from the begin of the
  // compute step that it runs beside. Of several values at one time the largest is used.
  void add_live(const Simulation& s) {
    double now = 0, told = -1;
    size_t fullest = 0;
    int64_t last_arena = -1, last_session = -1;
    const auto tell = [&] {
      const int64_t arena = s.live.arena[fullest], session = s.live.session[fullest];
      if (told >= 0 && arena == last_arena && session == last_session) return;
      last_arena = arena, last_session = session, told = now;
      event("C", 0).member("name", "live bytes").member("ts", begin_us_ + now);
      j_.key("args").begin_object().member("scratch", arena).member("session", session);
      j_.end_object().end_object();
    };
    for (size_t k = 0; k < s.steps.size(); ++k) {
      if (s.steps[k].queue == 0 && s.steps[k].start_us > now) {
        tell();
        now = s.steps[k].start_us;
        fullest = k;
      }
      const auto all = [&](size_t step) { return s.live.arena[step] + s.live.session[step]; };
      if (all(k) > all(fullest)) fullest = k;
    }
    if (!s.steps.empty()) tell();
  }

  const Program& p_;
  std::span<const TraceNode> nodes_;
  JsonWriter j_;
  std::map<std::string, int> tracks_;
  double begin_us_ = 0;  // of the entry
  uint32_t num_flows_ = 0;
};

}  // namespace

std::string trace_json(const Program& program, std::span<const uint32_t> entries,
                       std::span<const TraceNode> nodes) {
  Trace trace(program, nodes);
  for (uint32_t e : entries) trace.add_entry(program.entries[e]);
  return trace.take();
}

}  // namespace shw
