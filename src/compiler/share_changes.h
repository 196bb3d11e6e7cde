// Placements at the prices of what their programs share.
//
// The first placement is the cheapest if each use of a value pays for its own change of layout. Its
// program makes some versions once for several uses (strategy/shared_versions.h). With variables
// for these, the problem is solved again, which gives a placement that costs less, whose program
// may share others; and so on until a program shares nothing that its plan does not. The price is
// then the program's. Each round is exact, so the placement is the cheapest of those that share the
// same versions; which versions several uses could share elsewhere is not searched.
#pragma once
#include "compiler/constrained_model.h"
#include "placement/solve_placement.h"

namespace shw {

// `placed`: the cheapest within the limit, complete(). 0: no limit. Where the limit binds, copies
// live as planned, and each use pays for its own.
Status share_changes(const ConstrainedModel& question, double limit_bytes,
                     const solver::SolveOptions& options, Placed& placed, Monitor& monitor);

}  // namespace shw
