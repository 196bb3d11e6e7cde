// The route between two layouts: moves in the order in which they run.
#pragma once
#include <optional>
#include <vector>

#include "plan/program.h"
#include "redistribution/moves.h"
#include "sharding/layout.h"

namespace shw {

struct Move {
  CollectiveKind kind = CollectiveKind::kNone;  // kNone: slice, or rescale
  ReduceOp op = ReduceOp::kSum;                 // of a reduction; rescale: the new one
  int from_dim = -1;  // gather, all-to-all: the tensor dim that is made whole
  int to_dim = -1;    // scatter, all-to-all, slice: the tensor dim that is cut; none: rescale
  std::vector<uint8_t> axes;     // the group: mesh dims or parts of them, outermost first
  std::vector<uint8_t> to_axes;  // permute: plan/program.h, Collective
  BlocksByDim several;           // gather, scatter: of several tensor dims
  Dims piece;                    // shape of a rank's piece after the move
  std::optional<Layout> after;   // none: parts of one mesh dim have different placements
  double cost_us = 0;            // collective and copies
  double collective_us = 0;      // without copies
};

struct Route {
  std::vector<Move> moves;  // none: the layouts are the same
  double cost_us = 0;
};

}  // namespace shw
