// Where a rank's piece lies in a whole tensor.
#pragma once
#include "sharding/layout.h"
#include "tensor/attrs.h"

namespace shw::runtime {

struct Piece {
  Dims offset;  // position of the piece's first element in the whole tensor
  // Sizes of the piece; smaller than the common shape if a dim is split unevenly.
  Dims size;
  Dims whole;
};

// Computed from a step's attributes `size` and `cuts` (plan/program.h). Each cut gives blocks of
// the size ceil(size / ranks), so the last ranks may have smaller blocks, or none.
// INVALID_ARGUMENT: the attributes name a mesh dim or tensor dim that does not exist.
Result<Piece> piece_of(const Attrs& attrs, const Mesh& mesh, int64_t rank);

}  // namespace shw::runtime
