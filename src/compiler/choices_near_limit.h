// Chooses what a large program computes again. Building the program for every choice would take too
// long. So the search closes in on the first choice whose program fits the memory limit, and tries
// some choices that repeat less but start collectives later. If no choice fits with collectives at
// their preferred, early start, it also shortens the lives of values. Unlike the exhaustive search
// (every_choice.h), this one may find a longer step under a higher limit.
#pragma once
#include "compiler/repeat_attempts.h"

namespace shw {

Status attempt_choices_near_limit(RepeatAttempts& attempts);

}  // namespace shw
