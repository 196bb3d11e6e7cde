// scaled_mm(a, b, scale_a, scale_b, bias?): (a×b)·scale_a·scale_b + bias; a and b are multiplied as
// f32.
#include "runtime/cpu/chain.h"
#include "runtime/cpu/contraction.h"
#include "runtime/cpu/pointwise.h"
#include "runtime/wide_type.h"

namespace shw::runtime::cpu {
namespace {

struct Multiply {
  template <class T>
  T operator()(T x, T a, T b) const {
    return x * a * b;
  }
};
struct Add {
  template <class T>
  T operator()(T x, T y) const {
    return x + y;
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const TensorType wide, scaled_product_type(args));
  const TensorType* bias = args.inputs.size() > 4 ? args.inputs[4] : nullptr;
  const size_t result = args.inputs.size();
  auto chain = std::make_unique<Chain>(result + 1);
  const size_t product = chain->temporary(wide.bytes()), scaled = chain->temporary(wide.bytes());
  const auto with = [&](std::span<const TensorType* const> in,
                        std::span<const TensorType* const> to) {
    return KernelArgs{in, to, args.attrs, args.mesh, args.rank};
  };
  const TensorType* factors[] = {args.inputs[0], args.inputs[1]};
  const TensorType* to_wide[] = {&wide};
  SHW_RETURN_IF_ERROR(
      chain->add(prepare_contraction(with(factors, to_wide), "mk,kn->mn"), {0, 1, product}));
  const TensorType* scales[] = {&wide, args.inputs[2], args.inputs[3]};
  const std::array<size_t, 3> all{0, 1, 2};
  if (bias == nullptr) {
    SHW_RETURN_IF_ERROR(chain->add(prepare_pointwise(with(scales, args.outputs), all, Multiply{}),
                                   {product, 2, 3, result}));
    return std::unique_ptr<HostKernel>(std::move(chain));
  }
  SHW_RETURN_IF_ERROR(chain->add(prepare_pointwise(with(scales, to_wide), all, Multiply{}),
                                 {product, 2, 3, scaled}));
  const TensorType* both[] = {&wide, bias};
  SHW_RETURN_IF_ERROR(
      chain->add(prepare_pointwise(with(both, args.outputs), std::array<size_t, 2>{0, 1}, Add{}),
                 {scaled, 4, result}));
  return std::unique_ptr<HostKernel>(std::move(chain));
}

}  // namespace

extern const Kernel kScaledMm;
constinit const Kernel kScaledMm = {"scaled_mm", prepare};

}  // namespace shw::runtime::cpu
