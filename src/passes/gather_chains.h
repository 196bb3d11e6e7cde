// Replaces a chain of two all-gathers, in which the second gathers the result of the first along
// other mesh dims, by one:
//
//   a = all_gather[dp](w); b = all_gather[tp](a)   =>   b = all_gather[tp,dp](w)
//
// and, if another step reads a:
//
//   =>   b = all_gather[tp,dp](w); a = local_slice(b)
//
// Recomputation in the backward pass creates such chains: other readers of `a` may read the `a` of
// the forward pass instead, or the pass may need one parameter in two layouts.
#pragma once
#include "passes/fuse_collectives.h"
#include "plan/program.h"

namespace shw {

// Replaces the second gather of each chain. If nothing else reads the first gather, the pass
// dead-steps removes it. Otherwise the new gather and the slice take its place, if they take little
// longer than the chain and both gathers belong to the same pass, forward or backward. The program
// must have one stream. Returns the number of chains replaced.
uint32_t fuse_gather_chains(Program& program, const FusePrices& prices);

}  // namespace shw
