// masked_fill(x, mask, value?): the value, or attrs.value, where the mask is true, else x; with
// broadcasting.
#include "runtime/cpu/where.h"

namespace shw::runtime::cpu {
namespace {

struct Fill {
  template <Known T>
  T operator()(T x, T mask, T value) const {
    return Where{}(mask, value, x);
  }
};
struct FillNumber {
  Scalar value;
  template <Known T>
  T operator()(T x, T mask) const {
    return Where{}(mask, value.as<T>(), x);
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  if (args.inputs[1]->dtype != Dtype::kBool)
    return bad_types("the mask is " + to_string(*args.inputs[1]));
  if (args.inputs.size() > 2 && args.inputs[2] != nullptr)
    return prepare_pointwise(args, std::array<size_t, 3>{0, 1, 2}, Fill{});
  return prepare_pointwise(args, std::array<size_t, 2>{0, 1},
                           FillNumber{scalar_attr(args.attrs, AttrKey::kValue, 0)});
}

}  // namespace

extern const Kernel kMaskedFill;
constinit const Kernel kMaskedFill = {"masked_fill", prepare};

}  // namespace shw::runtime::cpu
