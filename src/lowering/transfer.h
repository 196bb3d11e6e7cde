// One move of a redistribution as steps of the program: the collective, and the copies that it
// needs because a collective cuts and joins its buffer along the leading dim only.
#pragma once
#include "lowering/builder.h"
#include "lowering/redistribute.h"

namespace shw {

// `piece`: this rank's piece before the move, row-major. Returns the piece after it, row-major.
ValueId emit_move(ProgramBuilder& builder, const Move& move, ValueId piece, const Mesh& mesh,
                  const MovePrices& prices);

}  // namespace shw
