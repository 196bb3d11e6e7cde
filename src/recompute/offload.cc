#include "recompute/offload.h"

#include <algorithm>
#include <iterator>

#include "graph/graph.h"

namespace shw {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// A storage that waits: steps of the entry, from 0.
struct Waiting {
  StorageId storage;
  ValueId whole;  // all of it, as its writer writes it
  uint32_t writer = 0, reader = 0;
};

class EntryOffload {
 public:
  EntryOffload(Program& program, uint32_t entry, const HostLink& link, int64_t room_bytes)
      : p_(program), entry_(program.entries[entry]), link_(link), room_bytes_(room_bytes) {}

  int64_t taken_bytes() const { return taken_bytes_; }
  int64_t run() {
    find_times();
    if (middle_ == kNone) return 0;
    for (const Waiting& w : candidates())
      if (fits(w)) chosen_.push_back(w);
    insert_copies();
    return moved_bytes_;
  }

 private:
  const ProgramStep& step(uint32_t i) const { return p_.steps[entry_.first_step + i]; }

  void find_times() {
    double us = 0;
    for (uint32_t i = 0; i < entry_.num_steps; ++i) {
      if (middle_ == kNone && step(i).phase != static_cast<uint8_t>(Phase::kForward)) middle_ = i;
      begins_us_.push_back(us);
      if (!runs_on_link(p_, step(i))) us += std::max(step(i).cost_us, 0.0);
    }
    begins_us_.push_back(us);
    back_free_us_ = us;
  }

  // What one forward step writes as a whole, and the backward half reads, in the order of writing.
  std::vector<Waiting> candidates() const {
    struct Uses {
      uint32_t num_writers = 0, reader = kNone;
    };
    std::vector<Uses> uses(p_.storages.size());
    for (uint32_t i = 0; i < entry_.num_steps; ++i) {
      for (ValueId v : step(i).outputs)
        if (v.valid()) ++uses[p_.values[v].storage.v].num_writers;
      for (ValueId v : step(i).inputs)
        if (v.valid() && i >= middle_) {
          uint32_t& reader = uses[p_.values[v].storage.v].reader;
          reader = std::min(reader, i);
        }
    }
    std::vector<Waiting> all;
    for (uint32_t i = 0; i < middle_; ++i)
      for (ValueId v : step(i).outputs) {
        if (!p_.lies_in(v, StorageKind::kArena) || !is_whole(p_, v)) continue;
        const StorageId storage = p_.values[v].storage;
        const Uses& use = uses[storage.v];
        if (use.num_writers == 1 && use.reader != kNone) all.push_back({storage, v, i, use.reader});
      }
    return all;
  }

  // Whether the link has time for it; then it takes that time.
  bool fits(const Waiting& w) {
    const int64_t bytes = p_.storages[w.storage].bytes;
    const double us = link_.copy_us(bytes), middle_us = begins_us_[middle_];
    if (us <= link_.copy_us(0)) return false;  // small: it frees little for the time of a copy
    // Packing wastes less than if each had a place of its own.
    const int64_t placed = padded_bytes(p_, bytes);
    const double there_us = std::max(there_free_us_, begins_us_[w.writer + 1]) + us;
    const double back_us = std::min(back_free_us_, begins_us_[w.reader]) - us;
    if (there_us > middle_us || back_us < middle_us || taken_bytes_ + placed > room_bytes_)
      return false;
    there_free_us_ = there_us;
    back_free_us_ = back_us;
    moved_bytes_ += bytes;
    taken_bytes_ += placed;
    return true;
  }

  ProgramStep copy(const char* kernel, ValueId from, ValueId to, const Waiting& w) const {
    ProgramStep copy;
    copy.kernel = kernel;
    copy.inputs = {from};
    copy.outputs = {to};
    copy.node = step(w.writer).node;
    copy.cost_us = link_.copy_us(p_.storages[w.storage].bytes);
    copy.basis = PriceBasis::kAnalytical;
    return copy;
  }

  void insert_copies() {
    std::vector<std::vector<ProgramStep>> behind(entry_.num_steps), in_front(entry_.num_steps);
    std::vector<StorageId> fetched(p_.storages.size());
    std::vector<ValueId> window(p_.values.size());  // by value: the same window of what is fetched
    for (const Waiting& w : chosen_) {
      const ProgramValue whole = p_.values[w.whole];
      const auto make = [&](StorageKind kind) {
        const StorageId storage = p_.storages.push_back({p_.storages[w.storage].bytes, kind});
        return p_.values.push_back({whole.type, storage, 0});
      };
      const ValueId host = make(StorageKind::kHost), back = make(StorageKind::kArena);
      fetched[w.storage.v] = p_.values[back].storage;
      window[w.whole.v] = back;
      behind[w.writer].push_back(copy("copy_to_host", w.whole, host, w));
      in_front[w.reader].push_back(copy("copy_from_host", host, back, w));
      in_front[w.reader].back().phase = static_cast<uint8_t>(Phase::kBackward);
    }
    const auto fetched_window = [&](ValueId v) {
      const StorageId s = p_.values[v].storage;
      if (s.v >= fetched.size() || !fetched[s.v].valid()) return v;
      if (!window[v.v].valid()) {
        ProgramValue value = p_.values[v];
        value.storage = fetched[s.v];
        window[v.v] = p_.values.push_back(std::move(value));
      }
      return window[v.v];
    };
    std::vector<ProgramStep> steps;
    for (uint32_t i = 0; i < entry_.num_steps; ++i) {
      std::ranges::move(in_front[i], std::back_inserter(steps));
      steps.push_back(std::move(p_.steps[entry_.first_step + i]));
      if (i >= middle_)
        for (ValueId& v : steps.back().inputs)
          if (v.valid()) v = fetched_window(v);
      std::ranges::move(behind[i], std::back_inserter(steps));
    }
    const auto first = p_.steps.begin() + entry_.first_step;
    const auto added = static_cast<uint32_t>(steps.size()) - entry_.num_steps;
    p_.steps.insert(p_.steps.erase(first, first + entry_.num_steps),
                    std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
    entry_.num_steps += added;
    for (ProgramEntry& e : p_.entries)
      if (&e > &entry_) e.first_step += added;
  }

  Program& p_;
  ProgramEntry& entry_;
  const HostLink& link_;
  const int64_t room_bytes_;
  std::vector<double> begins_us_;                // by step; at last, the end
  uint32_t middle_ = kNone;                      // the first step of the backward half
  double there_free_us_ = 0, back_free_us_ = 0;  // of the link, forwards and from the end
  int64_t moved_bytes_ = 0, taken_bytes_ = 0;    // of storages; of host memory, at most
  std::vector<Waiting> chosen_;
};

}  // namespace

int64_t offload(Program& program, const HostLink& link) {
  int64_t moved = 0, room = link.limit_bytes;
  for (uint32_t e = 0; link.copy_us && e < program.entries.size(); ++e) {
    EntryOffload entry(program, e, link, room);
    moved += entry.run();
    room -= entry.taken_bytes();
  }
  return moved;
}

}  // namespace shw
