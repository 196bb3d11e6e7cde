// schedule-collectives: moves collectives to streams of their communicators and decides when each
// starts.
//
// A collective starts as soon as its operand is ready. If its result is larger than its operand (an
// all-gather), or it repeats one of the forward pass, it starts no earlier before its first use
// than its own modelled duration, since an earlier start would only hold memory. The first use
// waits for it.
//
//   a; b; c; g = all_gather(w); y = mm(x, g)
//     ⇒   compute:  a records=e0;  b;  c;  y = mm(x, g) after=e1
//         comm1:    g = all_gather(w) after=e0 records=e1
//
// Time is the modelled time of the compute steps, whose order does not change. Copies that only
// prepare or unpack a collective's buffer move with it. Streams and events: streams.h.
//
// If the program would exceed its scratch limit, collectives start later and are awaited earlier.
#include <algorithm>

#include "passes/pass.h"
#include "passes/streams.h"
#include "simulate/live_bytes.h"

namespace shw {
namespace {

class Scheduler {
 public:
  Scheduler(Program& program, ProgramEntry& entry)
      : p_(program), first_(entry.first_step), count_(entry.num_steps), live_(0) {}

  // Returns whether any step moved.
  bool run() {
    find_writers_and_readers();
    find_movable();
    place_steps();
    return reorder();
  }

 private:
  ProgramStep& step(uint32_t i) { return p_.steps[first_ + i]; }
  static bool communicates(const ProgramStep& s) {
    return s.collective.kind != CollectiveKind::kNone;
  }

  void find_writers_and_readers() {
    std::vector<std::vector<uint32_t>> writers(p_.storages.size()), old_readers(p_.storages.size());
    reads_.resize(count_);
    readers_.resize(count_);
    for (uint32_t i = 0; i < count_; ++i) {
      const auto comes_after = [&](uint32_t earlier) {
        reads_[i].push_back(earlier);
        readers_[earlier].push_back(i);
      };
      for (ValueId v : step(i).inputs)
        if (v.valid()) std::ranges::for_each(writers[p_.values[v].storage.v], comes_after);
      for (ValueId v : step(i).outputs) {
        if (!v.valid()) continue;
        const uint32_t s = p_.values[v].storage.v;
        std::ranges::for_each(old_readers[s], comes_after);  // the writes that it overwrites
        writers[s].push_back(i);
      }
      for (ValueId v : step(i).inputs)
        if (v.valid()) old_readers[p_.values[v].storage.v].push_back(i);
    }
  }

  // Collectives, and the copies that exist only for them.
  void find_movable() {
    movable_.assign(count_, 0);
    for (uint32_t i = 0; i < count_; ++i) {
      const ProgramStep& s = step(i);
      if (communicates(s) || s.kernel == "local_slice") movable_[i] = 1;
      if (s.kernel != "clone") continue;
      const auto is_collective = [&](uint32_t j) { return communicates(step(j)); };
      const bool packs = !readers_[i].empty() &&
                         std::all_of(readers_[i].begin(), readers_[i].end(), is_collective);
      movable_[i] = packs || unpacks(i);
    }
  }
  bool unpacks(uint32_t i) const {
    return std::any_of(reads_[i].begin(), reads_[i].end(),
                       [&](uint32_t j) { return communicates(p_.steps[first_ + j]); });
  }

  // The position of a movable step is the index of the compute step in front of which it stands.
  void place_steps() {
    anchor_.assign(count_, 0);   // for compute steps: their own index
    std::vector<double> begins;  // of compute step k, µs
    double now = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      if (movable_[i]) continue;
      anchor_[i] = static_cast<uint32_t>(begins.size());
      begins.push_back(now);
      now += step(i).cost_us;
    }
    const auto num_compute = static_cast<uint32_t>(begins.size());
    begins.push_back(now);

    // Backwards: the latest start that delays no reader.
    std::vector<uint32_t> at_most(count_, num_compute);
    std::vector<double> latest(count_, now);
    std::vector<uint8_t> early(count_, 0);
    for (uint32_t i = count_; i-- > 0;) {
      bool readers_early = true;
      for (uint32_t r : readers_[i]) {
        at_most[i] = std::min(at_most[i], anchor_limit(r, at_most));
        latest[i] = std::min(latest[i], movable_[r] ? latest[r] : begins[anchor_[r]]);
        readers_early &= movable_[r] && early[r];
      }
      if (!movable_[i]) continue;
      latest[i] -= step(i).cost_us;
      early[i] = !step(i).recomputed &&
                 (communicates(step(i)) ? !grows(step(i)) : unpacks(i) || readers_early);
    }
    count_live(num_compute);
    // Forwards: not before its operands are ready, nor before there is memory for its result.
    std::vector<double> ends(count_, 0);
    for (uint32_t i = 0; i < count_; ++i) {
      if (!movable_[i]) {
        ends[i] = begins[anchor_[i] + 1];
        continue;
      }
      uint32_t at_least = 0;
      double start = early[i] ? 0 : latest[i];
      for (uint32_t w : reads_[i]) {
        at_least = std::max(at_least, movable_[w] ? anchor_[w] : anchor_[w] + 1);
        start = std::max(start, ends[w]);
      }
      ends[i] = start + step(i).cost_us;
      anchor_[i] =
          std::clamp(compute_step_at(begins, start, communicates(step(i))), at_least, at_most[i]);
      if (!early[i]) anchor_[i] = with_room(i);
    }
  }

  // The live scratch at each compute step if nothing moved.
  void count_live(uint32_t num_compute) {
    if (p_.arena_limit_bytes == INT64_MAX) return;
    stands_at_.assign(count_ + 1, 0);
    for (uint32_t i = 0; i < count_; ++i) stands_at_[i + 1] = stands_at_[i] + !movable_[i];
    live_ = LiveBytes(num_compute + 1);
    const std::vector<Touched> touched = touched_storages(p_);
    for (uint32_t s = 0; s < touched.size(); ++s) {
      const Touched& t = touched[s];
      if (p_.storages[StorageId{s}].kind != StorageKind::kArena || t.first > t.last) continue;
      if (t.first < first_ || t.last >= first_ + count_) continue;
      live_.add(stands_at_[t.first - first_], stands_at_[t.last - first_] + 1,
                p_.storages[StorageId{s}].bytes);
    }
  }
  // The anchor of a movable step, or the next later one from which its result fits in memory.
  uint32_t with_room(uint32_t i) {
    if (p_.arena_limit_bytes == INT64_MAX || stands_at_[i] <= anchor_[i]) return anchor_[i];
    int64_t bytes = 0;
    for (ValueId v : step(i).outputs)
      if (v.valid() && p_.storages[p_.values[v].storage].kind == StorageKind::kArena)
        bytes += p_.storages[p_.values[v].storage].bytes;
    const uint32_t from = live_.room_from(anchor_[i], stands_at_[i], bytes, p_.arena_limit_bytes);
    live_.add(from, stands_at_[i], bytes);
    return from;
  }

  // The compute step in front of which something with this start time belongs. A collective may
  // wait in its own stream; a copy would stall the compute stream, so it goes after.
  static uint32_t compute_step_at(const std::vector<double>& begins, double start, bool may_wait) {
    const auto it = may_wait ? std::upper_bound(begins.begin(), begins.end(), start)
                             : std::lower_bound(begins.begin(), begins.end(), start);
    const auto k = it - begins.begin() - (may_wait ? 1 : 0);
    return static_cast<uint32_t>(std::max<std::ptrdiff_t>(k, 0));
  }

  uint32_t anchor_limit(uint32_t reader, const std::vector<uint32_t>& at_most) const {
    return movable_[reader] ? at_most[reader] : anchor_[reader];
  }
  bool grows(const ProgramStep& s) const {
    return p_.values[s.outputs[0]].type.bytes() > p_.values[s.inputs[0]].type.bytes();
  }

  // Puts movable steps in front of the compute steps they are anchored to; otherwise keeps the
  // order.
  bool reorder() {
    std::vector<uint32_t> order(count_);
    for (uint32_t i = 0; i < count_; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return anchor_[a] != anchor_[b] ? anchor_[a] < anchor_[b] : movable_[a] > movable_[b];
    });
    bool changed = false;
    std::vector<ProgramStep> steps;
    steps.reserve(count_);
    for (uint32_t i = 0; i < count_; ++i) {
      changed |= order[i] != i;
      steps.push_back(std::move(step(order[i])));
    }
    for (uint32_t i = 0; i < count_; ++i) step(i) = std::move(steps[i]);
    return changed;
  }

  Program& p_;
  const uint32_t first_, count_;
  std::vector<std::vector<uint32_t>> reads_,
      readers_;  // by step: the steps whose results it reads; the steps that read its results
  std::vector<uint8_t> movable_;
  std::vector<uint32_t> anchor_;
  std::vector<uint32_t>
      stands_at_;   // by step, before any moves: number of compute steps in front of it
  LiveBytes live_;  // by compute step
};

Result<uint32_t> run(Program& p, Monitor& monitor) {
  const std::vector<ProgramStep> before = p.steps;
  bool moved = false;
  for (ProgramEntry& e : p.entries) {
    SHW_RETURN_IF_ERROR(monitor.poll());
    moved |= Scheduler(p, e).run();
  }
  assign_streams(p);
  uint32_t changed = 0;
  for (size_t i = 0; i < p.steps.size(); ++i)
    changed += p.steps[i].outputs != before[i].outputs || p.steps[i].stream != before[i].stream ||
               p.steps[i].waits != before[i].waits || p.steps[i].records != before[i].records;
  if (moved || changed > 0)  // lifetimes have changed
    for (ProgramStorage& s : p.storages) s.offset_bytes = -1;
  if (moved || changed > 0) p.arena_bytes = p.session_bytes = p.live_peak_bytes = 0;
  return changed;
}

}  // namespace

extern const PassDef kScheduleCollectives;
constinit const PassDef kScheduleCollectives = {
    "schedule-collectives", "Starts each collective early enough, and no earlier.", run};

}  // namespace shw
