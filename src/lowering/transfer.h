// Emits one move of a redistribution as steps of the program: the collective and its copies. A
// collective cuts and joins its buffer only along the leading dim, so other dims need copies.
#pragma once
#include "lowering/builder.h"
#include "redistribution/redistributor.h"

namespace shw {

// `piece`: this rank's piece of the tensor before the move, row-major. Returns the piece
// after it, row-major. Uneven pieces are padded at their end: a dim is extended before it is cut,
// and narrowed once it is whole again.
ValueId emit_move(ProgramBuilder& builder, const Move& move, ValueId piece, const Mesh& mesh,
                  const MovePrices& prices);

}  // namespace shw
