#include "compiler/shorter_lives.h"

#include <optional>
#include <utility>

#include "recompute/shorten_lives.h"

namespace shw {
namespace {

// Levels, in eighths of the peak before shortening.
constexpr int64_t kLevels[] = {7, 6, 5, 4, 3};

// Shortens lives level by level, as long as that lowers the peak. Calls `go_on` at each level, with
// the bytes that the fullest step holds there; false ends the search.
template <class F>
Status at_levels(Program& p, const LifeRules& rules, F go_on) {
  const int64_t as_it_is = shorten_lives(p, INT64_MAX, rules).peak_bytes;
  Shortening shortening{.with_groups = rules.with_groups};
  int64_t reached = as_it_is;
  for (const int64_t eighths : kLevels) {
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

// The program of a choice at the lowest level that it reaches.
struct Shortest {
  Program program;
  Shortening shortening;
  int64_t bytes = 0;
};
Result<Shortest> shortest(const RepeatAttempts& attempts, const std::vector<Repeated>& repeated,
                          bool with_groups) {
  const LifeRules& rules = attempts.life_rules(with_groups);
  SHW_ASSIGN_OR_RETURN(Program p, attempts.repeated_program(repeated, with_groups));
  Shortening reached;
  int64_t bytes = shorten_lives(p, INT64_MAX, rules).peak_bytes;
  const auto note = [&](const Shortening& level, int64_t holds) -> Result<bool> {
    reached = level;
    bytes = holds;
    return true;
  };
  SHW_RETURN_IF_ERROR(at_levels(p, rules, note));
  return Shortest{std::move(p), reached, bytes};
}

}  // namespace

Status attempt_shorter_lives(RepeatAttempts& attempts, const std::vector<Repeated>& repeated,
                             bool with_groups) {
  SHW_ASSIGN_OR_RETURN(Program p, attempts.repeated_program(repeated, with_groups));
  return at_levels(p, attempts.life_rules(with_groups),
                   [&](const Shortening& level, int64_t bytes) -> Result<bool> {
                     if (!attempts.may_win(RepeatAttempts::busy_us(p))) return false;
                     if (bytes <= attempts.limit_bytes())
                       SHW_RETURN_IF_ERROR(attempts.attempt_with_less_room(p, repeated, level));
                     return true;
                   });
}

Status attempt_shortest_lives(RepeatAttempts& attempts,
                              std::span<const std::vector<Repeated>> choices, bool with_groups) {
  std::optional<Shortest> least;
  const std::vector<Repeated>* of_least = nullptr;
  for (const std::vector<Repeated>& repeated : choices) {
    SHW_RETURN_IF_ERROR(attempts.monitor().poll());
    SHW_ASSIGN_OR_RETURN(Shortest next, shortest(attempts, repeated, with_groups));
    if (least && next.bytes >= least->bytes) continue;
    least = std::move(next);
    of_least = &repeated;
  }
  const Room late{.prefetch_bytes = 0};
  return attempts.attempt(std::move(least->program), *of_least, late, least->shortening).status();
}

}  // namespace shw
