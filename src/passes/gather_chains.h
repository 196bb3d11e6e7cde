// One all-gather in place of two, where what a gather along some mesh dims has left is gathered
// along others:
//
//   a = all_gather[dp](w); b = all_gather[tp](a)   =>   b = all_gather[tp,dp](w)
//
// and, where something else reads a:
//
//   =>   b = all_gather[tp,dp](w); a = local_slice(b)
//
// What is computed again in the backward pass leaves such chains: it may have lost the readers of
// `a`, which read the `a` of the forward pass, or want one parameter in two layouts.
#pragma once
#include "passes/fuse_collectives.h"
#include "plan/program.h"

namespace shw {

// Replaces the second gather of each chain. The first one stays for the pass dead-steps where
// nothing else reads it; else the one gather and the slice stand in its place, if they take little
// longer than the chain and both gathers are in one pass, forward or backward. The program must
// have one stream. Returns how many chains are gone.
uint32_t fuse_gather_chains(Program& program, const FusePrices& prices);

}  // namespace shw
