// Frees memory where a program holds the most.
//
// What lies there without being used is computed again, or only then, in front of its next reader:
//
//   g = all_gather(w); y = mm(x, g); …; z = mm(d, g)
//     =>  g = all_gather(w); y = mm(x, g); …; g' = all_gather(w); z = mm(d, g')
//   a = cast(x); …; b = mul(a, t)
//     =>  …; a = cast(x); b = mul(a, t)
//
// And steps in a row that work row by row are done for some rows at a time (row_parts.h).
//
// The choice of what is kept from the forward to the backward pass (frontier.h) knows nothing of
// lives within a pass: there a gathered parameter lies from its first to its last use, and a cast
// in place of its smaller operand. This changes the order of the steps, one change after another:
// at the fullest step, what saves the most bytes for its time. A change may repeat several steps,
// if their operands are not there any more, or hold an operand for longer. The changes do not
// depend on the bytes that are asked for, only their number does. (XLA calls the first kind
// rematerialisation.)
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "plan/program.h"

namespace shw {

struct LifeRules {
  // Of so many bytes; without it products are not done in parts.
  std::function<double(int64_t bytes)> copy_us = {};
  // By ProgramStep::node, 1: the backward pass does not repeat what the forward pass computes for
  // it.
  std::vector<uint8_t> kept_nodes = {};
  // Whether steps count as in the groups that they will run in (groups/form_groups.h): what a group
  // alone sees takes no memory, and what is done again for one of its steps is done in front of
  // all. If not, steps run one by one.
  bool with_groups = false;
  // Then: whether collectives will have streams of their own, so that groups reach across them.
  bool overlaps = true;
};
struct ShortenedLives {
  int64_t peak_bytes = 0;  // of live scratch, the steps one after another
  double more_us = 0;      // of steps that are done once more, or in parts
};

// Until no step holds more than `bytes` of scratch, or no change helps. The program must have no
// streams and events yet.
ShortenedLives shorten_lives(Program& program, int64_t bytes, const LifeRules& rules);

}  // namespace shw
