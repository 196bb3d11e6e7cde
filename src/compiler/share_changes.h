// Improves a placement with prices that account for what its program shares.
//
// The first placement is the cheapest if each use of a value pays for its own change of layout. But
// its program makes some versions of values once for several uses (strategy/shared_versions.h). The
// next round solves the problem again, with variables for these versions. The new placement costs
// less, and its program may share other versions. Rounds repeat until a program shares nothing that
// its plan does not; then the price of the plan is the price of the program. Each round is exact,
// so the placement is the cheapest of those that share the same versions. Other sets of versions
// that uses could share are not searched.
#pragma once
#include "compiler/constrained_model.h"
#include "placement/solve_placement.h"

namespace shw {

// `placed`: the cheapest placement within the limit, after complete(). 0: no limit. If the limit
// binds, copies live as planned, so each use pays for its own copy and nothing changes.
Status share_changes(const ConstrainedModel& question, double limit_bytes,
                     const solver::SolveOptions& options, Placed& placed, Monitor& monitor);

}  // namespace shw
