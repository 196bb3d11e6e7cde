// Collectives of activations, and the products beside them, some rows of each rank at a time, so
// that one part's collective runs beside another part's product. (Asynchronous tensor parallelism;
// "collective matmul".)
//
//   g = all_gather(x); y = mm(g, w)
//     =>  p0 = all_gather(x[0]); p1 = all_gather(x[1]);
//         y[r,0] = mm(p0[r], w) for each rank r; y[r,1] = mm(p1[r], w) for each rank r
//   y = mm(x, w); z = reduce_scatter(y)
//     =>  p0[r] = mm(x[r,0], w) for each rank r; z[0] = reduce_scatter(p0);
//         p1[r] = mm(x[r,1], w) for each rank r; z[1] = reduce_scatter(p1)
//
// A gather writes its ranks' blocks one after another, so a part of each rank's rows is not a part
// of the result: each part is gathered into a place of its own, and the rows that it has of one
// rank are a block there and a block of the product's result. So kernels write contiguous results,
// and each row is the same sum. What else reads the gathered tensor gets it from a copy that
// puts the parts in order.
//
// Only where that saves more than a share of the step: a product hides all of its collective but
// one part. Batches that are gathered sequence by sequence are split_batches.h's.
#pragma once
#include "passes/fuse_collectives.h"
#include "passes/pass_options.h"
#include "plan/program.h"
#include "support/monitor.h"

namespace shw {

// The program must have one stream and no memory plan. Returns how many collectives are split.
uint32_t split_rows(Program& program, const FusePrices& prices);

// The same for a large program. A small one is scheduled with and without, and stays as it is
// unless that makes the simulated step shorter.
Status split_rows_where_faster(Program& program, const FusePrices& prices,
                               const PassOptions& options, Monitor& monitor);

}  // namespace shw
