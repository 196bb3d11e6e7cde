// fill_padding: a copy of a piece in which everything after the rank's own elements is
// attrs.fill_value. attrs.size and attrs.cuts determine the number of own elements.
#include <optional>
#include <vector>

#include "runtime/cpu/cast.h"
#include "runtime/cpu/fill.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/nearest_number.h"
#include "runtime/padded_windows.h"

namespace shw::runtime::cpu {
namespace {

class FillPadding final : public HostKernel {
 public:
  FillPadding(const TensorType& in, const TensorType& out, const Dims& own, double value,
              size_t output)
      : output_(output) {
    TensorType from = in, to = out;
    from.shape = to.shape = own;
    if (to.numel() > 0) copy_.emplace(to, from);
    const NearestNumber nearest = nearest_number(value, out.dtype);
    const auto element = element_of(out.dtype, {nearest.real, nearest.integer});
    // For each dim, one box of padding: after the rank's own elements in this dim, and within them
    // in earlier dims.
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
  SHW_ASSIGN_OR_RETURN(const Dims own, own_elements(args));
  const double value = scalar_attr(args.attrs, AttrKey::kFillValue, 0).number;
  return make_kernel<FillPadding>(in, out, own, value, args.inputs.size());
}

}  // namespace

extern const Kernel kFillPadding;
constinit const Kernel kFillPadding = {"fill_padding", prepare};

}  // namespace shw::runtime::cpu
