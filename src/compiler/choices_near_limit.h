// A large program is built for few choices of what is computed again: those between which the first
// one lies that fits, and some that repeat less and start collectives later; where no choice fits
// with collectives as early as they want to start, with shorter lives as well. Here a higher limit
// may give a longer step.
#pragma once
#include "compiler/repeat_attempts.h"

namespace shw {

Status attempt_choices_near_limit(RepeatAttempts& attempts);

}  // namespace shw
