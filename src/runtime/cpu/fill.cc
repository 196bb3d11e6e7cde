#include "runtime/cpu/fill.h"

namespace shw::runtime::cpu {
namespace {

class Fill final : public HostKernel {
 public:
  Fill(const TensorType& out, const StridedFill::Element& element, size_t output)
      : fill_(out, element), output_(output) {}
  Status compute(void* const* buffers) noexcept override {
    fill_.run(buffers[output_]);
    return {};
  }

 private:
  StridedFill fill_;
  size_t output_;
};

}  // namespace

StridedFill::Element element_of(Dtype dtype, const Scalar& number) {
  StridedFill::Element element{};
  with_compute_type(dtype, [&](auto t) {
    using T = decltype(t);
    const T x = number.as<T>();
    store_row<T>(dtype)(&x, 1, element.data(), 0);
  });
  return element;
}

[[gnu::cold]] Prepared prepare_fill(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 0));
  if (!args.attrs.has(AttrKey::kFillValue)) return invalid_argument("there is no fill_value");
  const TensorType& out = *args.outputs[0];
  const auto element = element_of(out.dtype, scalar_attr(args.attrs, AttrKey::kFillValue, 0));
  return make_kernel<Fill>(out, element, args.inputs.size());
}

}  // namespace shw::runtime::cpu
