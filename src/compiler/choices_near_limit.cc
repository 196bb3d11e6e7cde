#include "compiler/choices_near_limit.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/shorter_lives.h"
#include "recompute/shorten_lives.h"

namespace shw {
namespace {

// The most choices tried on the way to the first one that fits. With shorter lives there are fewer,
// since each choice builds several programs.
constexpr int kAttempts = 6, kAttemptsShortened = 4;
constexpr double kMuchLonger = 1.005;

class ChoicesNearLimit {
 public:
  explicit ChoicesNearLimit(RepeatAttempts& attempts)
      : attempts_(attempts), choices_(attempts.choices()), limit_bytes_(attempts.limit_bytes()) {}

  Status run() {
    SHW_RETURN_IF_ERROR(close_in_by_price(false));
    if (attempts_.options().host.copy_us) SHW_RETURN_IF_ERROR(close_in_by_price(true));
    return attempts_.fits() ? attempts_.attempt_best_with_rows_split() : Status();
  }

 private:
  Status close_in_by_price(bool uses_host) {
    attempts_.use_host(uses_host);
    SHW_ASSIGN_OR_RETURN(const bool least_fits, attempts_.attempt(choices_.choice(0), Room{}));
    if (least_fits) return {};
    attempts_.forget_free_us();  // from now on of choices that repeat something
    SHW_RETURN_IF_ERROR(try_some());
    // The packed arena and groups of fused steps need more than the live bytes. So aim below the
    // limit, in 32nds of it; the last attempt (0) starts collectives as late as possible.
    for (const int64_t parts : {31, 30, 28, 24, 0})
      if (!attempts_.fits()) SHW_RETURN_IF_ERROR(close_in(bounded(parts)).status());
    SHW_RETURN_IF_ERROR(try_policies());
    if (uses_host) return {};
    const std::vector<Repeated> least = choices_.choice(choices_.count() - 1);
    if (shorter_lives_may_pay() && choices_.kept_bytes(least) <= limit_bytes_)
      SHW_RETURN_IF_ERROR(close_in_with_shorter_lives());
    return attempts_.fits() ? Status() : attempt_shortest_lives(attempts_, {{least}}, false);
  }

  // True if nothing fits, if what fits waits for collectives that have no room to start early, or
  // if it leaves memory unused.
  bool shorter_lives_may_pay() const {
    return !attempts_.fits() ||
           (is_tight_ && (attempts_.best_us() > kMuchLonger * attempts_.free_us() ||
                          attempts_.least_excess_us() > (kMuchLonger - 1) * attempts_.best_us()));
  }
  // Starts at the choice that keeps the least, and searches for one that keeps more and still fits.
  // The last choices of the curve free few bytes at a high price.
  Status close_in_with_shorter_lives() {
    uint32_t low = 0, high = choices_.count() - 1;
    SHW_ASSIGN_OR_RETURN(const bool fits, fits_with_shorter_lives(high));
    for (int i = 0; fits && i < kAttemptsShortened && high - low > 1; ++i) {
      const int64_t bytes =
          low == 0 ? limit_bytes_ - attempts_.beside_bytes() : (kept(low) + kept(high)) / 2;
      const uint32_t k = std::clamp(choices_.first_keeping(bytes), low + 1, high - 1);
      SHW_ASSIGN_OR_RETURN(const bool fits_more, fits_with_shorter_lives(k));
      (fits_more ? high : low) = k;
    }
    return {};
  }
  // Shorter lives leave more room for collectives that start early. So collectives are delayed only
  // if the choice does not fit at any of these levels.
  Result<bool> fits_with_shorter_lives(uint32_t k) {
    const std::vector<Repeated> repeated = choices_.choice(k);
    SHW_ASSIGN_OR_RETURN(Program p, attempts_.repeated_program(repeated));
    Shortening shortening;
    int64_t reached = INT64_MAX;
    bool fits = false;
    for (const int64_t parts : {32, 31, 30}) {
      shortening.live_bytes = limit_bytes_ / 32 * parts;
      const ShortenedLives lives =
          shorten_lives(p, shortening.live_bytes, attempts_.life_rules(false));
      shortening.more_us += lives.more_us;
      if (lives.peak_bytes >= reached) break;
      reached = lives.peak_bytes;
      SHW_ASSIGN_OR_RETURN(const bool fits_so,
                           attempts_.attempt(p, repeated, bounded(), shortening));
      fits = fits || fits_so;
    }
    for (const int64_t parts : {63, 62, 60, 56, 48, 0}) {
      if (fits || (attempts_.fits() && parts < 62)) break;
      SHW_ASSIGN_OR_RETURN(fits, attempts_.attempt(p, repeated, bounded(parts, 64), shortening));
    }
    return fits;
  }

  Status try_some() {
    SHW_ASSIGN_OR_RETURN(const uint32_t first_freely, close_in(Room{}));
    is_tight_ = first_freely == choices_.count();
    if (is_tight_) return close_in(bounded()).status();
    // Choices with fewer repetitions whose collectives start later.
    const int64_t room = limit_bytes_ - attempts_.beside_bytes();
    for (const int64_t share : {4, 2, 1})
      if (const uint32_t k =
              choices_.first_keeping(room + attempts_.options().passes.prefetch_bytes / share);
          k < first_freely)
        SHW_RETURN_IF_ERROR(attempts_.attempt(choices_.choice(k), bounded()).status());
    return try_corners_behind(first_freely);
  }

  // Tries choices with more repetitions, which lower limits would need. Between two corners of the
  // curve the step mostly changes evenly, but beyond some corners more collectives are hidden. The
  // times of these programs do not depend on the limit. So a search under a higher limit mostly
  // includes what a search under a lower one would find.
  Status try_corners_behind(uint32_t first) {
    attempts_.skip_slower(true);
    for (const uint32_t k : choices_.corners())
      if (k > first && 2 * kept(k) >= kept(first))
        SHW_RETURN_IF_ERROR(attempts_.attempt(choices_.choice(k), Room{}).status());
    attempts_.skip_slower(false);
    return {};
  }

  // Searches for the first choice that fits, given that choice 0 does not; choices_.count(): none
  // was found. The next choice to try is estimated from the scratch bytes of the last program
  // beyond what it keeps. It is at least `step` choices further. Steps grow, since the kept bytes
  // of neighbours may differ by less than the gaps of packing.
  Result<uint32_t> close_in(const Room& room) {
    uint32_t low = 0, high = choices_.count();
    for (int i = 0; i < kAttempts && high - low > 1; ++i) {
      const uint32_t step = std::min(i == 0 ? 1 : 1u << (i - 1), high - low - 1);
      const uint32_t k = std::clamp(choices_.first_keeping(limit_bytes_ - attempts_.beside_bytes()),
                                    low + step, high - 1);
      SHW_ASSIGN_OR_RETURN(const bool fits, attempts_.attempt(choices_.choice(k), room));
      (fits ? high : low) = k;
    }
    return high;
  }

  Status try_policies() {
    for (const std::string_view name : RepeatChoices::kPolicies) {
      SHW_ASSIGN_OR_RETURN(const auto repeated, choices_.by_policy(name));
      if (choices_.kept_bytes(repeated) > attempts_.bytes_in_both()) continue;
      SHW_ASSIGN_OR_RETURN(bool fits, attempts_.attempt(repeated, bounded()));
      for (const int64_t parts : {63, 62}) {  // a packed arena exceeds the live bytes
        if (fits || !is_tight_) break;
        SHW_ASSIGN_OR_RETURN(fits, attempts_.attempt(repeated, bounded(parts, 64)));
      }
    }
    return {};
  }

  int64_t kept(uint32_t k) const { return choices_.kept_bytes(choices_.choice(k)); }

  // Lets collectives start as early as the limit, or a fraction of it, permits.
  Room bounded(int64_t parts = 32, int64_t of = 32) const {
    return {.arena_limit_bytes = limit_bytes_ / of * parts};
  }

  RepeatAttempts& attempts_;
  const RepeatChoices& choices_;
  const int64_t limit_bytes_;
  bool is_tight_ = false;  // no choice fits with collectives as early as they want to start
};

}  // namespace

Status attempt_choices_near_limit(RepeatAttempts& attempts) {
  return ChoicesNearLimit(attempts).run();
}

}  // namespace shw
