// Runs plans that read_plan has accepted. No such plan may access bytes outside its storages, hang
// or abort.
#pragma once
#include "plan/plan.h"

namespace shw::fuzz {

// Whether the program has few ranks and steps and small tensors, so that a run takes only
// milliseconds.
bool is_small(const Program& program);

// Runs every entry, first on zeros, then on data that depends on the plan's checksum. Steps may
// fail with a status. Aborts if anything else is wrong.
//
// Each rank runs alone (plan_fuzz_inline.h), twice: with the plan's own memory layout, and with
// every storage of arena and session apart from the others and, under the address sanitizer,
// guarded (plan_fuzz_guard.h). Both runs must give the same bits. Otherwise storages that share
// bytes are in use at the same time. `with_threads`: in addition all ranks run together, as virtual
// ranks do.
void run_plan(const Plan& plan, bool with_threads);

}  // namespace shw::fuzz
