// Runs plans that read_plan has accepted, on virtual CPU ranks, to show that nothing of what it
// accepts reads or writes outside its storages, hangs or aborts.
#pragma once
#include "plan/plan.h"

namespace shw::fuzz {

// Few ranks and steps, small tensors: it is over in milliseconds.
bool is_small(const Program& program);

// Runs every entry, first on zeros, then on data that the plan's checksum chooses; errors of steps
// are statuses, after which the ranks are reset. Twice: as the plan lies in memory, and with every
// storage of arena and session far from the others and, under the address sanitizer, guarded. Both
// must give the same bits: otherwise storages that share bytes are in use at the same time. Aborts
// where anything is wrong.
void run_plan(const Plan& plan);

}  // namespace shw::fuzz
