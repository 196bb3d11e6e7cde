// Puts each step on a stream, and orders the streams by the fewest events that its operands, and
// the memory, require. The order of the steps stays.
//
// Collectives of the same links share a stream, and so do copies to host memory and copies from it;
// everything else is on the compute stream. Where there are more links than streams (kMaxStreams),
// the last ones share one. What follows is said of collectives, and holds for these copies.
//
//   * A collective waits for the compute step in front of it, even if its operand was ready long
//     before: it starts no earlier than its place says, and the memory pass can reuse bytes early.
//   * A step waits for the collectives of other streams that wrote what it reads, or read what it
//     overwrites.
//   * What a collective reads is free once the compute stream has waited for that collective, and
//     has no use for it itself. It waits at the first step that, as the simulator says, begins
//     after the collective is over; and earlier, the collective that ends first before the others,
//     while the live scratch exceeds PassOptions::arena_limit_bytes, or by more than
//     PassOptions::prefetch_bytes what the entry would hold if collectives freed their operands at
//     once.
#pragma once
#include <span>

#include "groups/form_groups.h"
#include "passes/pass_options.h"
#include "simulate/simulate.h"

namespace shw {

// Sets Program::streams and of each step the stream.
void number_streams(Program& program);
// Sets Program::num_events, and of each step waits and records, for the order as it stands.
// `simulations`: by entry, the times that simulate() gives the program once it is synchronised
// without them; then operands are also freed early. That changes no time unless memory is short.
// `groups`: of the order; then only the first step of a group waits, for all of them. Null: each
// step does.
void synchronise(Program& program, const PassOptions& options,
                 std::span<const Simulation> simulations = {},
                 const GroupsToCome* groups = nullptr);

}  // namespace shw
