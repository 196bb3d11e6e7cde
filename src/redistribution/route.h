// The way between two layouts: moves in the order in which they are made.
#pragma once
#include <optional>
#include <vector>

#include "plan/program.h"
#include "redistribution/moves.h"
#include "sharding/layout.h"

namespace shw {

struct Move {
  CollectiveKind kind = CollectiveKind::kNone;  // kNone: slice, or rescale
  ReduceOp op = ReduceOp::kSum;                 // of a reduction; rescale: what it becomes
  int from_dim = -1;  // gather, all-to-all: the tensor dim that is made whole
  int to_dim = -1;    // scatter, all-to-all, slice: the tensor dim that is cut; none: rescale
  std::vector<uint8_t> axes;     // the group: mesh dims or parts of them, outermost first
  std::vector<uint8_t> to_axes;  // permute: plan/program.h, Collective
  BlocksByDim several;           // gather, scatter: of several tensor dims
  Dims piece;                    // of a rank after it
  std::optional<Layout> after;   // none: parts of one mesh dim do different things
  double cost_us = 0;            // all of it
  double collective_us = 0;      // without copies
};

struct Route {
  std::vector<Move> moves;  // none: the layouts are the same
  double cost_us = 0;
};

}  // namespace shw
