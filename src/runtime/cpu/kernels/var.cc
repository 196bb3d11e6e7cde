// var(x): the variance over attrs.dims (none: all dims): the sum of squared distances from the
// mean, divided by n − attrs.correction for n elements. Reduced dims stay with size 1 if
// attrs.keepdim. Computed in f64, in two passes.
#include <algorithm>

#include "runtime/cpu/odometer.h"
#include "runtime/cpu/pointwise.h"
#include "runtime/cpu/reduction.h"

namespace shw::runtime::cpu {
namespace {

class Var final : public HostKernel {
 public:
  Var(const ReducedDims& dims, Dtype in, Dtype out, double divisor, size_t output)
      : dims_(dims),
        divisor_(divisor),
        load_(load_row<double>(in)),
        store_(store_row<double>(out)),
        output_(output) {}
  Status compute(void* const* buffers) noexcept override {
    const auto* in = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for_each_offset(dims_.kept, std::array{dims_.kept_in, dims_.kept_out},
                    [&](const std::array<int64_t, 2>& at) {
                      const double mean = sum(in + at[0], 0, 1) / static_cast<double>(dims_.count);
                      const double var = sum(in + at[0], mean, 2) / divisor_;
                      store_(&var, 1, out + at[1], 0);
                    });
    return {};
  }

 private:
  // Sums (x − from)^power.
  double sum(const std::byte* in, double from, int power) const {
    double total = 0;
    for_each_offset(dims_.reduced, std::array{dims_.reduced_in},
                    [&](const std::array<int64_t, 1>& at) {
                      double x;
                      load_(in + at[0], 0, 1, &x);
                      x -= from;
                      total += power == 1 ? x : x * x;
                    });
    return total;
  }
  ReducedDims dims_;
  double divisor_;
  LoadRow<double> load_;
  StoreRow<double> store_;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const Dtype in = args.inputs[0]->dtype, out = args.outputs[0]->dtype;
  if (!is_floating(in) || !is_floating(out))
    return unimplemented("variance of " + to_string(*args.inputs[0]) + " to " +
                         to_string(*args.outputs[0]) +
                         ": only floating-point operands and results are supported");
  SHW_ASSIGN_OR_RETURN(const ReducedDims dims, reduced_dims(args));
  const double correction = scalar_attr(args.attrs, AttrKey::kCorrection, 1).number;
  const double divisor = std::max(0.0, static_cast<double>(dims.count) - correction);
  return make_kernel<Var>(dims, in, out, divisor, args.inputs.size());
}

}  // namespace

extern const Kernel kVar;
constinit const Kernel kVar = {"var", prepare};

}  // namespace shw::runtime::cpu
