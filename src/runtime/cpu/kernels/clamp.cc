// clamp: attrs.min where x is less, attrs.max where it is more (max wins).
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Clamp {
  std::optional<Scalar> min, max;
  template <class T>
  requires(!std::is_same_v<T, Complex>) T operator()(T x) const {
    if (min) x = select_less(x, min->as<T>(), min->as<T>(), x);
    if (max) x = select_less(max->as<T>(), x, max->as<T>(), x);
    return x;
  }
};

std::optional<Scalar> limit(const KernelArgs& args, AttrKey key) {
  if (!args.attrs.has(key)) return std::nullopt;
  return scalar_attr(args.attrs, key, 0);
}

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  return prepare_unary(args, Clamp{limit(args, AttrKey::kMin), limit(args, AttrKey::kMax)});
}

}  // namespace

extern const Kernel kClamp;
constinit const Kernel kClamp = {"clamp", prepare};

}  // namespace shw::runtime::cpu
