// From a placement to a plan.
#pragma once
#include <vector>

#include "compiler/prepared_model.h"
#include "plan/plan.h"

namespace shw {

struct Compiled {
  Plan plan;
  std::vector<uint8_t> bytes;  // write_plan(plan)
  std::vector<PhaseTime>
      phases;  // wall clock; not part of the plan, so equal inputs give equal plans
  solver::SolveStats solve_stats;
};

// Lowers, schedules and writes what was placed under the constraints of `options`.
Result<Compiled> finish(const PreparedModel& model, const CompileOptions& options,
                        const Placed& placed, Monitor& monitor);

}  // namespace shw
