#include "runtime/cpu/fill.h"

#include <array>

#include "runtime/cpu/pointwise.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

class Fill final : public HostKernel {
 public:
  Fill(const TensorType& out, std::array<std::byte, 16> value, size_t output)
      : value_(value),
        copy_(out.shape, dtype_size(out.dtype), out.strides, Dims(out.shape.size(), 0)),
        output_(output) {}
  Status compute(void* const* buffers) noexcept override {
    copy_.run(buffers[output_], value_.data());
    return {};
  }

 private:
  std::array<std::byte, 16> value_;  // one element
  StridedCopy copy_;
  size_t output_;
};

}  // namespace

Prepared prepare_fill(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 0));
  if (!args.attrs.has(AttrKey::kFillValue)) return invalid_argument("there is no fill_value");
  const TensorType& out = *args.outputs[0];
  const Scalar number = scalar_attr(args.attrs, AttrKey::kFillValue, 0);
  std::array<std::byte, 16> value{};
  with_compute_type(out.dtype, [&](auto t) {
    using T = decltype(t);
    const T x = number.as<T>();
    store_row<T>(out.dtype)(&x, 1, value.data(), 0);
  });
  return make_kernel<Fill>(out, value, args.inputs.size());
}

}  // namespace shw::runtime::cpu
