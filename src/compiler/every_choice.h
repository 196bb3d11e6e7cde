// Chooses what a small program computes again, by building the program for every choice. If there
// are many choices, it tries evenly spaced ones. The named policies are candidates as well. The
// candidates do not depend on the memory limit, and the fastest one that fits wins. So for a given
// placement, a higher limit never gives a longer step.
#pragma once
#include <cstdint>

#include "compiler/repeat_attempts.h"

namespace shw {

// `apart`: the distance between candidates. 1: every choice; 2: every second one; and so on. If no
// candidate fits, the best program is one that holds little memory. It shows how much is missing.
Status attempt_every_choice(RepeatAttempts& attempts, uint32_t apart, bool with_parts);

}  // namespace shw
