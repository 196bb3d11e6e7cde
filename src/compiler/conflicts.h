// Finds a minimal set of constraints that cannot hold together: dropping any of them resolves the
// conflict.
#pragma once
#include "compiler/constrained_model.h"

namespace shw {

// FAILED_PRECONDITION: a minimal set of constraints that cannot hold together. OK: no conflict was
// found in the available time (ignoring the memory limit).
Status find_conflict(const ConstrainedModel& model, const Deadline& deadline, Monitor& monitor);

}  // namespace shw
