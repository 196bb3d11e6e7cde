// What groups of fused steps take, where kernels were measured.
#pragma once
#include "cost/roofline.h"
#include "plan/program.h"

namespace shw {

// The steps of a group keep in registers, or find in the cache, what the one before them left. Only
// what others made or will read is loaded and stored, once. Until groups are known, each step is
// priced as if it ran alone. A group of which one kernel was not measured keeps that price; on a
// device of which no pointwise kernel was, a group takes what its bytes take.
void price_groups(Program& program, const cost::Roofline& roofline);

}  // namespace shw
