#include "passes/entry_schedule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

#include "plan/port_uses.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

// Identifies the queue of a step that runs on a link: the mesh dims of a group, or a direction.
std::vector<uint8_t> queue_key(const Program& p, const ProgramStep& s) {
  const HostCopy copy = host_copy(p, s);
  if (copy == HostCopy::kNone) return links_of(s.collective.axes);
  return {static_cast<uint8_t>(kMaxMeshRank + static_cast<int>(copy))};
}

// The compute step in front of which a step with this start time is placed. A collective may wait
// in its own stream, so it goes before the compute step that runs at that time. A copy would stall
// the compute stream, so it goes after it.
uint32_t compute_step_at(const std::vector<double>& begins, double start, bool may_wait) {
  const auto it = may_wait ? std::upper_bound(begins.begin(), begins.end(), start)
                           : std::lower_bound(begins.begin(), begins.end(), start);
  const auto k = it - begins.begin() - (may_wait ? 1 : 0);
  return static_cast<uint32_t>(std::max<std::ptrdiff_t>(k, 0));
}

}  // namespace

struct EntrySchedule::Times {
  std::vector<double> begins;  // by compute step; the last element is the end of the last one
  // By step.
  std::vector<double> ready;      // when the last operand is ready
  std::vector<double> latest;     // the start that delays no reader
  std::vector<double> start;      // the start assigned
  std::vector<uint32_t> at_most;  // the first compute step that needs it
  std::vector<uint32_t> anchor;   // the compute step in front of which it is placed
};

EntrySchedule::EntrySchedule(const Program& program, const ProgramEntry& entry, int64_t limit_bytes,
                             bool finish_late)
    : count_(entry.num_steps), needs_(program, entry), limit_bytes_(limit_bytes), live_(0) {
  std::map<std::vector<uint8_t>, uint32_t> queues;
  compute_before_.assign(count_ + 1, 0);
  const std::span<const ProgramStep> steps(program.steps.data() + entry.first_step, count_);
  for (const ProgramStep& s : steps) {
    us_.push_back(std::max(s.cost_us, 0.0));
    const bool on_link = runs_on_link(program, s);
    queue_.push_back(on_link
                         ? queues.try_emplace(queue_key(program, s), queues.size()).first->second
                         : kNoQueue);
    movable_.push_back(on_link || is_local_slice(s));
    makes_bytes_.push_back(0);
    for (ValueId v : s.outputs)
      if (program.lies_in(v, StorageKind::kArena))
        makes_bytes_.back() += program.storages[program.values[v].storage].bytes;
  }
  num_queues_ = static_cast<uint32_t>(queues.size());
  find_finishing(program, entry, finish_late);
  find_movable(program, entry);
  for (uint32_t i = 0; i < count_; ++i) compute_before_[i + 1] = compute_before_[i] + !movable_[i];
  find_others(program, entry);
  for (const bool frees : {false, true}) find_early(program, entry, frees);
  const auto collectives = std::ranges::count_if(queue_, [](uint32_t q) { return q != kNoQueue; });
  for (uint32_t i = 0; i < count_; ++i)
    if (queue_[i] != kNoQueue) mean_us_ += us_[i] / static_cast<double>(collectives);
  if (limit_bytes_ != INT64_MAX) count_live(program, entry);
}

// Finds the steps that finish results: they read only collectives, parameters and other such steps,
// and only such steps read them.
void EntrySchedule::find_finishing(const Program& program, const ProgramEntry& entry,
                                   bool finish_late) {
  const std::span<const ProgramStep> steps(program.steps.data() + entry.first_step, count_);
  const auto reads = [&](const ProgramStep& reader, const ProgramStep& writer) {
    return std::ranges::any_of(writer.outputs, [&](ValueId v) {
      return v.valid() && std::ranges::any_of(reader.inputs, [&](ValueId r) {
               return r.valid() && program.values[r].storage == program.values[v].storage;
             });
    });
  };
  // The caller computes tangents from results, so the backward pass waits for results.
  const bool results_are_awaited = std::ranges::any_of(
      steps, [&](const ProgramStep& s) { return touches(program, s.inputs, PortRole::kTangent); });
  of_parameters_.assign(count_, 0);
  finishes_.assign(count_, 0);
  for (uint32_t i = 0; i < count_; ++i) {
    bool behind = false, of_compute = false;
    of_parameters_[i] = std::ranges::all_of(steps[i].inputs, [&](ValueId v) {
      return !v.valid() || program.lies_in(v, StorageKind::kArena) ||
             is_of_model(program, program.values[v].storage);
    });
    for (uint32_t w : needs_.before(i)) {
      of_parameters_[i] &= of_parameters_[w];
      if (!reads(steps[i], steps[w])) continue;  // overwrites what that reads
      behind |= queue_[w] != kNoQueue || finishes_[w];
      of_compute |= queue_[w] == kNoQueue && !finishes_[w] && !of_parameters_[w];
    }
    const bool is_awaited =
        results_are_awaited && touches(program, steps[i].outputs, PortRole::kResult);
    finishes_[i] = finish_late && queue_[i] == kNoQueue && behind && !of_compute && !is_awaited;
  }
  for (uint32_t i = count_; i-- > 0;) finishes_[i] = finishes_[i] && only_finishes(i);
}

bool EntrySchedule::only_finishes(uint32_t i) const {
  return std::ranges::all_of(needs_.after(i), [&](uint32_t r) { return finishes_[r] != 0; });
}

void EntrySchedule::find_movable(const Program& program, const ProgramEntry& entry) {
  const std::span<const ProgramStep> steps(program.steps.data() + entry.first_step, count_);
  const auto is_collective = [&](uint32_t i) { return queue_[i] != kNoQueue; };
  const auto unpacks = [&](uint32_t i) {
    return finishes_[i] ||
           (is_copy(steps[i]) && std::ranges::any_of(needs_.before(i), is_collective));
  };
  unpacks_.assign(count_, 0);
  prefetchable_.assign(count_, 0);
  for (uint32_t i = count_; i-- > 0;) {
    const auto is_prepared = [&](uint32_t r) {
      return is_collective(r) || (movable_[r] && of_parameters_[r] && of_parameters_[i]);
    };
    const bool prepares = (is_copy(steps[i]) || of_parameters_[i]) && !needs_.after(i).empty() &&
                          std::ranges::all_of(needs_.after(i), is_prepared);
    unpacks_[i] = unpacks(i);
    movable_[i] = movable_[i] || prepares || unpacks_[i];
    const HostCopy copy = host_copy(program, steps[i]);
    prefetchable_[i] = movable_[i] && (of_parameters_[i] || copy == HostCopy::kFromHost);
  }
}

// Finds whether a step, together with the steps that move with it to prepare its operands, is the
// last to touch these operands, and which other steps touch them last before it. Until those have
// run, an early start frees nothing.
void EntrySchedule::find_others(const Program& program, const ProgramEntry& entry) {
  const std::vector<Touched> touched = touched_storages(program);
  others_.assign(count_, {});
  std::vector<Others> last(program.storages.size());
  for (uint32_t i = 0; i < count_; ++i) {
    const ProgramStep& step = program.steps[entry.first_step + i];
    Others& others = others_[i];
    for (ValueId v : step.inputs) {
      if (!v.valid()) continue;
      const StorageId storage = program.values[v].storage;
      others.frees = others.frees && program.lies_in(v, StorageKind::kArena) &&
                     touched[storage.v].last == entry.first_step + i;
      others.compute_end = std::max(others.compute_end, last[storage.v].compute_end);
      others.moving = std::max(others.moving, last[storage.v].moving);
    }
    for (uint32_t w : needs_.before(i))
      if (movable_[w] && queue_[w] == kNoQueue) others.frees = others.frees && others_[w].frees;
    for (const auto* list : {&step.inputs, &step.outputs})
      for (ValueId v : *list) {
        if (!v.valid()) continue;
        Others& of = last[program.values[v].storage.v];
        if (movable_[i])
          of.moving = i + 1;
        else
          of.compute_end = compute_before_[i] + 1;
      }
  }
}

// Finds the steps that start as early as possible, not just before their readers.
void EntrySchedule::find_early(const Program& program, const ProgramEntry& entry, bool frees) {
  std::vector<uint8_t>& early = early_[frees];
  early.assign(count_, 0);
  for (uint32_t i = count_; i-- > 0;) {
    const ProgramStep& step = program.steps[entry.first_step + i];
    const HostCopy copy = host_copy(program, step);
    if (copy != HostCopy::kNone) {
      early[i] = copy == HostCopy::kToHost;
      continue;
    }
    if (!movable_[i] || step.recomputed) continue;
    const auto is_early = [&](uint32_t r) { return movable_[r] && early[r]; };
    if (queue_[i] == kNoQueue)
      early[i] = unpacks_[i] || std::ranges::all_of(needs_.after(i), is_early);
    else
      early[i] = (!frees || others_[i].frees) &&
                 type_bytes(program, step.outputs) <= type_bytes(program, step.inputs);
  }
}

// The live scratch at each compute step if nothing moved.
void EntrySchedule::count_live(const Program& program, const ProgramEntry& entry) {
  live_ = LiveBytes(compute_before_[count_] + 1);
  const std::vector<Touched> touched = touched_storages(program);
  for (uint32_t s = 0; s < touched.size(); ++s) {
    const Touched& t = touched[s];
    if (program.storages[StorageId{s}].kind != StorageKind::kArena || t.first > t.last) continue;
    if (t.first < entry.first_step || t.last >= entry.first_step + count_) continue;
    live_.add(compute_before_[t.first - entry.first_step],
              compute_before_[t.last - entry.first_step] + 1, program.storages[StorageId{s}].bytes);
  }
}

EntrySchedule::Order EntrySchedule::place(std::span<const double> starts, const Lead& lead) const {
  Times t;
  double end = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    if (movable_[i]) continue;
    t.begins.push_back(starts[i]);
    end = std::max(end, starts[i] + us_[i]);
  }
  t.begins.push_back(end);
  t.ready.assign(count_, 0);
  for (uint32_t i = 0; i < count_; ++i) {
    if (frees(i, lead)) t.ready[i] = t.begins[others_[i].compute_end];
    for (uint32_t w : needs_.before(i))
      t.ready[i] =
          std::max(t.ready[i], (movable_[w] ? t.ready[w] : t.begins[compute_before_[w]]) + us_[w]);
  }
  find_latest(t, lead);
  find_anchors(t, lead);
  Order order(count_);
  std::iota(order.begin(), order.end(), 0u);
  sort_stably(order, [&](uint32_t a, uint32_t b) {
    if (t.anchor[a] != t.anchor[b]) return t.anchor[a] < t.anchor[b];
    if (movable_[a] != movable_[b]) return movable_[a] > movable_[b];
    return t.start[a] < t.start[b];
  });
  return order;
}

// Backwards from the end: of the movable steps whose readers all have a start, the one with the
// latest required end takes the latest free time of its communicator.
void EntrySchedule::find_latest(Times& t, const Lead& lead) const {
  const double slack_us = lead.slack * mean_us_;
  const std::vector<uint8_t>& early = early_[lead.frees];
  t.at_most.assign(count_, compute_before_[count_]);
  t.latest.assign(count_, t.begins.back());  // the latest end, until it is the latest start
  std::vector<uint32_t> open(count_, 0);     // readers that move and have no start yet
  for (uint32_t i = 0; i < count_; ++i)
    for (uint32_t w : needs_.before(i)) {
      if (movable_[i]) {
        ++open[w];
        continue;
      }
      t.at_most[w] = std::min(t.at_most[w], compute_before_[i]);
      t.latest[w] = std::min(t.latest[w], t.begins[compute_before_[i]]);
    }
  std::priority_queue<std::pair<double, uint32_t>> closed;
  const auto close = [&](uint32_t i) {
    if (prefetchable_[i] && queue_[i] != kNoQueue) t.latest[i] -= slack_us;
    if (early[i] && queue_[i] != kNoQueue) t.latest[i] = std::min(t.latest[i], t.ready[i] + us_[i]);
    closed.emplace(t.latest[i], i);
  };
  for (uint32_t i = 0; i < count_; ++i)
    if (movable_[i] && open[i] == 0) close(i);
  std::vector<double> free_until(num_queues_, t.begins.back());
  while (!closed.empty()) {
    const uint32_t i = closed.top().second;
    closed.pop();
    if (queue_[i] != kNoQueue) t.latest[i] = std::min(t.latest[i], free_until[queue_[i]]);
    t.latest[i] -= us_[i];
    if (queue_[i] != kNoQueue) free_until[queue_[i]] = t.latest[i];
    for (uint32_t w : needs_.before(i)) {
      t.at_most[w] = std::min(t.at_most[w], t.at_most[i]);
      t.latest[w] = std::min(t.latest[w], t.latest[i]);
      if (--open[w] == 0 && movable_[w]) close(w);
    }
  }
}

// Forwards: no step starts before its operands are ready, or before there is memory for its result.
void EntrySchedule::find_anchors(Times& t, const Lead& lead) const {
  const std::vector<uint8_t>& early = early_[lead.frees];
  const int64_t limit_bytes = lead.waits ? 0 : limit_bytes_;
  LiveBytes live = live_;
  std::vector<double> ends(count_, 0);
  t.anchor.assign(count_, 0);
  t.start.assign(count_, 0);
  for (uint32_t i = 0; i < count_; ++i) {
    if (!movable_[i]) {
      t.anchor[i] = compute_before_[i];
      ends[i] = t.begins[t.anchor[i] + 1];
      continue;
    }
    uint32_t at_least = early[i] || t.at_most[i] < lead.depth ? 0 : t.at_most[i] - lead.depth;
    if (finishes_[i]) at_least = compute_before_[count_];
    double start = early[i] ? 0 : t.latest[i];
    const auto come_behind = [&](uint32_t w) {
      at_least = std::max(at_least, t.anchor[w] + !movable_[w]);
      start = std::max(start, ends[w]);
    };
    for (uint32_t w : needs_.before(i)) come_behind(w);
    if (frees(i, lead)) {
      at_least = std::max(at_least, others_[i].compute_end);
      start = std::max(start, t.begins[others_[i].compute_end]);
      if (others_[i].moving > 0) come_behind(others_[i].moving - 1);
      at_least = std::min(at_least, t.at_most[i]);  // its own reader may come before the others
    }
    t.start[i] = start;
    ends[i] = start + us_[i];
    t.anchor[i] =
        std::clamp(compute_step_at(t.begins, start, queue_[i] != kNoQueue), at_least, t.at_most[i]);
    if (early[i]) continue;
    t.anchor[i] = with_room(i, t.anchor[i], limit_bytes, live);
    // If nothing may start early, the step must not start before one at this place that frees
    // memory, either.
    if (limit_bytes == 0 && t.begins[t.anchor[i]] > start) {
      t.start[i] = t.begins[t.anchor[i]];
      ends[i] = t.start[i] + us_[i];
    }
  }
}

// Looks for a compute step that begins after the step's operands are ready, and in front of which
// compute is idle for long enough. If there is none, takes the first that begins after that time.
EntrySchedule::Order EntrySchedule::finish(const Order& order, const Simulation& as_placed,
                                           uint32_t depth) const {
  struct Place {
    uint32_t at;  // in `order`
    double start_us, idle_us;
  };
  std::vector<Place> places;  // in front of compute steps, and behind everything
  std::vector<uint32_t> place_of(count_), chosen(count_);
  std::vector<double> ends(count_);
  double free_from = 0;
  for (uint32_t at = 0; at < count_; ++at) {
    const uint32_t i = order[at];
    place_of[i] = at;
    if (finishes_[i]) continue;
    const SimulatedStep& s = as_placed.steps[at];
    ends[i] = s.end_us;
    if (queue_[i] != kNoQueue) continue;
    places.push_back({at, s.start_us, s.start_us - free_from});
    free_from = s.end_us;
  }
  places.push_back({count_, std::numeric_limits<double>::infinity(), 0});
  for (uint32_t i = 0; i < count_; ++i) {
    if (!finishes_[i]) continue;
    double ready_us = 0;
    uint32_t behind = 0;
    for (uint32_t w : needs_.before(i)) {
      ready_us = std::max(ready_us, ends[w]);
      behind = std::max(behind, finishes_[w] ? chosen[w] : place_of[w] + 1);
    }
    const auto is_before = [&](const Place& p) { return p.start_us < ready_us || p.at < behind; };
    const auto first = std::ranges::partition_point(places, is_before);
    const auto last = std::min<std::ptrdiff_t>(depth, places.end() - first - 1);
    const auto found = std::find_if(first, first + last, [&](const Place& p) {
      return p.idle_us >= us_[i] && p.start_us - us_[i] >= ready_us;
    });
    Place& place = found != first + last ? *found : *first;
    place.idle_us -= us_[i];
    chosen[i] = place.at;
    ends[i] = std::max(ready_us, place.start_us - place.idle_us);
  }
  return with_finishing_at(order, chosen);
}

EntrySchedule::Order EntrySchedule::with_finishing_at(const Order& order,
                                                      const std::vector<uint32_t>& places) const {
  std::vector<uint32_t> finishing;
  for (uint32_t i = 0; i < count_; ++i)
    if (finishes_[i]) finishing.push_back(i);
  sort_stably(finishing, {}, [&](uint32_t i) { return places[i]; });
  Order result;
  auto next = finishing.begin();
  for (uint32_t at = 0; at <= count_; ++at) {
    for (; next != finishing.end() && places[*next] == at; ++next) result.push_back(*next);
    if (at < count_ && !finishes_[order[at]]) result.push_back(order[at]);
  }
  return result;
}

// The anchor, or the next later one from which the result fits in memory.
uint32_t EntrySchedule::with_room(uint32_t i, uint32_t anchor, int64_t limit_bytes,
                                  LiveBytes& live) const {
  const uint32_t stood_at = compute_before_[i];
  if (limit_bytes == INT64_MAX || stood_at <= anchor) return anchor;
  const uint32_t from = live.room_from(anchor, stood_at, makes_bytes_[i], limit_bytes);
  live.add(from, stood_at, makes_bytes_[i]);
  return from;
}

}  // namespace shw
