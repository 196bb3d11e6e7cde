#include "runtime/cuda/plugin/padding.h"

#include "runtime/cuda/plugin/laid_kernel.h"
#include "runtime/nearest_number.h"
#include "runtime/padded_windows.h"

namespace shw::runtime::cuda {
namespace {

int64_t stride_bytes(const TensorType& type, size_t dim) {
  return type.strides[dim] * dtype_size(type.dtype);
}

}  // namespace

Prepared prepare_extend(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(check_extended(args));
  auto kernel = std::make_unique<LaidKernel>(args.inputs.size());
  kernel->lay(out, 0, Number{});
  kernel->lay({in.shape, out.strides, out.dtype}, 0, in, 0);
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

Prepared prepare_fill_padding(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const Dims own, own_elements(args));
  const NearestNumber nearest =
      nearest_number(number_attr(args.attrs, AttrKey::kFillValue, 0).real, out.dtype);
  auto kernel = std::make_unique<LaidKernel>(args.inputs.size());
  kernel->lay({own, out.strides, out.dtype}, 0, {own, in.strides, in.dtype}, 0);
  // For each dim, one box of padding: after the rank's own elements in this dim, and within them in
  // earlier dims.
  Dims box = out.shape;
  for (size_t d = 0; d < own.size(); ++d) {
    box[d] = out.shape[d] - own[d];
    kernel->lay({box, out.strides, out.dtype}, own[d] * stride_bytes(out, d),
                Number{nearest.real, nearest.integer});
    box[d] = own[d];
  }
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

Prepared prepare_pad(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const PaddedWindows windows, padded_windows(args));
  auto kernel = std::make_unique<LaidKernel>(args.inputs.size());
  kernel->lay(*args.outputs[0], 0, number_attr(args.attrs, AttrKey::kValue, 0));
  kernel->lay(windows.to, windows.to_bytes, windows.from, 0, windows.from_bytes);
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

Prepared prepare_flip(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const uint32_t turned, flipped_dims(args));
  TensorType from = *args.inputs[0];
  int64_t last_bytes = 0;  // where the reversed read begins
  for (size_t d = 0; d < from.shape.size(); ++d) {
    if (!(turned >> d & 1) || from.shape[d] == 0) continue;
    last_bytes += (from.shape[d] - 1) * stride_bytes(from, d);
    from.strides[d] = -from.strides[d];
  }
  auto kernel = std::make_unique<LaidKernel>(args.inputs.size());
  kernel->lay(*args.outputs[0], 0, from, 0, last_bytes);
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

Prepared prepare_repeat(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const Dims repeats, repeats_of(args));
  // Each dim becomes two: one for the copies, which all read the same elements, and one for the
  // elements of a copy.
  TensorType to{{}, {}, out.dtype}, from{{}, {}, in.dtype};
  const size_t added = out.shape.size() - in.shape.size();
  const auto walk = [&](int64_t size, int64_t to_stride, int64_t from_stride) {
    if (size == 1) return;
    to.shape.push_back(size);
    to.strides.push_back(to_stride);
    from.shape.push_back(size);
    from.strides.push_back(from_stride);
  };
  size_t rank = 0;
  for (size_t d = 0; d < out.shape.size(); ++d) {
    const int64_t own = d < added ? 1 : in.shape[d - added];
    rank += (repeats[d] != 1) + (own != 1);
  }
  if (rank > kMaxRank) return unimplemented("this repetition of many dims on CUDA");
  for (size_t d = 0; d < out.shape.size(); ++d) {
    const int64_t own = d < added ? 1 : in.shape[d - added];
    walk(repeats[d], own * out.strides[d], 0);
    walk(own, out.strides[d], d < added ? 0 : in.strides[d - added]);
  }
  auto kernel = std::make_unique<LaidKernel>(args.inputs.size());
  kernel->lay(to, 0, from, 0);
  return std::unique_ptr<PreparedKernel>(std::move(kernel));
}

}  // namespace shw::runtime::cuda
