// sub: a - alpha·b, with broadcasting; either side may be a number.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Sub {
  Scalar alpha;
  template <class T>
  T operator()(T a, T b) const {
    return a - alpha.as<T>() * b;
  }
};
struct PlainSub {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  const Scalar alpha = scalar_attr(args.attrs, AttrKey::kAlpha, 1);
  return alpha.number == 1 ? prepare_binary(args, PlainSub{}) : prepare_binary(args, Sub{alpha});
}

}  // namespace

extern const Kernel kSub;
constinit const Kernel kSub = {"sub", prepare};

}  // namespace shw::runtime::cpu
