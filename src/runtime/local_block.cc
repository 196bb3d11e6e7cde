#include "runtime/local_block.h"

#include <algorithm>
#include <string>

#include "runtime/step_args.h"

namespace shw::runtime {

Result<LocalBlock> local_block(const KernelArgs& args) {
  const TensorType &from = *args.inputs[0], &to = *args.outputs[0];
  const int64_t dim = args.attrs.get_int(AttrKey::kDim, -1);
  if (dim < 0 || dim >= from.rank())
    return invalid_argument("local_slice cuts dim " + std::to_string(dim) + " of " +
                            to_string(from));
  const auto at = static_cast<size_t>(dim);
  LocalBlock block{at, 0, from.shape[at]};
  int64_t common = block.own;
  for (int64_t m : args.attrs.get_ints(AttrKey::kDims)) {
    if (!args.mesh.has_axis(m))
      return invalid_argument("local_slice cuts along mesh dim " + std::to_string(m) + " of " +
                              args.mesh.to_string());
    const int64_t n = args.mesh.size(static_cast<int>(m)), size = (common + n - 1) / n;
    const int64_t start =
        std::min(block.own, args.mesh.coordinate(args.rank, static_cast<int>(m)) * size);
    block.offset += start;
    block.own = std::min(size, block.own - start);
    common = size;
  }
  Dims shape = from.shape;
  shape[at] = common;
  if (shape != to.shape || from.dtype != to.dtype)
    return bad_types(to_string(to) + " is not a block of " + to_string(from) +
                     ": expected the same dtype and shape, but size " + std::to_string(common) +
                     " in dim " + std::to_string(dim));
  return block;
}

}  // namespace shw::runtime
