#include "recompute/offload.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "graph/graph.h"

namespace shw {
namespace {

// A storage that waits in host memory, with its writer and readers as steps of the program.
struct Waiting {
  StorageId storage;
  ValueId whole;  // all of it, as its writer writes it
  uint32_t writer = 0, reader = 0;
};

// When each step of an entry computes, and how long the link is busy in parallel.
struct EntryTimes {
  std::vector<double> begins_us;               // by step of the entry; the last element is the end
  uint32_t middle = 0;                         // the first step of the backward half
  double there_free_us = 0, back_free_us = 0;  // of the link, forwards and from the end
};

class Offload {
 public:
  Offload(Program& program, const HostLink& link)
      : p_(program),
        link_(link),
        fetched_(program.storages.size()),
        window_(program.values.size()) {}

  int64_t run() {
    for (uint32_t e = 0; e < p_.entries.size(); ++e) {
      times_.push_back(times_of(p_.entries[e]));
      entry_of_.resize(entry_of_.size() + p_.entries[e].num_steps, e);
    }
    std::vector<Waiting> chosen;
    for (const Waiting& w : candidates())
      if (fits(w)) chosen.push_back(w);
    insert_copies(chosen);
    return moved_bytes_;
  }

 private:
  EntryTimes times_of(const ProgramEntry& entry) const {
    EntryTimes t;
    t.middle = entry.num_steps;
    double us = 0;
    for (uint32_t i = 0; i < entry.num_steps; ++i) {
      const ProgramStep& step = p_.steps[entry.first_step + i];
      if (step.phase != static_cast<uint8_t>(Phase::kForward)) t.middle = std::min(t.middle, i);
      t.begins_us.push_back(us);
      if (!runs_on_link(p_, step)) us += std::max(step.cost_us, 0.0);
    }
    t.begins_us.push_back(us);
    t.back_free_us = us;
    return t;
  }

  uint32_t in_entry(uint32_t step) const { return step - p_.entries[entry_of_[step]].first_step; }
  bool is_backward(uint32_t step) const { return in_entry(step) >= times_[entry_of_[step]].middle; }
  // Whether `reader` is in another entry than `writer`, or in its backward half.
  bool is_apart(uint32_t writer, uint32_t reader) const {
    return entry_of_[writer] != entry_of_[reader] || (!is_backward(writer) && is_backward(reader));
  }

  struct Uses {
    uint32_t num_writers = 0, writer = kNoStep;
    uint32_t reader = kNoStep;       // the first one in another half or entry than the writer
    bool is_read_elsewhere = false;  // by entries other than the writer's and the reader's
  };
  std::vector<Uses> find_uses() const {
    std::vector<Uses> uses(p_.storages.size());
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      for (ValueId v : p_.steps[i].inputs) {
        if (!v.valid()) continue;
        Uses& use = uses[p_.values[v].storage.v];
        if (use.writer == kNoStep || !is_apart(use.writer, i)) continue;
        if (use.reader == kNoStep) use.reader = i;
        use.is_read_elsewhere |= entry_of_[i] != entry_of_[use.reader];
      }
      for (ValueId v : p_.steps[i].outputs)
        if (v.valid()) {
          Uses& use = uses[p_.values[v].storage.v];
          ++use.num_writers;
          use.writer = i;
        }
    }
    return uses;
  }

  // Storages that one step writes completely and another half or entry reads, in the order of
  // writing.
  std::vector<Waiting> candidates() const {
    const std::vector<Uses> uses = find_uses();
    std::vector<Waiting> all;
    for (uint32_t i = 0; i < p_.steps.size(); ++i)
      for (ValueId v : p_.steps[i].outputs) {
        const bool is_scratch =
            p_.lies_in(v, StorageKind::kArena) || p_.lies_in(v, StorageKind::kSession);
        if (!is_scratch || !is_whole(p_, v)) continue;
        const StorageId storage = p_.values[v].storage;
        const Uses& use = uses[storage.v];
        if (use.num_writers == 1 && use.reader != kNoStep && !use.is_read_elsewhere)
          all.push_back({storage, v, i, use.reader});
      }
    return all;
  }

  // Whether the link has time for both copies. If so, reserves that time.
  bool fits(const Waiting& w) {
    const int64_t bytes = p_.storages[w.storage].bytes;
    const double us = link_.copy_us(bytes);
    if (us <= link_.copy_us(0)) return false;  // too small: it frees little for the time of a copy
    // An upper bound: packing needs less than a separate place for each storage.
    const int64_t placed = padded_bytes(p_, bytes);
    EntryTimes &there = times_[entry_of_[w.writer]], &back = times_[entry_of_[w.reader]];
    const bool is_one_entry = &there == &back;
    const double until_us = is_one_entry ? there.begins_us[there.middle] : there.begins_us.back();
    const double from_us = is_one_entry ? until_us : 0;
    const double there_us =
        std::max(there.there_free_us, there.begins_us[in_entry(w.writer) + 1]) + us;
    const double back_us = std::min(back.back_free_us, back.begins_us[in_entry(w.reader)]) - us;
    if (there_us > until_us || back_us < from_us || taken_bytes_ + placed > link_.limit_bytes)
      return false;
    there.there_free_us = there_us;
    back.back_free_us = back_us;
    moved_bytes_ += bytes;
    taken_bytes_ += placed;
    return true;
  }

  ProgramStep copy(const char* kernel, ValueId from, ValueId to, const Waiting& w,
                   uint32_t beside) const {
    ProgramStep copy;
    copy.kernel = kernel;
    copy.inputs = {from};
    copy.outputs = {to};
    copy.node = p_.steps[w.writer].node;
    copy.phase = p_.steps[beside].phase;
    copy.cost_us = link_.copy_us(p_.storages[w.storage].bytes);
    copy.basis = PriceBasis::kAnalytical;
    return copy;
  }

  void insert_copies(const std::vector<Waiting>& chosen) {
    std::vector<std::vector<ProgramStep>> behind(p_.steps.size()), in_front(p_.steps.size());
    for (const Waiting& w : chosen) {
      const bool crosses = entry_of_[w.writer] != entry_of_[w.reader];
      const ProgramValue whole = p_.values[w.whole];
      const auto make = [&](StorageKind kind) {
        const StorageId storage = p_.storages.push_back({p_.storages[w.storage].bytes, kind});
        return p_.values.push_back({whole.type, storage, 0});
      };
      const ValueId host = make(crosses ? StorageKind::kHostSession : StorageKind::kHost);
      const ValueId back = make(StorageKind::kArena);
      p_.storages[w.storage].kind = StorageKind::kArena;  // now only its own entry reads it
      fetched_[w.storage.v] = {p_.values[back].storage, w.reader};
      window_[w.whole.v] = back;
      behind[w.writer].push_back(copy("copy_to_host", w.whole, host, w, w.writer));
      in_front[w.reader].push_back(copy("copy_from_host", host, back, w, w.reader));
    }
    std::vector<ProgramStep> steps;
    for (ProgramEntry& entry : p_.entries) {
      const auto first = static_cast<uint32_t>(steps.size());
      for (uint32_t i = entry.first_step; i < entry.first_step + entry.num_steps; ++i) {
        std::ranges::move(in_front[i], std::back_inserter(steps));
        steps.push_back(std::move(p_.steps[i]));
        for (ValueId& v : steps.back().inputs) v = read_by(i, v);
        std::ranges::move(behind[i], std::back_inserter(steps));
      }
      entry.first_step = first;
      entry.num_steps = static_cast<uint32_t>(steps.size()) - first;
    }
    p_.steps = std::move(steps);
  }

  // The value that a step reads: from the first reader on, the same window of the fetched copy.
  ValueId read_by(uint32_t step, ValueId v) {
    if (!v.valid()) return v;
    const StorageId s = p_.values[v].storage;
    if (s.v >= fetched_.size() || !fetched_[s.v].storage.valid() || step < fetched_[s.v].from)
      return v;
    if (!window_[v.v].valid()) {
      ProgramValue value = p_.values[v];
      value.storage = fetched_[s.v].storage;
      window_[v.v] = p_.values.push_back(std::move(value));
    }
    return window_[v.v];
  }

  struct Fetched {
    StorageId storage;
    uint32_t from = 0;  // the step that reads it first
  };

  Program& p_;
  const HostLink& link_;
  std::vector<EntryTimes> times_;              // by entry
  std::vector<uint32_t> entry_of_;             // by step
  int64_t moved_bytes_ = 0, taken_bytes_ = 0;  // of storages; of host memory, at most
  std::vector<Fetched> fetched_;               // by storage
  std::vector<ValueId> window_;                // by value: the same window of what is fetched
};

}  // namespace

int64_t offload(Program& program, const HostLink& link) {
  return link.copy_us ? Offload(program, link).run() : 0;
}

}  // namespace shw
