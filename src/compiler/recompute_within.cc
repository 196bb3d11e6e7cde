#include "compiler/recompute_within.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

#include "compiler/repeat_choices.h"
#include "passes/gather_chains.h"
#include "passes/groups_to_come.h"
#include "passes/last_passes.h"
#include "passes/lend_outputs.h"
#include "passes/lifetimes.h"
#include "passes/order_compactly.h"
#include "passes/pass.h"
#include "passes/split_batches.h"
#include "passes/split_rows.h"
#include "recompute/recompute.h"
#include "recompute/shorten_lives.h"
#include "simulate/simulate.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

// Steps of the programs that may be built, one for each choice: some tenths of a second. Where all
// choices have more, those are built that are evenly apart, up to a size of the program.
constexpr uint64_t kAllSteps = 80'000;
constexpr uint64_t kMostStepsOfAll = 400'000;
// A sum of prices and the simulator add them in different orders.
constexpr double kRounding = 1e-9;
// To close in on the first choice that fits; with shorter lives, each takes several programs.
constexpr int kAttempts = 6, kAttemptsShortened = 4;

// For how long compute is busy: no schedule takes less.
double busy_us(const Program& p) {
  double us = 0;
  for (const ProgramEntry& entry : p.entries)
    for (uint32_t i = 0; i < entry.num_steps; ++i)
      if (const ProgramStep& step = p.steps[entry.first_step + i];
          step.collective.kind == CollectiveKind::kNone)
        us += entry.weight * std::max(step.cost_us, 0.0);
  return (1 - kRounding) * us;
}

constexpr double kEndless = std::numeric_limits<double>::infinity();

class Search {
 public:
  Search(const Program& program, RepeatChoices choices, int64_t limit_bytes,
         const WithinOptions& options, Monitor& monitor)
      : program_(program),
        limit_bytes_(limit_bytes),
        options_(options),
        monitor_(monitor),
        choices_(std::move(choices)) {}

  Result<Program> run(const Graph& graph) {
    life_rules_.copy_us = options_.fuse_prices.copy_us;
    for (uint32_t n = 0; n < graph.num_nodes(); ++n) {
      if (graph.meta(NodeId{n}).recompute != Recompute::kMustSave) continue;
      const uint32_t origin = graph.origin(NodeId{n}).v;
      std::vector<uint8_t>& kept = life_rules_.kept_nodes;
      kept.resize(std::max<size_t>(kept.size(), origin + 1), 0);
      kept[origin] = 1;
    }
    const uint64_t steps_of_all = uint64_t{choices_.count()} * program_.steps.size();
    is_large_ = steps_of_all > kMostStepsOfAll;
    rules_with_groups_ = life_rules_;
    rules_with_groups_.form_groups = [this](Program& p) { form_groups(p); };
    const auto choices_apart = static_cast<uint32_t>(steps_of_all / kAllSteps + 1);
    if (!is_large_) SHW_RETURN_IF_ERROR(find_fastest(choices_apart));
    // Between those that are apart one may fit, where no other placement does.
    if (is_large_ || (!fits_ && choices_apart > 1 && options_.beat_us == kEndless))
      SHW_RETURN_IF_ERROR(close_in());
    if (options_.fuse_bytes > 0 && fits_) SHW_RETURN_IF_ERROR(fuse());
    best_->recompute_excess_us = fits_ ? least_excess_us_ : best_excess_us_;
    SHW_RETURN_IF_ERROR(pack_tightly(*best_, monitor_));
    return std::move(*best_);
  }

 private:
  // What a program that is tried may spend.
  struct Room {
    // As early as prefetching wants collectives to start, or, where that does not fit, as the limit
    // permits.
    int64_t arena_limit_bytes = INT64_MAX;
    std::optional<int64_t> prefetch_bytes = {};
    bool splits_rows = false;  // split_rows.h: its parts hold more
  };
  Room freely() const { return {}; }
  Room late() const { return {.prefetch_bytes = 0}; }
  Room bounded(int64_t parts = 32, int64_t of = 32) const {
    return {.arena_limit_bytes = limit_bytes_ / of * parts};
  }

  struct Candidate {
    std::vector<Repeated> repeated;
    int64_t kept_bytes = 0;
    double least_us = 0;    // no schedule takes less
    bool shortens = false;  // whether it is tried with shorter lives, too
  };
  // What shorter lives were asked for, and what they cost.
  struct Shortening {
    int64_t live_bytes = INT64_MAX;
    double more_us = 0;
    // What only a group of fused steps will see did not count, and the order held little before.
    // That mostly reaches further. Where groups are split in the end, it may not.
    bool with_groups = false;
  };
  // Of all choices, evenly; and lives of what is live at most, in eighths.
  static constexpr uint32_t kMostShortened = 8;
  static constexpr double kMuchLonger = 1.005;
  static constexpr int64_t kShorterLives[] = {7, 6, 5, 4, 3};

  // The candidates are the same for every limit, and the fastest one that fits wins: so for a given
  // placement a higher limit never gives a longer step. Those that keep too much, or whose compute
  // is busy for longer than the fastest one takes, are not built.
  Status find_fastest(uint32_t choices_apart) {
    std::vector<Candidate> candidates;
    const auto add = [&](std::vector<Repeated> repeated, bool shortens) {
      Program p = program_;
      repeat(p, repeated);
      SHW_RETURN_IF_ERROR(run_dead_steps(p));
      const int64_t kept = choices_.kept_bytes(repeated);
      candidates.push_back({std::move(repeated), kept, busy_us(p), shortens});
      return Status();
    };
    const uint32_t apart = (choices_.count() + kMostShortened - 1) / kMostShortened;
    const bool has_parts = choices_.count_with_parts() * program_.steps.size() <= kAllSteps;
    for (uint32_t k = 0; k < choices_.count(); ++k) {
      const bool is_last = k + 1 == choices_.count();
      if (k % choices_apart == 0 || is_last)
        SHW_RETURN_IF_ERROR(add(choices_.choice(k), k % apart == 0 || is_last));
      for (uint32_t p = 1; has_parts && p < choices_.num_parts(k); ++p)
        SHW_RETURN_IF_ERROR(add(choices_.choice(k, p), false));
    }
    for (const std::string_view name : RepeatChoices::kPolicies) {
      SHW_ASSIGN_OR_RETURN(const auto repeated, choices_.by_policy(name));
      SHW_RETURN_IF_ERROR(add(repeated, true));
    }
    sort_stably(candidates, {}, &Candidate::least_us);
    skips_slower_ = true;
    for (const Candidate& c : candidates)
      for (const bool uses_host : {false, true}) {
        if (uses_host && !options_.host.copy_us) continue;
        uses_host_ = uses_host;
        SHW_RETURN_IF_ERROR(attempt_with_less_room(c));
      }
    uses_host_ = false;
    for (const bool with_groups : {true, false})
      for (const Candidate& c : candidates)
        if (c.shortens && may_win(c.least_us))
          SHW_RETURN_IF_ERROR(attempt_shorter_lives(c.repeated, with_groups));
    skips_slower_ = false;
    // Something must be returned: what holds the least shows how much is missing.
    if (best_) return {};
    sort_stably(candidates, {}, &Candidate::kept_bytes);
    SHW_RETURN_IF_ERROR(attempt(candidates.front().repeated, late()).status());
    if (fits_) return {};
    std::vector<std::vector<Repeated>> choices;
    for (const Candidate& c : candidates)
      if (c.shortens) choices.push_back(c.repeated);
    SHW_RETURN_IF_ERROR(attempt_shortest_lives(choices, true));
    return attempt_shortest_lives(choices, false);
  }
  Status attempt_with_less_room(const Candidate& c) {
    if (c.kept_bytes > bytes_in_both() || !may_win(c.least_us)) return {};
    SHW_ASSIGN_OR_RETURN(const Program p, repeated_program(c.repeated));
    SHW_RETURN_IF_ERROR(attempt_with_less_room(p, c.repeated, {}));
    return attempt_with_less_room(p, c.repeated, {}, true);
  }
  bool may_win(double least_us) const {
    return least_us < options_.beat_us && !(fits_ && least_us >= best_us_);
  }
  // With more room for early collectives the scheduler tries all that it tries with less.
  Status attempt_with_less_room(const Program& p, const std::vector<Repeated>& repeated,
                                const Shortening& shortening, bool splits_rows = false) {
    Room room{.splits_rows = splits_rows};
    SHW_ASSIGN_OR_RETURN(const bool fits, attempt(p, repeated, room, shortening));
    if (fits) return {};
    room.prefetch_bytes = 0;
    SHW_ASSIGN_OR_RETURN(const bool fits_late, attempt(p, repeated, room, shortening));
    for (const int64_t sixteenths : {12, 8, 4, 1})
      if (fits_late) {
        room.prefetch_bytes = program_.prefetch_bytes / 16 * sixteenths;
        SHW_RETURN_IF_ERROR(attempt(p, repeated, room, shortening).status());
      }
    // A large program is tried for few choices, so each is fitted to the limit.
    bool fits_bounded = !fits_late || !is_large_;
    for (const int64_t parts : {32, 31, 30})
      if (!fits_bounded) {
        room = bounded(parts);
        room.splits_rows = splits_rows;
        SHW_ASSIGN_OR_RETURN(fits_bounded, attempt(p, repeated, room, shortening));
      }
    return {};
  }

  // Makes lives ever shorter, as long as that helps. How short does not depend on the limit.
  // `go_on`: asked at each level, with what the fullest step holds there.
  template <class F>
  Status at_shorter_lives(Program& p, bool with_groups, F go_on) const {
    const LifeRules& rules = rules_of(with_groups);
    const int64_t as_it_is = shorten_lives(p, INT64_MAX, rules).peak_bytes;
    Shortening shortening{.with_groups = with_groups};
    int64_t reached = as_it_is;
    for (const int64_t eighths : kShorterLives) {
      shortening.live_bytes = as_it_is / 8 * eighths;
      const ShortenedLives lives = shorten_lives(p, shortening.live_bytes, rules);
      if (lives.peak_bytes >= reached) return {};
      reached = lives.peak_bytes;
      shortening.more_us += lives.more_us;
      SHW_ASSIGN_OR_RETURN(const bool goes_on, go_on(shortening, reached));
      if (!goes_on) return {};
    }
    return {};
  }
  const LifeRules& rules_of(bool with_groups) const {
    return with_groups ? rules_with_groups_ : life_rules_;
  }
  Status attempt_shorter_lives(const std::vector<Repeated>& repeated, bool with_groups) {
    SHW_ASSIGN_OR_RETURN(Program p, unshortened(repeated, with_groups));
    return at_shorter_lives(
        p, with_groups, [&](const Shortening& shortening, int64_t bytes) -> Result<bool> {
          if (!may_win(busy_us(p))) return false;
          if (bytes <= limit_bytes_)
            SHW_RETURN_IF_ERROR(attempt_with_less_room(p, repeated, shortening));
          return true;
        });
  }
  // Of these choices, the one that can hold the least.
  Status attempt_shortest_lives(std::span<const std::vector<Repeated>> choices, bool with_groups) {
    std::optional<Program> smallest;
    const std::vector<Repeated>* of_smallest = nullptr;
    Shortening shortening;
    int64_t least = INT64_MAX;
    for (const std::vector<Repeated>& repeated : choices) {
      SHW_RETURN_IF_ERROR(monitor_.poll());
      SHW_ASSIGN_OR_RETURN(Program p, unshortened(repeated, with_groups));
      Shortening of_choice;
      int64_t bytes = INT64_MAX;
      const auto note = [&](const Shortening& reached, int64_t holds) -> Result<bool> {
        of_choice = reached;
        bytes = holds;
        return true;
      };
      SHW_RETURN_IF_ERROR(at_shorter_lives(p, with_groups, note));
      if (bytes == INT64_MAX) bytes = shorten_lives(p, INT64_MAX, rules_of(with_groups)).peak_bytes;
      if (bytes >= least) continue;
      least = bytes;
      smallest = std::move(p);
      of_smallest = &repeated;
      shortening = of_choice;
    }
    return attempt(*std::move(smallest), *of_smallest, late(), shortening).status();
  }
  // The limit, and host memory where it is used.
  int64_t bytes_in_both() const {
    return limit_bytes_ + (uses_host_ ? options_.host.limit_bytes : 0);
  }
  Status run_schedule(Program& p) {
    static constexpr const PassDef* kPasses[] = {&kScheduleCollectives};
    return run_passes(p, kPasses, monitor_).status();
  }
  Status run_dead_steps(Program& p) {
    static constexpr const PassDef* kPasses[] = {&kDeadSteps};
    return run_passes(p, kPasses, monitor_).status();
  }

  // A large program is built for few choices. Here a higher limit may give a longer step.
  Status close_in() {
    SHW_RETURN_IF_ERROR(close_in_by_price());
    if (options_.host.copy_us) {
      uses_host_ = true;
      SHW_RETURN_IF_ERROR(close_in_by_price());
    }
    return fits_ ? split_rows_of_best() : Status();
  }
  Status close_in_by_price() {
    SHW_ASSIGN_OR_RETURN(const bool least_fits, attempt(choices_.choice(0), freely()));
    if (least_fits) return {};
    free_us_ = kEndless;  // from now on of choices that repeat something
    SHW_RETURN_IF_ERROR(try_some());
    // Packing, and groups of steps, take more than what is live: aim lower, and at last start
    // collectives as late as they can.
    for (const int64_t parts : {31, 30, 28, 24, 0})
      if (!fits_) SHW_RETURN_IF_ERROR(close_in(bounded(parts)).status());
    SHW_RETURN_IF_ERROR(try_policies());
    if (uses_host_) return {};
    const std::vector<Repeated> least = choices_.choice(choices_.count() - 1);
    if (shorter_lives_may_pay() && choices_.kept_bytes(least) <= limit_bytes_)
      SHW_RETURN_IF_ERROR(close_in_with_shorter_lives());
    return fits_ ? Status() : attempt_shortest_lives({{least}}, false);
  }

  // Nothing fits, or what does waits for collectives that have no room to start early, or leaves
  // room unused.
  bool shorter_lives_may_pay() const {
    return !fits_ || (is_tight_ && (best_us_ > kMuchLonger * free_us_ ||
                                    least_excess_us_ > (kMuchLonger - 1) * best_us_));
  }
  // From the choice that keeps the least to one that keeps more, while that fits: what the last
  // trifles free is dear.
  Status close_in_with_shorter_lives() {
    const auto kept = [&](uint32_t k) { return choices_.kept_bytes(choices_.choice(k)); };
    uint32_t low = 0, high = choices_.count() - 1;
    SHW_ASSIGN_OR_RETURN(const bool fits, fits_with_shorter_lives(high));
    for (int i = 0; fits && i < kAttemptsShortened && high - low > 1; ++i) {
      const int64_t bytes = low == 0 ? limit_bytes_ - beside_ : (kept(low) + kept(high)) / 2;
      const uint32_t k = std::clamp(choices_.first_keeping(bytes), low + 1, high - 1);
      SHW_ASSIGN_OR_RETURN(const bool fits_more, fits_with_shorter_lives(k));
      (fits_more ? high : low) = k;
    }
    return {};
  }
  // What is shortened more leaves more room for collectives that start early, so these start later
  // only where no shorter lives fit.
  Result<bool> fits_with_shorter_lives(uint32_t k) {
    const std::vector<Repeated> repeated = choices_.choice(k);
    SHW_ASSIGN_OR_RETURN(Program p, repeated_program(repeated));
    Shortening shortening;
    int64_t reached = INT64_MAX;
    bool fits = false;
    for (const int64_t parts : {32, 31, 30}) {
      shortening.live_bytes = limit_bytes_ / 32 * parts;
      const ShortenedLives lives = shorten_lives(p, shortening.live_bytes, life_rules_);
      shortening.more_us += lives.more_us;
      if (lives.peak_bytes >= reached) break;
      reached = lives.peak_bytes;
      SHW_ASSIGN_OR_RETURN(const bool fits_so, attempt(p, repeated, bounded(), shortening));
      fits = fits || fits_so;
    }
    for (const int64_t parts : {63, 62, 60, 56, 48, 0}) {
      if (fits || (fits_ && parts < 62)) break;
      SHW_ASSIGN_OR_RETURN(fits, attempt(p, repeated, bounded(parts, 64), shortening));
    }
    return fits;
  }

  // Of what fits, the fastest once more.
  Status split_rows_of_best() {
    if (best_shortening_.live_bytes < INT64_MAX) return {};
    Room room = best_room_;
    room.splits_rows = true;
    uses_host_ = best_uses_host_;
    return attempt(std::vector(best_repeated_), room).status();
  }

  Status try_some() {
    SHW_ASSIGN_OR_RETURN(const uint32_t first_freely, close_in(freely()));
    is_tight_ = first_freely == choices_.count();
    if (is_tight_) return close_in(bounded()).status();
    // Fewer repetitions, and collectives that start later.
    const int64_t room = limit_bytes_ - beside_;
    for (const int64_t share : {4, 2, 1})
      if (const uint32_t k = choices_.first_keeping(room + program_.prefetch_bytes / share);
          k < first_freely)
        SHW_RETURN_IF_ERROR(attempt(choices_.choice(k), bounded()).status());
    // More repetitions, as a lower limit would ask for: some hide collectives.
    for (const int64_t eighths : {7, 6})
      if (const uint32_t k = choices_.first_keeping(room / 8 * eighths); k > first_freely)
        SHW_RETURN_IF_ERROR(attempt(choices_.choice(k), freely()).status());
    return {};
  }

  // Towards the first choice that fits; choices_.count(): none was found. What the last program
  // took beside what it keeps says where to look next, by ever larger steps, since neighbours may
  // differ by less than what packing leaves unused. Choice 0 does not fit.
  Result<uint32_t> close_in(const Room& room) {
    uint32_t low = 0, high = choices_.count();
    for (int i = 0; i < kAttempts && high - low > 1; ++i) {
      const uint32_t step = std::min(i == 0 ? 1 : 1u << (i - 1), high - low - 1);
      const uint32_t k =
          std::clamp(choices_.first_keeping(limit_bytes_ - beside_), low + step, high - 1);
      SHW_ASSIGN_OR_RETURN(const bool fits, attempt(choices_.choice(k), room));
      (fits ? high : low) = k;
    }
    return high;
  }

  Status try_policies() {
    for (const std::string_view name : RepeatChoices::kPolicies) {
      SHW_ASSIGN_OR_RETURN(const auto repeated, choices_.by_policy(name));
      if (choices_.kept_bytes(repeated) > bytes_in_both()) continue;
      SHW_ASSIGN_OR_RETURN(bool fits, attempt(repeated, bounded()));
      for (const int64_t parts : {63, 62}) {  // packing takes more than what is live
        if (fits || !is_tight_) break;
        SHW_ASSIGN_OR_RETURN(fits, attempt(repeated, bounded(parts, 64)));
      }
    }
    return {};
  }
  // The arena of a program that is only tried is no tighter than it must be.
  static int64_t least_scratch(const Program& p) {
    return scratch_bytes(p) - p.arena_bytes + p.live_peak_bytes;
  }

  Result<bool> attempt(const std::vector<Repeated>& repeated, const Room& room) {
    SHW_RETURN_IF_ERROR(monitor_.poll());
    SHW_ASSIGN_OR_RETURN(Program p, repeated_program(repeated));
    return attempt(p, repeated, room, {});
  }
  // Of a scheduled program.
  static int64_t live_peak(const Program& p) {
    if (p.counts_groups) return live_peak_bytes(p);
    return std::ranges::max(live_bytes(lives_of(p, groups_to_come(p)), p.steps.size()));
  }
  // Whether it fits; of what is too slow to be worth its packing, whether it could. False where
  // rows are to be split and there are none to split: it is no other program.
  Result<bool> attempt(Program p, const std::vector<Repeated>& repeated, const Room& room,
                       const Shortening& shortening) {
    p.counts_groups = !shortening.with_groups;
    if (!finish_unscheduled(p, room, uses_host_)) return false;
    SHW_RETURN_IF_ERROR(run_schedule(p));
    const double us = simulated_us(p);
    if (room.arena_limit_bytes == INT64_MAX && !room.prefetch_bytes)
      free_us_ = std::min(free_us_, us);
    const double least_us = std::min(fits_ ? best_us_ : kEndless, options_.beat_us);
    if (skips_slower_ && us >= least_us &&
        shortening.more_us + choices_.excess_us(repeated, 0) >= least_excess_us_)
      return live_peak(p) - lendable_bytes(p) <= limit_bytes_;
    SHW_RETURN_IF_ERROR(run_last_passes(p, limit_bytes_, Packing::kEnough, monitor_));
    p.prefetch_bytes = program_.prefetch_bytes;
    const bool fits = scratch_bytes(p) <= limit_bytes_;
    beside_ = least_scratch(p) - choices_.kept_bytes(repeated);
    const double excess =
        shortening.more_us +
        choices_.excess_us(repeated, std::max<int64_t>(limit_bytes_ - least_scratch(p), 0));
    if (fits) least_excess_us_ = std::min(least_excess_us_, excess);
    const bool better =
        fits_ == fits ? (fits ? us < best_us_ : scratch_bytes(p) < scratch_bytes(*best_)) : fits;
    if (best_ && !better) return fits;
    fits_ = fits;
    best_us_ = us;
    best_ = std::move(p);
    best_repeated_ = repeated;
    best_room_ = room;
    best_shortening_ = shortening;
    best_excess_us_ = excess;
    best_uses_host_ = uses_host_;
    return fits;
  }
  // One step after another, with equal gathers chained.
  Result<Program> repeated_program(const std::vector<Repeated>& repeated) {
    Program p = program_;
    repeat(p, repeated);
    if (options_.fuse_prices.collective_us) fuse_gather_chains(p, options_.fuse_prices);
    SHW_RETURN_IF_ERROR(run_dead_steps(p));
    return p;
  }
  // As where its collectives have streams of their own: groups end there, and steps move less.
  void form_groups(Program& p) const {
    const size_t streams = p.streams.size();
    if (p.overlaps) p.streams.push_back({});
    // Fails where the caller has cancelled, which the next poll tells.
    (void)kFuseSteps.run(p, monitor_);
    p.streams.resize(streams);
  }
  // What lives are shortened of: in its own order a gradient would be reduced long after its
  // product.
  Result<Program> unshortened(const std::vector<Repeated>& repeated, bool with_groups) {
    SHW_ASSIGN_OR_RETURN(Program p, repeated_program(repeated));
    if (with_groups) order_compactly(p);
    return p;
  }
  // False: no rows can be split where they are to be.
  bool finish_unscheduled(Program& p, const Room& room, bool uses_host) {
    p.arena_limit_bytes = room.arena_limit_bytes;
    if (room.prefetch_bytes) p.prefetch_bytes = *room.prefetch_bytes;
    if (uses_host) offload(p, options_.host);
    if (!options_.fuse_prices.collective_us) return !room.splits_rows;
    split_batches(p, options_.fuse_prices);
    return !room.splits_rows || split_rows(p, options_.fuse_prices) > 0;
  }

  // The best program once more, with collectives fused where that makes the step shorter.
  Status fuse() {
    Room room = best_room_;
    room.arena_limit_bytes = limit_bytes_;
    const bool with_groups = best_shortening_.with_groups;
    SHW_ASSIGN_OR_RETURN(Program p, unshortened(best_repeated_, with_groups));
    if (best_shortening_.live_bytes < INT64_MAX)
      shorten_lives(p, best_shortening_.live_bytes, rules_of(with_groups));
    p.counts_groups = !with_groups;
    finish_unscheduled(p, room, best_uses_host_);
    SHW_RETURN_IF_ERROR(
        schedule_fused(p, options_.fuse_bytes, options_.fuse_prices, monitor_).status());
    SHW_RETURN_IF_ERROR(run_last_passes(p, limit_bytes_, Packing::kEnough, monitor_));
    p.prefetch_bytes = program_.prefetch_bytes;
    const double us = simulated_us(p);
    if (scratch_bytes(p) <= limit_bytes_ && us < best_us_) best_ = std::move(p), best_us_ = us;
    return {};
  }

  const Program& program_;
  const int64_t limit_bytes_;
  const WithinOptions& options_;
  Monitor& monitor_;
  const RepeatChoices choices_;
  bool is_large_ = false;
  double free_us_ = kEndless;  // the shortest with collectives as early as they want to start
  bool is_tight_ = false;      // no choice fits with collectives as early as they want to start
  LifeRules life_rules_, rules_with_groups_;
  std::optional<Program> best_;
  std::vector<Repeated> best_repeated_;
  Room best_room_;
  Shortening best_shortening_;
  double best_us_ = 0, best_excess_us_ = 0;
  // Of all that fit. The best one may repeat more, where the schedule hides that; its step is no
  // longer than that of the one that repeats the least.
  double least_excess_us_ = kEndless;
  int64_t beside_ = 0;  // what the last program took beside what it keeps
  bool fits_ = false;
  bool skips_slower_ = false;
  bool uses_host_ = false, best_uses_host_ = false;  // the next attempts; the best one
};

}  // namespace

Result<Program> recompute_within(const Program& program, const Graph& graph, int64_t limit_bytes,
                                 const WithinOptions& options, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(RepeatChoices choices, RepeatChoices::of(program, graph, monitor));
  return Search(program, std::move(choices), limit_bytes, options, monitor).run(graph);
}

}  // namespace shw
