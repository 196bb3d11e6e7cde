// Frees memory at the steps where a program holds the most.
//
// A result that is live there but not used is computed again in front of its next reader, or its
// computation moves there:
//
//   g = all_gather(w); y = mm(x, g); …; z = mm(d, g)
//     =>  g = all_gather(w); y = mm(x, g); …; g' = all_gather(w); z = mm(d, g')
//   a = cast(x); …; b = mul(a, t)
//     =>  …; a = cast(x); b = mul(a, t)
//
// And consecutive steps that work row by row run on some rows at a time (row_parts.h).
//
// The choice of what is kept from the forward to the backward pass (frontier.h) ignores lifetimes
// within a pass. There a gathered parameter is live from its first to its last use, and the result
// of a cast is live although its operand is smaller. This pass makes one change after another, each
// time the one that frees the most bytes at the fullest step for its time. A change may repeat
// several steps, if their operands are no longer live, or extend the life of an operand. The
// sequence of changes does not depend on the target size; only its length does. (XLA calls the
// first kind rematerialisation.)
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "plan/program.h"

namespace shw {

struct LifeRules {
  // The time to copy that many bytes; if it is empty, products do not run in parts.
  std::function<double(int64_t bytes)> copy_us = {};
  // By ProgramStep::node, 1: the backward pass must not repeat what the forward pass computes for
  // this node.
  std::vector<uint8_t> kept_nodes = {};
  // Whether memory is counted as if steps already ran in their groups (groups/form_groups.h):
  // storages that only one group touches take no memory, and a repetition for one step of a group
  // goes in front of the whole group. Otherwise steps count one by one.
  bool with_groups = false;
  // With groups: whether collectives will have streams of their own, so that groups can extend
  // across them.
  bool overlaps = true;
};
struct ShortenedLives {
  int64_t peak_bytes = 0;  // of live scratch, if steps run one after another
  double more_us = 0;      // added by steps that are repeated or run in parts
};

// Makes changes until no step holds more than `bytes` of scratch, or no change helps. The program
// must have no streams or events yet.
ShortenedLives shorten_lives(Program& program, int64_t bytes, const LifeRules& rules);

}  // namespace shw
