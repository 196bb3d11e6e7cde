// Of a small program, every choice of what is computed again is a candidate, or, if there are many,
// those that are evenly apart, and so are the named policies. The candidates are the same for every
// limit, and the fastest one that fits wins: so for a given placement a higher limit never gives a
// longer step.
#pragma once
#include <cstdint>

#include "compiler/repeat_attempts.h"

namespace shw {

// `apart`: every choice, every second one, …. Where none fits, the best program is one that holds
// little, which shows how much is missing.
Status attempt_every_choice(RepeatAttempts& attempts, uint32_t apart, bool with_parts);

}  // namespace shw
