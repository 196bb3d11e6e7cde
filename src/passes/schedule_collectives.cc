// schedule-collectives: moves collectives to streams of their communicators and decides when each
// starts.
//
//   a; b; c; g = all_gather(w); y = mm(x, g)
//     =>  compute:  a records=e0;  b;  c;  y = mm(x, g) after=e1
//         comm1:    g = all_gather(w) after=e0 records=e1
//
// All times come from the simulator. It computes when compute steps would begin if all parameters
// were ready in time; for these times each collective gets its place (entry_schedule.h). The pass
// tries several leads, that is, how much earlier than needed gathers start. Of the orders that hold
// at most `prefetch_bytes` more scratch than if nothing started early, it takes the one with the
// shortest simulated time. Streams and events: streams.h.
//
// If the program would exceed its scratch limit, collectives start later and are awaited earlier.
//
// Storages that only one group of fused steps will touch finally need no memory. If the lives of a
// program were shortened under this assumption (PassOptions::groups_free_memory), its memory is
// measured in the same way, and its present order, which holds little memory, is tried first.
//
// A program that has streams is already scheduled, and is not changed.
#include <algorithm>
#include <limits>
#include <numeric>

#include "passes/entry_schedule.h"
#include "passes/fill_waits.h"
#include "passes/lifetimes.h"
#include "passes/pass.h"
#include "passes/streams.h"
#include "simulate/simulate.h"

namespace shw {
namespace {

// An entry, and the best order of its steps so far. An order is by place: the number of the step
// before the pass.
class EntryOrders {
 public:
  EntryOrders(Program& program, const PassOptions& options, const ProgramEntry& entry)
      : p_(program),
        o_(options),
        entry_(entry),
        ways_{Way(program, entry, options.arena_limit_bytes, false),
              Way(program, entry, options.arena_limit_bytes, true)},
        now_(entry.num_steps) {
    std::iota(now_.begin(), now_.end(), 0u);
    best_ = now_;
  }

  bool finishes_any() const { return ways_[1].schedule.finishes_any(); }
  bool frees_less() const { return ways_[0].schedule.frees_less(); }
  void place(const Lead& lead, bool finish_late) {
    const Way& way = ways_[finish_late];
    reorder(way.schedule.place(way.starts, lead));
  }
  void finish(const Simulation& as_placed, const Lead& lead) {
    reorder(ways_[1].schedule.finish(now_, as_placed, lead.depth));
  }
  void place_best() { reorder(best_); }
  // Applies fill_waits() to the best order.
  void fill(int64_t held_bytes) {
    std::vector<const ProgramStep*> steps(now_.size());
    for (size_t place = 0; place < now_.size(); ++place)
      steps[now_[place]] = &p_.steps[entry_.first_step + place];
    reorder(fill_waits(
        p_, steps, ways_[0].schedule, best_,
        {held_bytes, allowed_bytes_, o_.prefetch_depth, o_.products_between_reductions}));
  }
  bool is_best() const { return now_ == best_; }

  // Simulates the present order.
  Simulation simulated() {
    Simulation s = simulate(p_, entry_, {.only_times = true});
    us_ = s.total_us;
    return s;
  }
  bool is_faster() const { return us_ < best_us_; }
  // `live`: scratch by step of the program. The first order to be measured holds the least.
  // True: it is the best so far.
  bool measure(std::span<const int64_t> live) {
    simulated();  // freeing operands early may have delayed it
    if (!is_faster()) return false;
    const int64_t peak = std::ranges::max(
        entry_.num_steps == 0 ? live : live.subspan(entry_.first_step, entry_.num_steps));
    if (best_us_ == kUnknown)
      allowed_bytes_ = std::max(peak, std::min(o_.arena_limit_bytes, peak + o_.prefetch_bytes));
    if (peak > allowed_bytes_) return false;
    best_us_ = us_;
    best_ = now_;
    return true;
  }

 private:
  struct Way {
    Way(const Program& p, const ProgramEntry& entry, int64_t limit_bytes, bool finish_late)
        : schedule(p, entry, limit_bytes, finish_late) {
      std::vector<double> us;
      for (const ProgramStep& step : p.steps) us.push_back(step.cost_us);
      for (uint32_t i = 0; i < entry.num_steps; ++i)
        if (schedule.is_prefetchable(i) ||
            (finish_late && schedule.only_finishes(i) && !is_part(p, entry.first_step + i)))
          us[entry.first_step + i] = 0;
      for (const SimulatedStep& s : simulate(p, entry, {.step_us = us, .only_times = true}).steps)
        starts.push_back(s.start_us);
    }
    const EntrySchedule schedule;
    // By number of the step: its start if all parameters were ready in time, and no step waited for
    // steps that finish results late.
    std::vector<double> starts;
  };

  // Whether compute makes a part of a result. The parts hide each other's collectives
  // (split_rows.h).
  static bool is_part(const Program& p, uint32_t step) {
    const ValueList& made = p.steps[step].outputs;
    return !runs_on_link(p, p.steps[step]) && made.size() == 1 && made[0].valid() &&
           !is_whole(p, made[0]);
  }

  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

  void reorder(const EntrySchedule::Order& order) {
    ProgramStep* steps = p_.steps.data() + entry_.first_step;
    std::vector<uint32_t> place_of(now_.size());
    for (uint32_t place = 0; place < now_.size(); ++place) place_of[now_[place]] = place;
    for (uint32_t first = 0; first < order.size(); ++first) {
      uint32_t from = place_of[order[first]];
      if (from == first) continue;
      ProgramStep displaced = std::move(steps[first]);
      uint32_t place = first;
      for (; from != first; place = from, from = place_of[order[place]]) {
        steps[place] = std::move(steps[from]);
        place_of[order[place]] = place;
      }
      steps[place] = std::move(displaced);
      place_of[order[place]] = place;
    }
    now_ = order;
  }

  Program& p_;
  const PassOptions& o_;
  const ProgramEntry& entry_;
  const Way ways_[2];  // by whether results are finished late
  EntrySchedule::Order now_, best_;
  double us_ = 0, best_us_ = kUnknown;
  int64_t allowed_bytes_ = 0;
};

class Scheduler {
 public:
  Scheduler(Program& program, const PassOptions& options, Monitor& monitor)
      : p_(program), o_(options), monitor_(monitor) {
    number_streams(p_);
    entries_.reserve(p_.entries.size());
    for (const ProgramEntry& e : p_.entries) entries_.emplace_back(p_, o_, e);
  }

  Status run() {
    if (o_.groups_free_memory) consider(simulations(), {.frees = true});
    // An order that needs too much memory at first leaves no room for anything else, so the
    // smallest is tried first.
    if (is_limited()) SHW_RETURN_IF_ERROR(attempt({.frees = true, .waits = true}, false));
    SHW_RETURN_IF_ERROR(attempt({.frees = true}, false));
    const bool frees_less = std::ranges::any_of(entries_, &EntryOrders::frees_less);
    const auto is_too_large = [&] {  // some order is faster than the best but does not fit
      return std::ranges::any_of(entries_, &EntryOrders::is_faster);
    };
    for (uint32_t depth = o_.prefetch_depth; depth > 0; depth /= 2) {
      Lead lead{.depth = depth, .slack = 3};
      SHW_RETURN_IF_ERROR(attempt(lead, false));
      if (frees_less && is_too_large()) {
        lead.frees = true;
        SHW_RETURN_IF_ERROR(attempt(lead, false));
      }
      if (is_too_large()) continue;
      for (const double slack : {1.0, 0.0})
        SHW_RETURN_IF_ERROR(attempt({.depth = depth, .slack = slack, .frees = lead.frees}, false));
      break;
    }
    // When results are finished late, other leads may be best, but only few are worth trying.
    if (std::ranges::any_of(entries_, &EntryOrders::finishes_any)) {
      const Lead before = best_,
                 earliest{.depth = o_.prefetch_depth, .slack = 3, .frees = best_.frees};
      SHW_RETURN_IF_ERROR(attempt(before, true));
      if (before != earliest) SHW_RETURN_IF_ERROR(attempt(earliest, true));
    }
    return fill();
  }

 private:
  bool is_limited() const { return o_.arena_limit_bytes > 0 && o_.arena_limit_bytes < INT64_MAX; }
  Status attempt(const Lead& lead, bool finish_late) {
    SHW_RETURN_IF_ERROR(monitor_.poll());
    for (EntryOrders& e : entries_) e.place(lead, finish_late);
    if (finish_late) {
      const std::vector<Simulation> as_placed = simulations();
      for (size_t e = 0; e < entries_.size(); ++e) entries_[e].finish(as_placed[e], lead);
    }
    consider(simulations(), lead);
    return {};
  }

  // Collectives hold operands longer than the walk assumes, so it gets only a share of the allowed
  // bytes, and a smaller share if the result does not fit. Leaves the program with the best orders.
  Status fill() {
    for (EntryOrders& e : entries_) e.place_best();
    for (const int64_t share : {2, 8}) {
      SHW_RETURN_IF_ERROR(monitor_.poll());
      for (EntryOrders& e : entries_) e.fill(o_.prefetch_bytes / share);
      const bool synchronised = consider(simulations(), best_);
      if (synchronised && std::ranges::all_of(entries_, &EntryOrders::is_best)) return {};
      if (std::ranges::none_of(entries_, &EntryOrders::is_faster)) break;
    }
    for (EntryOrders& e : entries_) e.place_best();
    const std::vector<Simulation> as_placed = simulations();
    synchronise(p_, o_, as_placed, groups());
    return {};
  }

  // Keeps the present order of each entry for which it is the best so far. False: no entry is
  // faster, and the program is not synchronised for these orders.
  bool consider(std::span<const Simulation> as_placed, const Lead& lead) {
    if (std::ranges::none_of(entries_, &EntryOrders::is_faster)) return false;
    synchronise(p_, o_, as_placed, groups());
    const std::vector<int64_t> live =
        live_bytes(groups() != nullptr ? lives_of(p_, groups_) : lives_of(p_), p_.steps.size());
    for (EntryOrders& e : entries_)
      if (e.measure(live)) best_ = lead;
    return true;
  }

  std::vector<Simulation> simulations() {
    find_groups();
    synchronise(p_, o_, {}, groups());
    std::vector<Simulation> by_entry;
    for (EntryOrders& e : entries_) by_entry.push_back(e.simulated());
    return by_entry;
  }

  // Finds the groups of the present order, if they free memory.
  void find_groups() {
    if (!o_.groups_free_memory) return;
    for (ProgramStep& step : p_.steps) step.waits.clear(), step.records = kNoEvent;
    groups_ = groups_to_come(p_);
  }
  const GroupsToCome* groups() const { return o_.groups_free_memory ? &groups_ : nullptr; }

  Program& p_;
  const PassOptions& o_;
  Monitor& monitor_;
  GroupsToCome groups_;
  std::vector<EntryOrders> entries_;
  Lead best_;  // that of the last improvement
};

Result<uint32_t> run_schedule_collectives(Program& p, const PassOptions& options,
                                          Monitor& monitor) {
  const bool uses_links =
      std::ranges::any_of(p.steps, [&](const ProgramStep& s) { return runs_on_link(p, s); });
  if (!options.overlaps || p.streams.size() > 1 || !uses_links) return 0u;
  drop_fused_groups(p);  // steps move
  SHW_RETURN_IF_ERROR(Scheduler(p, options, monitor).run());
  for (ProgramStorage& s : p.storages) s.offset_bytes = -1;  // lifetimes have changed
  forget_memory_sizes(p);
  return static_cast<uint32_t>(std::ranges::count_if(p.steps, [](const ProgramStep& s) {
    return s.stream != kComputeStream || !s.waits.empty();
  }));
}

}  // namespace

void order_compactly(Program& p) {
  number_streams(p);
  const PassOptions options;
  std::vector<EntryOrders> entries;
  entries.reserve(p.entries.size());
  for (const ProgramEntry& e : p.entries) entries.emplace_back(p, options, e);
  for (EntryOrders& e : entries) e.place({.frees = true}, false);
  p.streams.resize(1);
  for (ProgramStep& step : p.steps) step.stream = kComputeStream;
}

extern const PassDef kScheduleCollectives;
constinit const PassDef kScheduleCollectives = {
    "schedule-collectives", "Starts each collective early enough, and no earlier.",
    run_schedule_collectives};

}  // namespace shw
