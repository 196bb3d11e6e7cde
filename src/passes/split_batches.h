// Splits collectives of activations, and the adjacent products, into the sequences of the batch, so
// that the gather of one sequence runs in parallel with the product of another.
//
//   g = all_gather(x); X = clone(g, batch first); y = einsum(X, w)
//     =>  X[0] = all_gather(x[0]); X[1] = all_gather(x[1]);
//         y[0] = einsum(X[0], w); y[1] = einsum(X[1], w)
//   c = clone(y, ranks first); r = reduce_scatter(c)
//     =>  r[0] = reduce_scatter(y[0]); r[1] = reduce_scatter(y[1])
//
// A tensor [batch, sequence, …] that is cut along its sequence needs a copy before or after its
// collective, because the collective has the ranks as its outermost dim. A single sequence needs no
// copy. So the pass splits a collective with such a copy if the parts take no longer than both, and
// products that read or write its tensor if the parts take little longer than the whole. The parts
// write windows of the same storages, so other steps do not change. Consecutive split products all
// process the first sequence before any processes the second. All sequences are finished before a
// compute step that makes more bytes than it reads, so that its result is not live together with
// their operands, and before a step that reads a tangent, because the caller computes tangents from
// results.
#pragma once
#include "passes/fuse_collectives.h"
#include "plan/program.h"

namespace shw {

// The program must have one stream and no memory plan. It saves time only if collectives run in
// parallel with compute (PassOptions::overlaps). Returns the number of collectives split.
uint32_t split_batches(Program& program, const FusePrices& prices);

}  // namespace shw
