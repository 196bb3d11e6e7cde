// Assigns each step to a stream, and synchronises the streams with the fewest events that operands
// and memory reuse require. The order of the steps does not change.
//
// Collectives of the same links share a stream, and so do copies to host memory and copies from it;
// everything else is on the compute stream. If there are more links than streams (kMaxStreams), the
// last links share one. The following rules for collectives hold for these copies, too.
//
//   * A collective waits for the compute step in front of it, even if its operand was ready long
//     before: it starts no earlier than its place says, and the memory pass can reuse bytes early.
//   * A step waits for the collectives of other streams that wrote what it reads, or read what it
//     overwrites.
//   * The operand of a collective is free once the compute stream has waited for that collective
//     and does not use the operand itself. The compute stream waits at the first step that begins,
//     in the simulation, after the collective has ended. It waits earlier, for the collective that
//     ends first, while the live scratch exceeds PassOptions::arena_limit_bytes, or exceeds by more
//     than PassOptions::prefetch_bytes what the entry would hold if collectives freed their
//     operands at once.
#pragma once
#include <span>

#include "groups/form_groups.h"
#include "passes/pass_options.h"
#include "simulate/simulate.h"

namespace shw {

// Sets Program::streams and the stream of each step.
void number_streams(Program& program);
// Sets Program::num_events, and waits and records of each step, for the present order.
// `simulations`: by entry, the result of simulate() for the program synchronised without
// simulations. With them, operands are also freed early; that changes no time unless memory is
// short. `groups`: groups of this order, of which only the first step waits, for the whole group.
// Null: each step waits for itself.
void synchronise(Program& program, const PassOptions& options,
                 std::span<const Simulation> simulations = {},
                 const GroupsToCome* groups = nullptr);

}  // namespace shw
