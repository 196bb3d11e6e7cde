#include "runtime/cpu/biased_product.h"

#include "runtime/cpu/chain.h"
#include "runtime/cpu/contraction.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct AddScaled {
  Scalar alpha, beta;
  template <class T>
  T operator()(T product, T bias) const {
    return alpha.as<T>() * product + beta.as<T>() * bias;
  }
};
struct Scale {
  Scalar alpha;
  template <class T>
  T operator()(T product) const {
    return alpha.as<T>() * product;
  }
};

}  // namespace

[[gnu::cold]] Prepared prepare_biased_product(const KernelArgs& args, std::string_view equation) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3));
  if (args.inputs.size() != 3) return bad_types("a biased product has three operands");
  const TensorType& out = *args.outputs[0];
  SHW_RETURN_IF_ERROR(check_size({out.numel()}));
  const TensorType wide = wide_type(out);
  auto chain = std::make_unique<Chain>(4);
  const size_t product = chain->temporary(wide.bytes());
  const TensorType* factors[] = {args.inputs[1], args.inputs[2]};
  const TensorType* sums[] = {&wide};
  SHW_RETURN_IF_ERROR(
      chain->add(prepare_contraction({factors, sums, args.attrs, args.mesh, args.rank}, equation),
                 {1, 2, product}));
  const Scalar alpha = scalar_attr(args.attrs, AttrKey::kAlpha, 1),
               beta = scalar_attr(args.attrs, AttrKey::kBeta, 1);
  const TensorType* both[] = {&wide, args.inputs[0]};
  const KernelArgs add{both, args.outputs, args.attrs, args.mesh, args.rank};
  if (beta.number == 0)
    SHW_RETURN_IF_ERROR(chain->add(prepare_pointwise(add, std::array<size_t, 1>{0}, Scale{alpha}),
                                   {product, 0, 3}));
  else
    SHW_RETURN_IF_ERROR(
        chain->add(prepare_pointwise(add, std::array<size_t, 2>{0, 1}, AddScaled{alpha, beta}),
                   {product, 0, 3}));
  return std::unique_ptr<HostKernel>(std::move(chain));
}

}  // namespace shw::runtime::cpu
