// What passes may spend, and what they may assume. None of it is stored in a program.
#pragma once
#include <cstdint>

namespace shw {

struct PassOptions {
  // Passes that trade scratch for time keep scratch within this limit.
  int64_t arena_limit_bytes = INT64_MAX;
  // Packing stops at this size of scratch, and spends little effort on a program that cannot reach
  // it. For trial programs.
  int64_t enough_bytes = 0;
  // Packing continues until scratch fits in this size, if the live bytes of the fullest step do.
  int64_t fitting_bytes = INT64_MAX;
  // Limits on starting collectives early: the additional scratch, compared to starting each one
  // just before its reader, and the number of compute steps between a collective and its first
  // reader.
  int64_t prefetch_bytes = int64_t{512} << 20;
  uint32_t prefetch_depth = 256;
  // Whether scheduling counts storages that only one group of fused steps will touch as free, as
  // they are once groups are formed. If so, only the first step of such a group waits for events,
  // so that no group is split, and the present order of the steps is tried first.
  bool groups_free_memory = false;
  // Matrix products between two reductions of gradients, when scheduling defers products.
  uint32_t products_between_reductions = 8;
  // False: the cores that compute also run the collectives, so that separate streams gain nothing.
  bool overlaps = true;
  // Scratch may lie in the memory of outputs until they are written (lend_outputs.h).
  bool lends_outputs = false;
};

}  // namespace shw
