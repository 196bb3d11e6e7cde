#include "compiler/every_choice.h"

#include <utility>
#include <vector>

#include "compiler/shorter_lives.h"
#include "support/stable_sort.h"

namespace shw {
namespace {

constexpr uint32_t kMostShortened = 8;  // of all choices, evenly spaced

struct Candidate {
  std::vector<Repeated> repeated;
  int64_t kept_bytes = 0;
  double least_us = 0;    // no schedule takes less
  bool shortens = false;  // try it with shorter lives, too
};

class EveryChoice {
 public:
  EveryChoice(RepeatAttempts& attempts, uint32_t apart, bool with_parts)
      : attempts_(attempts), choices_(attempts.choices()), apart_(apart), with_parts_(with_parts) {}

  Status run() {
    SHW_RETURN_IF_ERROR(find_candidates());
    attempts_.skip_slower(true);
    SHW_RETURN_IF_ERROR(attempt_candidates());
    SHW_RETURN_IF_ERROR(attempt_candidates_with_shorter_lives());
    attempts_.skip_slower(false);
    // If another placement fits already, this one must be faster. The program that holds the least
    // is slow, so it is not tried then.
    const bool is_done =
        attempts_.has_any() && (attempts_.fits() || attempts_.options().beat_us < kEndless);
    return is_done ? Status() : attempt_what_holds_the_least();
  }

 private:
  Status add(std::vector<Repeated> repeated, bool shortens) {
    SHW_ASSIGN_OR_RETURN(const double least_us, attempts_.least_us(repeated));
    const int64_t kept = choices_.kept_bytes(repeated);
    candidates_.push_back({std::move(repeated), kept, least_us, shortens});
    return {};
  }
  // Sorts the candidates by the least time that their steps can take.
  Status find_candidates() {
    const uint32_t shortened_apart = (choices_.count() + kMostShortened - 1) / kMostShortened;
    for (uint32_t k = 0; k < choices_.count(); ++k) {
      const bool is_last = k + 1 == choices_.count();
      if (k % apart_ == 0 || is_last)
        SHW_RETURN_IF_ERROR(add(choices_.choice(k), k % shortened_apart == 0 || is_last));
      for (uint32_t p = 1; with_parts_ && p < choices_.num_parts(k); ++p)
        SHW_RETURN_IF_ERROR(add(choices_.choice(k, p), false));
    }
    for (const std::string_view name : RepeatChoices::kPolicies) {
      SHW_ASSIGN_OR_RETURN(auto repeated, choices_.by_policy(name));
      SHW_RETURN_IF_ERROR(add(std::move(repeated), true));
    }
    sort_stably(candidates_, {}, &Candidate::least_us);
    return {};
  }

  // Builds no candidate that keeps too much, or whose compute time alone exceeds the best step so
  // far.
  Status attempt_candidates() {
    for (const Candidate& c : candidates_)
      for (const bool uses_host : {false, true}) {
        if (uses_host && !attempts_.options().host.copy_us) continue;
        attempts_.use_host(uses_host);
        SHW_RETURN_IF_ERROR(attempt(c));
      }
    attempts_.use_host(false);
    return {};
  }
  Status attempt(const Candidate& c) {
    if (c.kept_bytes > attempts_.bytes_in_both() || !attempts_.may_win(c.least_us)) return {};
    SHW_ASSIGN_OR_RETURN(const Program p, attempts_.repeated_program(c.repeated));
    for (const bool splits_rows : {false, true})
      SHW_RETURN_IF_ERROR(attempts_.attempt_with_less_room(p, c.repeated, {}, splits_rows));
    return {};
  }
  Status attempt_candidates_with_shorter_lives() {
    for (const bool with_groups : {true, false})
      for (const Candidate& c : candidates_)
        if (c.shortens && attempts_.may_win(c.least_us))
          SHW_RETURN_IF_ERROR(attempt_shorter_lives(attempts_, c.repeated, with_groups));
    return {};
  }

  Status attempt_what_holds_the_least() {
    sort_stably(candidates_, {}, &Candidate::kept_bytes);
    const Room late{.prefetch_bytes = 0};
    SHW_ASSIGN_OR_RETURN(const bool fits, attempts_.attempt(candidates_[0].repeated, late));
    if (fits) return {};
    std::vector<std::vector<Repeated>> choices;
    for (const Candidate& c : candidates_)
      if (c.shortens) choices.push_back(c.repeated);
    for (const bool with_groups : {true, false})
      SHW_RETURN_IF_ERROR(attempt_shortest_lives(attempts_, choices, with_groups));
    return {};
  }

  RepeatAttempts& attempts_;
  const RepeatChoices& choices_;
  const uint32_t apart_;
  const bool with_parts_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Status attempt_every_choice(RepeatAttempts& attempts, uint32_t apart, bool with_parts) {
  return EveryChoice(attempts, apart, with_parts).run();
}

}  // namespace shw
