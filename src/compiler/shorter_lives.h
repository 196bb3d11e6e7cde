// Tries programs whose peak is lowered by shortening the lives of values
// (recompute/shorten_lives.h), level by level. A level is a share of the peak before shortening.
// Levels do not depend on the limit, so every program that is tried under a lower limit is tried
// under a higher one as well.
#pragma once
#include <span>
#include <vector>

#include "compiler/repeat_attempts.h"

namespace shw {

// At each level that fits, tries the program with ever less room for collectives that start early.
Status attempt_shorter_lives(RepeatAttempts& attempts, const std::vector<Repeated>& repeated,
                             bool with_groups);

// Tries the one of these choices that has the smallest peak after shortening.
Status attempt_shortest_lives(RepeatAttempts& attempts,
                              std::span<const std::vector<Repeated>> choices, bool with_groups);

}  // namespace shw
