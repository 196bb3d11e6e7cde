// Collectives of activations, and the products beside them, one sequence of the batch at a time: so
// that the gather of one runs beside the product of another.
//
//   g = all_gather(x); X = clone(g, batch first); y = einsum(X, w)
//     =>  X[0] = all_gather(x[0]); X[1] = all_gather(x[1]);
//         y[0] = einsum(X[0], w); y[1] = einsum(X[1], w)
//   c = clone(y, ranks first); r = reduce_scatter(c)
//     =>  r[0] = reduce_scatter(y[0]); r[1] = reduce_scatter(y[1])
//
// A tensor [batch, sequence, …] that is cut along its sequence needs a copy before or after its
// collective, because this one has the ranks as its outermost dim. One sequence alone needs none.
// So what is split is a collective with such a copy, where the parts take no longer than the two of
// them; and products that read or write its tensor, where the parts take little longer. The parts
// write windows of the same storages: other steps do not change. Products in a row that are split
// all do the first sequence before any does the second. All sequences are done in front of a
// compute step that makes more than it reads, so that it does not add to their operands, and in
// front of what reads a tangent: the caller computes tangents from results.
#pragma once
#include "passes/fuse_collectives.h"
#include "plan/program.h"

namespace shw {

// The program must have one stream and no memory plan. It pays only where collectives run beside
// compute (PassOptions::overlaps). Returns how many collectives are split.
uint32_t split_batches(Program& program, const FusePrices& prices);

}  // namespace shw
