// Tries programs that compute something again, one after another. Each is built, scheduled, and
// measured against a memory limit; the best one is kept.
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

// The memory that an attempted program may spend to be faster.
struct Room {
  // A limit on the arena, which delays the start of collectives. INT64_MAX: they start as early as
  // prefetching prefers.
  int64_t arena_limit_bytes = INT64_MAX;
  std::optional<int64_t> prefetch_bytes = {};
  bool splits_rows = false;  // passes/split_rows.h; needs more memory
};

// How far the lives of values were to be shortened, and what that costs.
struct Shortening {
  int64_t live_bytes = INT64_MAX;
  double more_us = 0;
  // Lives were shortened starting from an order that holds little, and values that only a group of
  // fused steps will see did not count. This mostly reaches a lower peak, but may not if such a
  // group is split in the end.
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

  // Whether the program fits. A program that is too slow to become the best one is not packed; for
  // it, the result says whether it could fit. False if rows are to be split but there are none: the
  // program would equal one without splitting. `p`: the result of repeated_program(), with lives
  // already shortened as `shortening` says.
  Result<bool> attempt(const std::vector<Repeated>& repeated, const Room& room);
  Result<bool> attempt(Program p, const std::vector<Repeated>& repeated, const Room& room,
                       const Shortening& shortening);
  // Tries the program with as much room for early collectives as they prefer, with none, and, if
  // one of these fits, with several amounts in between: more room does not always give a faster
  // order. If the program fits with the most room, but is so slow there that less room cannot make
  // it the best one, less is not tried. So a higher limit never gives a longer step.
  Status attempt_with_less_room(const Program& p, const std::vector<Repeated>& repeated,
                                const Shortening& shortening, bool splits_rows = false);
  // Try the best program once more: with rows split, or with collectives fused. The new program is
  // kept if its step is shorter.
  Status attempt_best_with_rows_split();
  Status fuse_best();

  // The program with the repeated steps added, and with equal gathers chained; it is not scheduled
  // yet. `with_groups`: its steps are in an order that holds little, as a basis for shortening
  // lives. In the original order, a gradient would be reduced long after the product that makes it.
  Result<Program> repeated_program(const std::vector<Repeated>& repeated,
                                   bool with_groups = false) const;
  const LifeRules& life_rules(bool with_groups) const {
    return with_groups ? rules_with_groups_ : rules_;
  }
  // The time for which compute is busy, under a choice or in a program. No schedule takes less.
  Result<double> least_us(const std::vector<Repeated>& repeated) const;
  static double busy_us(const Program& p);

  // These apply to later attempts: whether results wait in host memory; whether programs that are
  // slower than the best one are left unpacked.
  void use_host(bool uses) { uses_host_ = uses; }
  void skip_slower(bool skips) { skips_slower_ = skips; }
  // The limit, plus the limit of host memory if it is used.
  int64_t bytes_in_both() const;

  // Whether a program that takes at least this long may become the best one.
  bool may_win(double least_us) const;
  bool has_any() const { return best_.has_value(); }
  bool fits() const { return fits_; }
  double best_us() const { return best_us_; }
  double least_excess_us() const { return least_excess_us_; }
  // The shortest step since forget_free_us() with collectives that start as early as they prefer,
  // whether it fits or not.
  double free_us() const { return free_us_; }
  void forget_free_us() { free_us_ = kEndless; }
  // The scratch bytes of the last program, excluding what it keeps for the backward pass.
  int64_t beside_bytes() const { return beside_bytes_; }
  // The best program, packed tightly. There must be one.
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
  double last_us_ = 0;  // of the last program that was scheduled
  // The least excess (RepeatChoices::excess_us()) of all programs that fit. The best program may
  // have more, where the schedule hides it: its step is no longer than that of the program with the
  // least.
  double least_excess_us_ = kEndless;
  double free_us_ = kEndless;
  int64_t beside_bytes_ = 0;
  bool fits_ = false, skips_slower_ = false, uses_host_ = false;
};

}  // namespace shw
