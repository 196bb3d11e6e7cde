// local_slice: this rank's block of a tensor (local_block.h).
#include <optional>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/local_block.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

class LocalSlice final : public HostKernel {
 public:
  // `own`: number of elements of dim `dim` without padding, from `offset_bytes` on.
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

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &from = *args.inputs[0], &to = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const LocalBlock block, local_block(args));
  const int64_t offset_bytes =
      block.own == 0 ? 0 : block.offset * from.strides[block.dim] * dtype_size(from.dtype);
  return make_kernel<LocalSlice>(from, to, block.dim, block.own, offset_bytes, args.inputs.size());
}

}  // namespace

extern const Kernel kLocalSlice;
constinit const Kernel kLocalSlice = {"local_slice", prepare};

}  // namespace shw::runtime::cpu
