// Choices whose programs hold less where they are the fullest (recompute/shorten_lives.h), level by
// level. The levels are shares of what is live without: they do not depend on the limit, so a
// higher one still has every program of a lower one.
#pragma once
#include <span>
#include <vector>

#include "compiler/repeat_attempts.h"

namespace shw {

// At each level that fits: with ever less room for collectives that start early.
Status attempt_shorter_lives(RepeatAttempts& attempts, const std::vector<Repeated>& repeated,
                             bool with_groups);

// Of these choices, the one that can hold the least.
Status attempt_shortest_lives(RepeatAttempts& attempts,
                              std::span<const std::vector<Repeated>> choices, bool with_groups);

}  // namespace shw
