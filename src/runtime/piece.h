// Where a rank's piece lies in a whole tensor.
#pragma once
#include "sharding/layout.h"
#include "tensor/attrs.h"

namespace shw::runtime {

struct Piece {
  Dims offset;  // of the piece's first element, per dim
  Dims size;    // elements that it has; less than the common shape where a dim is cut unevenly
  Dims whole;
};

// From a step's attributes `size` and `cuts` (plan/program.h). Blocks are as large as the ceiling
// of the quotient, cut by cut, so the last ranks may have less, or nothing. INVALID_ARGUMENT: they
// name a mesh dim or tensor dim that does not exist.
Result<Piece> piece_of(const Attrs& attrs, const Mesh& mesh, int64_t rank);

}  // namespace shw::runtime
