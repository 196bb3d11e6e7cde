// Runs plans that read_plan has accepted, to show that nothing of what it accepts reads or writes
// outside its storages, hangs or aborts.
#pragma once
#include "plan/plan.h"

namespace shw::fuzz {

// Few ranks and steps, small tensors: it is over in milliseconds.
bool is_small(const Program& program);

// Runs every entry, first on zeros, then on data that the plan's checksum chooses; errors of steps
// are statuses. Aborts where anything is wrong.
//
// Each rank runs alone (plan_fuzz_inline.h), twice: as the plan lies in memory, and with every
// storage of arena and session apart from the others and, under the address sanitizer, guarded
// (plan_fuzz_guard.h). Both must give the same bits: otherwise storages that share bytes are in use
// at the same time. `with_threads`: then all ranks run together, as virtual ranks do.
void run_plan(const Plan& plan, bool with_threads);

}  // namespace shw::fuzz
