// fill_padding: a copy of a piece in which what lies behind the rank's own elements is
// attrs.fill_value. attrs.size and attrs.cuts say how many elements are its own.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/fill.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/piece.h"

namespace shw::runtime::cpu {
namespace {

// The nearest number that the dtype has, where it has limits: what is neutral to a maximum or
// minimum is infinite.
Scalar in_range(double value, Dtype dtype) {
  const auto bits = static_cast<int>(8 * dtype_size(dtype));
  double low = 0, high = 1;
  if (dtype != Dtype::kBool) {
    if (is_floating(dtype) || is_complex(dtype)) return {value, 0};
    const bool is_signed = dtype != Dtype::kU8;
    high = std::ldexp(1.0, is_signed ? bits - 1 : bits);
    low = is_signed ? -high : 0;
    if (value >= high)
      return {high, is_signed ? static_cast<int64_t>(~uint64_t{0} >> (65 - bits)) : 255};
  }
  const double bounded = std::clamp(value, low, high);
  return {bounded, static_cast<int64_t>(bounded)};
}

class FillPadding final : public HostKernel {
 public:
  FillPadding(const TensorType& in, const TensorType& out, const Dims& own, double value,
              size_t output)
      : output_(output) {
    TensorType from = in, to = out;
    from.shape = to.shape = own;
    if (to.numel() > 0) copy_.emplace(to, from);
    const auto element = element_of(out.dtype, in_range(value, out.dtype));
    // One box for each dim: behind the rank's own elements there, within them in the dims before.
    Dims box = out.shape;
    for (size_t d = 0; d < own.size(); ++d) {
      box[d] = out.shape[d] - own[d];
      const TensorType window{box, out.strides, out.dtype};
      if (window.numel() > 0)
        boxes_.push_back(
            {own[d] * out.strides[d] * dtype_size(out.dtype), StridedFill(window, element)});
      box[d] = own[d];
    }
  }
  Status compute(void* const* buffers) noexcept override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    if (copy_) copy_->run(out, buffers[0]);
    for (const Box& b : boxes_) b.fill.run(out + b.offset_bytes);
    return {};
  }

 private:
  struct Box {
    int64_t offset_bytes;
    StridedFill fill;
  };
  std::optional<StridedCast> copy_;
  std::vector<Box> boxes_;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const Piece piece, piece_of(args.attrs, args.mesh, args.rank));
  bool fits =
      in.shape == out.shape && in.dtype == out.dtype && piece.size.size() == out.shape.size();
  for (size_t d = 0; fits && d < out.shape.size(); ++d) fits = piece.size[d] <= out.shape[d];
  if (!fits)
    return bad_types(to_string(in) + " is no piece of that tensor, or not " + to_string(out));
  const double value = scalar_attr(args.attrs, AttrKey::kFillValue, 0).number;
  return make_kernel<FillPadding>(in, out, piece.size, value, args.inputs.size());
}

}  // namespace

extern const Kernel kFillPadding;
constinit const Kernel kFillPadding = {"fill_padding", prepare};

}  // namespace shw::runtime::cpu
