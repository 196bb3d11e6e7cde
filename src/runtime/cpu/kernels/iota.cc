// iota (runtime/iota_shape.h).
#include "runtime/cpu/pointwise.h"
#include "runtime/iota_shape.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class Iota final : public HostKernel {
 public:
  Iota(const TensorType& out, Scalar start, Scalar step, size_t output)
      : count_(out.shape[0]),
        stride_(out.strides[0] * dtype_size(out.dtype)),
        start_(start),
        step_(step),
        store_(store_row<T>(out.dtype)),
        output_(output) {}
  Status compute(void* const* buffers) noexcept override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for (int64_t i = 0; i < count_; ++i) {
      T x;
      if constexpr (std::is_same_v<T, Int>)
        x = start_.as<Int>() + step_.as<Int>() * Int{i};
      else  // computed in f64: 2^24 and more are exact
        x = static_cast<T>(start_.number + step_.number * static_cast<double>(i));
      store_(&x, 1, out + i * stride_, 0);
    }
    return {};
  }

 private:
  int64_t count_, stride_;
  Scalar start_, step_;
  StoreRow<T> store_;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(check_iota(args));
  const TensorType& out = *args.outputs[0];
  const Scalar start = scalar_attr(args.attrs, AttrKey::kStart, 0),
               step = scalar_attr(args.attrs, AttrKey::kStep, 1);
  return with_compute_type(out.dtype, [&](auto t) -> Prepared {
    using T = decltype(t);
    if constexpr (std::is_same_v<T, Complex>)
      return bad_types("no complex numbers in a row");
    else
      return make_kernel<Iota<T>>(out, start, step, args.inputs.size());
  });
}

}  // namespace

extern const Kernel kIota;
constinit const Kernel kIota = {"iota", prepare};

}  // namespace shw::runtime::cpu
