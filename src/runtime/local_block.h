// What a local_slice step takes of its input: this rank's block of a tensor that the ranks along
// some mesh dims all hold. Tensor dim attrs.dim is cut along the mesh dims attrs.dims, the first
// one cuts first. Where that is not even, the last ranks' blocks end in zeros.
#pragma once
#include "runtime/kernel.h"

namespace shw::runtime {

struct LocalBlock {
  size_t dim = 0;               // that is cut
  int64_t offset = 0, own = 0;  // elements of that dim: where the block begins, how many there are
};
// INVALID_ARGUMENT: no such dims, or the result is no such block.
Result<LocalBlock> local_block(const KernelArgs& args);

}  // namespace shw::runtime
