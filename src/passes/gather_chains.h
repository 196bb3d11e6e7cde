// One all-gather in place of two, where what a gather along some mesh dims has left is gathered
// along others:
//
//   a = all_gather[dp](w); b = all_gather[tp](a)   =>   b = all_gather[tp,dp](w)
//
// A placement has no such chains unless something else reads `a`. What is computed again in the
// backward pass may have lost those readers: they read the `a` of the forward pass.
#pragma once
#include "passes/fuse_collectives.h"
#include "plan/program.h"

namespace shw {

// Replaces the second gather of each chain whose first one nothing else reads. The first one stays
// for the pass dead-steps. The program must have one stream. Returns how many chains are gone.
uint32_t fuse_gather_chains(Program& program, const FusePrices& prices);

}  // namespace shw
