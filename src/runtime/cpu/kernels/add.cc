// add: a + alpha·b, with broadcasting; either side may be a number.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Add {
  Scalar alpha;
  template <class T>
  T operator()(T a, T b) const {
    return a + alpha.as<T>() * b;
  }
};
struct PlainAdd {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  const Scalar alpha = scalar_attr(args.attrs, AttrKey::kAlpha, 1);
  return alpha.number == 1 ? prepare_binary(args, PlainAdd{}) : prepare_binary(args, Add{alpha});
}

}  // namespace

extern const Kernel kAdd;
constinit const Kernel kAdd = {"add", prepare};

}  // namespace shw::runtime::cpu
