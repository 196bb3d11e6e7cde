// The block that a local_slice step takes from its input. The ranks along some mesh dims all hold
// the same input; each takes its own block. Tensor dim attrs.dim is split along the mesh dims
// attrs.dims, the first of them outermost. If the split is uneven, the blocks of the last ranks are
// padded with zeros.
#pragma once
#include "runtime/kernel.h"

namespace shw::runtime {

struct LocalBlock {
  size_t dim = 0;               // the dim that is split
  int64_t offset = 0, own = 0;  // along that dim: start of the block, size without padding
};
// INVALID_ARGUMENT: a dim does not exist, or the result does not have the type of a block.
Result<LocalBlock> local_block(const KernelArgs& args);

}  // namespace shw::runtime
