// Prices groups of fused steps, on devices whose kernels were measured.
#pragma once
#include "cost/roofline.h"
#include "plan/program.h"

namespace shw {

// Replaces the prices of the steps of each group. Before groups are known, each step is priced as
// if it ran alone. In a group, a step finds the results of the previous ones in registers or in the
// cache. Only values that other steps made or will read are loaded and stored, once each. If a
// kernel of a group was not measured, the group keeps its old price. If no pointwise kernel of the
// device was measured, a group takes as long as moving its bytes.
void price_groups(Program& program, const cost::Roofline& roofline);

}  // namespace shw
