// Splits collectives of activations, and the adjacent products, into parts with some rows of each
// rank, so that one part's collective runs in parallel with another part's product. (Asynchronous
// tensor parallelism; "collective matmul".)
//
//   g = all_gather(x); y = mm(g, w)
//     =>  p0 = all_gather(x[0]); p1 = all_gather(x[1]);
//         y[r,0] = mm(p0[r], w) for each rank r; y[r,1] = mm(p1[r], w) for each rank r
//   y = mm(x, w); z = reduce_scatter(y)
//     =>  p0[r] = mm(x[r,0], w) for each rank r; z[0] = reduce_scatter(p0);
//         p1[r] = mm(x[r,1], w) for each rank r; z[1] = reduce_scatter(p1)
//
// A gather writes its ranks' blocks one after another, so a part of each rank's rows is not
// contiguous in the result. Each part is therefore gathered into a buffer of its own, where the
// rows of one rank are one block, as they are in the product's result. So kernels write contiguous
// results, and each row is computed as the same sum. Other readers of the gathered tensor read a
// copy that puts the parts in order.
//
// A product hides all of its collective except one part. The pass applies only if that saves more
// than a certain share of the step. split_batches.h handles batches that are gathered sequence by
// sequence.
#pragma once
#include "passes/fuse_collectives.h"
#include "passes/pass_options.h"
#include "plan/program.h"
#include "support/monitor.h"

namespace shw {

// The program must have one stream and no memory plan. Returns the number of collectives split.
uint32_t split_rows(Program& program, const FusePrices& prices);

// Does the same for a large program. A small one is scheduled with and without splitting, and stays
// unchanged unless splitting shortens the simulated step.
Status split_rows_where_faster(Program& program, const FusePrices& prices,
                               const PassOptions& options, Monitor& monitor);

}  // namespace shw
