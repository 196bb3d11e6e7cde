// local_slice: this rank's block of a tensor that the ranks along some mesh dims all hold: tensor
// dim attrs.dim is cut along the mesh dims attrs.dims, the first one cuts first. Where that is not
// even, the last ranks' blocks end in zeros.
#include <optional>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

class LocalSlice final : public HostKernel {
 public:
  // `own`: elements of dim `dim` that there are, from `offset_bytes` on.
  LocalSlice(const TensorType& from, const TensorType& to, size_t dim, int64_t own,
             int64_t offset_bytes, size_t output)
      : offset_bytes_(offset_bytes), output_(output) {
    TensorType source = from, target = to;
    source.shape[dim] = target.shape[dim] = own;
    if (target.numel() > 0) copy_.emplace(target, source);
    TensorType rest = to;
    rest.shape[dim] -= own;
    if (rest.numel() == 0) return;
    rest_offset_bytes_ = own * to.strides[dim] * dtype_size(to.dtype);
    zero_.emplace(rest);
  }
  Status compute(void* const* buffers) noexcept override {
    auto* to = static_cast<std::byte*>(buffers[output_]);
    if (copy_) copy_->run(to, static_cast<const std::byte*>(buffers[0]) + offset_bytes_);
    if (zero_) zero_->run(to + rest_offset_bytes_);
    return {};
  }

 private:
  std::optional<StridedCast> copy_;
  std::optional<StridedFill> zero_;
  int64_t offset_bytes_, rest_offset_bytes_ = 0;
  size_t output_;
};

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &from = *args.inputs[0], &to = *args.outputs[0];
  const int64_t dim = args.attrs.get_int(AttrKey::kDim, -1);
  if (dim < 0 || dim >= from.rank())
    return invalid_argument("local_slice cuts dim " + std::to_string(dim) + " of " +
                            to_string(from));
  const auto at = static_cast<size_t>(dim);
  int64_t offset = 0, own = from.shape[at], common = own;
  for (int64_t m : args.attrs.get_ints(AttrKey::kDims)) {
    if (m < 0 || m >= args.mesh.rank())
      return invalid_argument("local_slice cuts along mesh dim " + std::to_string(m) + " of " +
                              args.mesh.to_string());
    const int64_t n = args.mesh.size(static_cast<int>(m)), block = (common + n - 1) / n;
    const int64_t start =
        std::min(own, args.mesh.coordinate(args.rank, static_cast<int>(m)) * block);
    offset += start;
    own = std::min(block, own - start);
    common = block;
  }
  Dims shape = from.shape;
  shape[at] = common;
  if (shape != to.shape || from.dtype != to.dtype)
    return bad_types(to_string(to) + " is no block of " + to_string(from) + " along dim " +
                     std::to_string(dim));
  const int64_t offset_bytes = own == 0 ? 0 : offset * from.strides[at] * dtype_size(from.dtype);
  return make_kernel<LocalSlice>(from, to, at, own, offset_bytes, args.inputs.size());
}

}  // namespace

extern const Kernel kLocalSlice;
constinit const Kernel kLocalSlice = {"local_slice", prepare};

}  // namespace shw::runtime::cpu
