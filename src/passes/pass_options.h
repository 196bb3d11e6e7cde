// What passes may spend, and what they may count on. Nothing of it is part of a program.
#pragma once
#include <cstdint>

namespace shw {

struct PassOptions {
  // Of scratch: passes spend none beyond it to save time.
  int64_t arena_limit_bytes = INT64_MAX;
  // Of scratch: packing stops at this, and does little for a program that cannot be so small. For
  // programs that are only tried.
  int64_t enough_bytes = 0;
  // Of scratch: packing goes on until it takes no more than this, if the fullest step does not.
  int64_t fitting_bytes = INT64_MAX;
  // What starting collectives early may cost: so much more scratch than if none started before its
  // reader, and at most so many compute steps between a collective and its first reader.
  int64_t prefetch_bytes = int64_t{512} << 20;
  uint32_t prefetch_depth = 256;
  // Whether scheduling takes what only a group of fused steps will see as free, as it is once
  // groups are formed. Then only the first step of such a group waits for others, so that none is
  // split, and the order of the steps as they stand is tried first.
  bool groups_free_memory = false;
  // Products of matrices between two reductions of gradients, where scheduling puts products off.
  uint32_t products_between_reductions = 8;
  // False: the cores that compute do the collectives as well, and none is idle, so nothing is
  // gained by streams of their own.
  bool overlaps = true;
  // Scratch may lie in the memory of outputs until they are written (lend_outputs.h).
  bool lends_outputs = false;
};

}  // namespace shw
