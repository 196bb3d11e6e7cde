#include "simulate/live_bytes.h"

#include <algorithm>
#include <numeric>

namespace shw {
namespace {

// The lives of storages in the steps [first, end) of a program, and whether the entry first writes
// or reads each.
class EntryLives {
 public:
  EntryLives(const Program& program, const ProgramEntry& entry, std::span<const uint8_t> in_host)
      : p_(program), entry_(entry), in_host_(in_host), touched_(program.storages.size()) {
    written_first_.assign(program.storages.size(), 0);
    const std::vector<StepSpan> spans = spans_of_steps(program);
    for (uint32_t i = entry.first_step; i < entry.first_step + entry.num_steps; ++i) {
      const ProgramStep& step = program.steps[i];
      for (ValueId v : step.inputs) touch(v, spans[i], false);
      for (ValueId v : step.outputs) touch(v, spans[i], true);
    }
  }

  LiveCurves curves() const {
    LiveCurves c;
    for (auto* curve : {&c.arena, &c.session, &c.host}) curve->assign(entry_.num_steps + 1, 0);
    for (uint32_t s = 0; s < touched_.size(); ++s) add_storage(c, s);
    for (auto* curve : {&c.arena, &c.session, &c.host}) {
      std::partial_sum(curve->begin(), curve->end(), curve->begin());
      curve->pop_back();
    }
    add_ports(c);
    find_peaks(c);
    return c;
  }

 private:
  void touch(ValueId v, StepSpan steps, bool writes) {
    if (!v.valid()) return;
    Touched& t = touched_[p_.values[v].storage.v];
    if (t.first == UINT32_MAX) written_first_[p_.values[v].storage.v] = writes;
    t.first = std::min(t.first, steps.first - entry_.first_step);
    t.last = steps.last - entry_.first_step;
  }

  void add_storage(LiveCurves& c, uint32_t s) const {
    const Touched& t = touched_[s];
    const ProgramStorage& storage = p_.storages[StorageId{s}];
    if (t.first > t.last) return;
    const auto add = [&](std::vector<int64_t>& curve, uint32_t first, uint32_t end) {
      curve[first] += storage.bytes;
      curve[end] -= storage.bytes;
    };
    if (storage.kind == StorageKind::kHost || (!in_host_.empty() && in_host_[s]))
      add(c.host, t.first, t.last + 1);
    else if (storage.kind == StorageKind::kArena)
      add(c.arena, t.first, t.last + 1);
    else if (is_in_session(storage.kind))
      add(is_in_host(storage.kind) ? c.host : c.session, written_first_[s] ? t.first : 0,
          entry_.num_steps);
  }

  // Each storage once: an output that updates an input in place shares its storage.
  void add_ports(LiveCurves& c) const {
    std::vector<uint8_t> counted(p_.storages.size(), 0);
    const auto count = [&](StorageId s) {
      if (counted[s.v]) return;
      counted[s.v] = 1;
      c.peak[static_cast<size_t>(p_.storages[s].kind)] += p_.storages[s].bytes;
    };
    for (const auto* ports : {&entry_.inputs, &entry_.outputs})
      for (PortId port : *ports)
        if (p_.ports[port].value.valid()) count(p_.values[p_.ports[port].value].storage);
    for (uint32_t s = 0; s < p_.storages.size(); ++s) {
      const StorageKind kind = p_.storages[StorageId{s}].kind;
      if (kind == StorageKind::kState || kind == StorageKind::kConstant) count(StorageId{s});
    }
  }

  void find_peaks(LiveCurves& c) const {
    const int64_t fixed = std::accumulate(c.peak.begin(), c.peak.end(), int64_t{0});
    c.device_peak = fixed;
    c.device_peak_step = entry_.first_step;
    int64_t& arena = c.peak[static_cast<size_t>(StorageKind::kArena)];
    int64_t& session = c.peak[static_cast<size_t>(StorageKind::kSession)];
    for (uint32_t i = 0; i < entry_.num_steps; ++i) {
      arena = std::max(arena, c.arena[i]);
      session = std::max(session, c.session[i]);
      c.host_peak = std::max(c.host_peak, c.host[i]);
      if (fixed + c.arena[i] + c.session[i] <= c.device_peak) continue;
      c.device_peak = fixed + c.arena[i] + c.session[i];
      c.device_peak_step = entry_.first_step + i;
    }
  }

  const Program& p_;
  const ProgramEntry& entry_;
  std::span<const uint8_t> in_host_;
  std::vector<Touched> touched_;        // by storage; steps of the entry, from 0
  std::vector<uint8_t> written_first_;  // by storage: the first step that touches it writes it
};

}  // namespace

std::vector<Touched> touched_storages(const Program& p) {
  std::vector<Touched> touched(p.storages.size());
  const std::vector<StepSpan> spans = spans_of_steps(p);
  for (uint32_t i = 0; i < p.steps.size(); ++i)
    for (const auto* list : {&p.steps[i].inputs, &p.steps[i].outputs})
      for (ValueId v : *list)
        if (v.valid()) {
          Touched& t = touched[p.values[v].storage.v];
          t.first = std::min(t.first, spans[i].first);
          t.last = spans[i].last;
        }
  return touched;
}

LiveBytes LiveBytes::of(const Program& p, const std::vector<Touched>& touched) {
  LiveBytes live(p.steps.size() + 1);
  for (uint32_t i = 0; i < touched.size(); ++i) {
    const ProgramStorage& s = p.storages[StorageId{i}];
    if (s.kind != StorageKind::kArena || touched[i].first > touched[i].last) continue;
    live.bytes_[touched[i].first] += s.bytes;
    live.bytes_[touched[i].last + 1] -= s.bytes;
  }
  for (size_t i = 1; i < live.bytes_.size(); ++i) live.bytes_[i] += live.bytes_[i - 1];
  return live;
}

LiveCurves live_curves(const Program& program, const ProgramEntry& entry,
                       std::span<const uint8_t> in_host) {
  return EntryLives(program, entry, in_host).curves();
}

}  // namespace shw
