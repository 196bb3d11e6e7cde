// Programs that compute something again, one after another: each is built, scheduled, measured
// against a memory limit, and the best one is kept.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/recompute_within.h"
#include "compiler/repeat_choices.h"
#include "graph/graph.h"
#include "plan/program.h"
#include "recompute/recompute.h"
#include "recompute/shorten_lives.h"
#include "support/monitor.h"

namespace shw {

// What a program that is tried may spend.
struct Room {
  // As early as prefetching wants collectives to start, or, where that does not fit, as the limit
  // permits.
  int64_t arena_limit_bytes = INT64_MAX;
  std::optional<int64_t> prefetch_bytes = {};
  bool splits_rows = false;  // split_rows.h: its parts hold more
};

// What shorter lives were asked for, and what they cost.
struct Shortening {
  int64_t live_bytes = INT64_MAX;
  double more_us = 0;
  // What only a group of fused steps will see did not count, and the order held little before. That
  // mostly reaches further. Where groups are split in the end, it may not.
  bool with_groups = false;
};

class RepeatAttempts {
 public:
  // All must outlive it.
  RepeatAttempts(const Program& program, const Graph& graph, const RepeatChoices& choices,
                 int64_t limit_bytes, const WithinOptions& options, Monitor& monitor);

  const Program& program() const { return program_; }
  const RepeatChoices& choices() const { return choices_; }
  int64_t limit_bytes() const { return limit_bytes_; }
  const WithinOptions& options() const { return options_; }
  Monitor& monitor() const { return monitor_; }

  // Whether it fits; of what is too slow to be worth its packing, whether it could. False where
  // rows are to be split and there are none to split: it is no other program. `p`: that of
  // repeated_program(), with shorter lives if these were asked for.
  Result<bool> attempt(const std::vector<Repeated>& repeated, const Room& room);
  Result<bool> attempt(Program p, const std::vector<Repeated>& repeated, const Room& room,
                       const Shortening& shortening);
  // With as much room for collectives that start early as they want; if that does not fit, with
  // none, and if that does, with some. (All of these: more room does not always give a faster
  // order.) Then none of them depends on the limit, and a higher one gives no longer step.
  Status attempt_with_less_room(const Program& p, const std::vector<Repeated>& repeated,
                                const Shortening& shortening, bool splits_rows = false);
  // The best program once more, with rows split; with collectives fused where that makes the step
  // shorter.
  Status attempt_best_with_rows_split();
  Status fuse_best();

  // One step after another, with equal gathers chained. `with_groups`: what lives are shortened of,
  // in the order that holds little. In its own order a gradient would be reduced long after its
  // product.
  Result<Program> repeated_program(const std::vector<Repeated>& repeated,
                                   bool with_groups = false) const;
  const LifeRules& life_rules(bool with_groups) const {
    return with_groups ? rules_with_groups_ : rules_;
  }
  // For how long compute is busy, with the choice or in a program: no schedule takes less.
  Result<double> least_us(const std::vector<Repeated>& repeated) const;
  static double busy_us(const Program& p);

  // From now on: whether results wait in host memory; whether programs that are slower than the
  // best one are left unpacked.
  void use_host(bool uses) { uses_host_ = uses; }
  void skip_slower(bool skips) { skips_slower_ = skips; }
  // The limit, and host memory where it is used.
  int64_t bytes_in_both() const;

  // Whether a program that takes so long, at least, may become the best one.
  bool may_win(double least_us) const;
  bool has_any() const { return best_.has_value(); }
  bool fits() const { return fits_; }
  double best_us() const { return best_us_; }
  double least_excess_us() const { return least_excess_us_; }
  // The shortest with collectives as early as they want to start, since forget_free_us().
  double free_us() const { return free_us_; }
  void forget_free_us() { free_us_ = kEndless; }
  // What the last program took beside what it keeps.
  int64_t beside_bytes() const { return beside_bytes_; }
  // The best one, packed tightly. There must be one.
  Result<Program> take_best();

 private:
  struct Best {
    Program program;
    std::vector<Repeated> repeated;
    Room room;
    Shortening shortening;
    double excess_us = 0;
    bool uses_host = false;
  };
  bool finish_unscheduled(Program& p, const Room& room, bool uses_host) const;
  PassOptions pass_options(const Room& room, const Shortening& shortening) const;

  const Program& program_;
  const RepeatChoices& choices_;
  const int64_t limit_bytes_;
  const WithinOptions& options_;
  Monitor& monitor_;
  LifeRules rules_, rules_with_groups_;
  std::optional<Best> best_;
  double best_us_ = 0;
  // Of all that fit. The best one may repeat more, where the schedule hides that; its step is no
  // longer than that of the one that repeats the least.
  double least_excess_us_ = kEndless;
  double free_us_ = kEndless;
  int64_t beside_bytes_ = 0;
  bool fits_ = false, skips_slower_ = false, uses_host_ = false;
};

}  // namespace shw
