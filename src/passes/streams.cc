#include "passes/streams.h"

#include <algorithm>

#include "passes/storage_uses.h"

namespace shw {
namespace {

constexpr int64_t kNever = -1;  // no step

class Synchroniser {
 public:
  // `simulations`: by entry; empty: steps wait only for what correctness requires.
  Synchroniser(Program& program, const PassOptions& options,
               std::span<const Simulation> simulations, const GroupsToCome* groups)
      : p_(program),
        o_(options),
        simulations_(simulations),
        groups_(groups),
        n_(program.streams.size()),
        collectives_(program),
        touched_(simulations.empty() ? std::vector<Touched>() : touched_storages(program)),
        last_reader_(program.storages.size(), kNever),
        needed_(n_),
        known_(n_ * n_),
        at_end_(n_ * program.steps.size()),
        reading_(n_) {}

  void run() {
    for (uint32_t i = 0; i < p_.steps.size(); ++i)
      if (p_.steps[i].stream != kComputeStream)
        for (ValueId v : p_.steps[i].inputs)
          if (v.valid()) last_reader_[p_.values[v].storage.v] = i;
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      for (size_t e = 0; e < p_.entries.size(); ++e)
        if (p_.entries[e].first_step == i && p_.entries[e].num_steps > 0) begin_entry(e);
      p_.steps[i].waits.clear();
      p_.steps[i].records = kNoEvent;
      if (p_.steps[i].stream == kComputeStream)
        compute(i);
      else
        communicate(i);
    }
    number_events();
  }

 private:
  using Clock = std::span<int64_t>;  // by stream: its last step that is known to be over

  // A collective that is the last to read some scratch. `bytes` of it become free when it ends,
  // since compute no longer uses them.
  struct LastRead {
    uint32_t step;
    int64_t bytes;
  };
  struct Reading {  // of one stream
    std::vector<LastRead> all;
    size_t next = 0;  // from here on not yet freed
  };

  void begin_entry(size_t number) {  // everything before it is over
    if (!simulations_.empty()) {
      simulation_ = &simulations_[number];
      const int64_t at_once =
          live_curves(p_, p_.entries[number]).peak[static_cast<size_t>(StorageKind::kArena)];
      limit_bytes_ = std::min(o_.arena_limit_bytes, at_once + o_.prefetch_bytes);
    }
    std::ranges::fill(known_, kNever);
    collectives_.clear();
    for (Reading& r : reading_) r = {};
    last_compute_ = kNever;
    held_bytes_ = 0;
  }

  void compute(uint32_t i) {
    const StepSpan span = groups_ != nullptr ? groups_->spans[i] : StepSpan{i, i};
    if (i == span.first) {
      const Clock last = needed_by(i, span.last);
      if (simulation_ != nullptr) release(i, last);
      for (int64_t other : last) wait(i, other);
    }
    if (simulation_ != nullptr) held_bytes_ += begins_with(i) - freed_by(i);
    finish(i);
    last_compute_ = i;
  }

  void communicate(uint32_t i) {
    wait(i, last_compute_);
    for (int64_t other : needed_by(i, i)) wait(i, other);
    if (simulation_ != nullptr) {
      held_bytes_ += begins_with(i);
      const bool is_last = std::ranges::any_of(p_.steps[i].inputs, [&](ValueId v) {
        return p_.lies_in(v, StorageKind::kArena) && last_reader_[p_.values[v].storage.v] == i;
      });
      if (const int64_t bytes = ends_with(i); bytes > 0 || is_last)
        reading_[p_.steps[i].stream].all.push_back({i, bytes});
    }
    finish(i);
    collectives_.add(p_.steps[i], i);
  }

  // By stream: the last collective on it that steps `i` to `end`, of another stream, must come
  // after. Valid until the next call.
  Clock needed_by(uint32_t i, uint32_t end) {
    std::ranges::fill(needed_, kNever);
    for (uint32_t k = i; k <= end; ++k)
      collectives_.for_each_before(p_.steps[k], [&](uint32_t step) {
        const StreamNumber stream = p_.steps[step].stream;
        if (stream != p_.steps[i].stream)
          needed_[stream] = std::max<int64_t>(needed_[stream], step);
      });
    return needed_;
  }

  // Adds to `last` the collectives that compute step `i` should wait for to free what they read:
  // because they are over by then, or because memory is short.
  void release(uint32_t i, Clock last) {
    int64_t grown = held_bytes_ + begins_with(i);
    const auto free_next = [&](size_t t) {
      const LastRead& r = reading_[t].all[reading_[t].next++];
      last[t] = std::max<int64_t>(last[t], r.step);
      held_bytes_ -= r.bytes;
      grown -= r.bytes;
    };
    for (size_t t = 0; t < n_; ++t)
      while (const LastRead* r = next_read(t)) {
        const bool awaited = r->step <= std::max(last[t], known(kComputeStream)[t]);
        if (!awaited && end_us(r->step) > simulation_->at(i).start_us) break;
        free_next(t);
      }
    while (grown > limit_bytes_) {
      size_t first = n_;  // the stream whose next collective ends first
      for (size_t t = 0; t < n_; ++t)
        if (next_read(t) &&
            (first == n_ || end_us(next_read(t)->step) < end_us(next_read(first)->step)))
          first = t;
      if (first == n_) return;
      free_next(first);
    }
  }
  const LastRead* next_read(size_t stream) const {
    const Reading& r = reading_[stream];
    return r.next < r.all.size() ? &r.all[r.next] : nullptr;
  }

  double end_us(uint32_t step) const { return simulation_->at(step).end_us; }

  // Bytes of scratch whose last step is compute step `i`, except scratch that a collective may
  // still be reading, which becomes free when the collective ends.
  int64_t freed_by(uint32_t i) {
    return scratch(i, [&](const Touched& t, StorageId s) {
      if (t.last != i) return false;
      LastRead* read = unfinished(last_reader_[s.v]);
      if (read != nullptr) read->bytes += p_.storages[s].bytes;
      return read == nullptr;
    });
  }
  LastRead* unfinished(int64_t step) {
    if (step == kNever) return nullptr;
    Reading& r = reading_[p_.steps[static_cast<size_t>(step)].stream];
    const auto at = std::ranges::lower_bound(r.all.begin() + static_cast<std::ptrdiff_t>(r.next),
                                             r.all.end(), step, {}, &LastRead::step);
    return at != r.all.end() && at->step == step ? &*at : nullptr;
  }

  // Bytes of scratch whose first step is `i`.
  int64_t begins_with(uint32_t i) {
    return scratch(i, [&](const Touched& t, StorageId) { return t.first == i; });
  }
  int64_t ends_with(uint32_t i) {
    return scratch(i, [&](const Touched& t, StorageId) { return t.last == i; });
  }
  template <class Counts>
  int64_t scratch(uint32_t i, Counts counts) {
    int64_t bytes = 0;
    seen_.clear();
    for (const auto* list : {&p_.steps[i].inputs, &p_.steps[i].outputs})
      for (ValueId v : *list) {
        if (!p_.lies_in(v, StorageKind::kArena)) continue;
        const StorageId s = p_.values[v].storage;
        if (std::ranges::find(seen_, s) != seen_.end()) continue;
        seen_.push_back(s);
        if (counts(touched_[s.v], s)) bytes += p_.storages[s].bytes;
      }
    return bytes;
  }

  // Makes step `i` wait for `other`, unless its stream knows already that this one is over.
  void wait(uint32_t i, int64_t other) {
    const Clock known = this->known(p_.steps[i].stream);
    if (other == kNever || other <= known[p_.steps[other].stream]) return;
    p_.steps[i].waits.push_back(static_cast<uint32_t>(other));  // becomes an event number below
    for (size_t t = 0; t < n_; ++t) known[t] = std::max(known[t], at_end(other)[t]);
  }
  void finish(uint32_t i) {
    const StreamNumber stream = p_.steps[i].stream;
    known(stream)[stream] = i;
    std::ranges::copy(known(stream), at_end(i).begin());
  }

  Clock known(StreamNumber stream) { return Clock(known_).subspan(stream * n_, n_); }
  // The steps of all streams that are known to be over when the step ends.
  Clock at_end(size_t step) { return Clock(at_end_).subspan(step * n_, n_); }

  void number_events() {
    p_.num_events = 0;
    for (ProgramStep& s : p_.steps)
      for (uint32_t w : s.waits) p_.steps[w].records = 0;
    for (ProgramStep& s : p_.steps)
      if (s.records != kNoEvent) s.records = p_.num_events++;
    for (ProgramStep& s : p_.steps)
      for (uint32_t& w : s.waits) w = p_.steps[w].records;
  }

  Program& p_;
  const PassOptions& o_;
  const std::span<const Simulation> simulations_;
  const GroupsToCome* groups_;
  const Simulation* simulation_ = nullptr;  // of the entry
  int64_t limit_bytes_ = INT64_MAX;         // of scratch of the entry
  const size_t n_;                          // streams
  StorageUses collectives_;                 // of this entry
  std::vector<Touched> touched_;            // by storage; empty: no simulations
  std::vector<int64_t> last_reader_;        // by storage: the last collective that reads it
  std::vector<int64_t> needed_;             // what needed_by() returns
  std::vector<int64_t> known_, at_end_;     // clocks: by stream, by step
  std::vector<StorageId> seen_;             // of one step
  std::vector<Reading> reading_;            // by stream
  int64_t last_compute_ = kNever;
  int64_t held_bytes_ = 0;  // of scratch
};

}  // namespace

void number_streams(Program& p) {
  p.streams.resize(1);
  for (const ProgramStep& s : p.steps)
    if (const HostCopy copy = host_copy(p, s); copy != HostCopy::kNone) host_stream(p, copy);
  for (ProgramStep& s : p.steps) {
    const HostCopy copy = host_copy(p, s);
    s.stream = copy != HostCopy::kNone ? host_stream(p, copy)
               : s.collective.kind != CollectiveKind::kNone
                   ? communication_stream(p, s.collective.axes)
                   : kComputeStream;
  }
}

void synchronise(Program& program, const PassOptions& options,
                 std::span<const Simulation> simulations, const GroupsToCome* groups) {
  Synchroniser(program, options, simulations, groups).run();
}

}  // namespace shw
