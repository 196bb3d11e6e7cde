// What groups of fused steps take, where kernels were measured.
#pragma once
#include "cost/roofline.h"
#include "plan/program.h"

namespace shw {

// The steps of a group find in the cache what the one before them left, and only what others made
// or will read passes through memory. Until groups are known, each step is priced as if it ran
// alone. A group of which one kernel was not measured keeps that price.
void price_groups(Program& program, const cost::Roofline& roofline);

}  // namespace shw
