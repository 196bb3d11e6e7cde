// local_slice: this rank's block of a tensor that the ranks along some mesh dims all hold: tensor
// dim attrs.dim is cut along the mesh dims attrs.dims, the first one cuts first.
#include "runtime/cpu/move.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &from = *args.inputs[0], &to = *args.outputs[0];
  const int64_t dim = args.attrs.get_int(AttrKey::kDim, -1);
  if (dim < 0 || dim >= from.rank())
    return invalid_argument("local_slice cuts dim " + std::to_string(dim) + " of " +
                            to_string(from));
  int64_t block = 0, blocks = 1;
  for (int64_t m : args.attrs.get_ints(AttrKey::kDims)) {
    if (m < 0 || m >= args.mesh.rank())
      return invalid_argument("local_slice cuts along mesh dim " + std::to_string(m) + " of " +
                              args.mesh.to_string());
    const int d = static_cast<int>(m);
    block = block * args.mesh.size(d) + args.mesh.coordinate(args.rank, d);
    blocks *= args.mesh.size(d);
  }
  const auto at = static_cast<size_t>(dim);
  TensorType cut = from;
  cut.shape[at] /= blocks;
  if (cut.shape != to.shape || cut.shape[at] * blocks != from.shape[at])
    return bad_types(to_string(to) + " is not one of " + std::to_string(blocks) + " blocks of " +
                     to_string(from) + " along dim " + std::to_string(dim));
  const int64_t offset = block * cut.shape[at] * from.strides[at] * dtype_size(from.dtype);
  return make_kernel<MoveKernel>(to, cut, offset, args.inputs.size());
}

}  // namespace

extern const Kernel kLocalSlice;
constinit const Kernel kLocalSlice = {"local_slice", prepare};

}  // namespace shw::runtime::cpu
