// pow: x to the power of the number attrs.exponent. Small exponents use multiplications, as in
// ATen.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Square {
  template <class T>
  T operator()(T x) const {
    return x * x;
  }
};
struct Cube {
  template <class T>
  T operator()(T x) const {
    return x * x * x;
  }
};
struct Sqrt {
  template <Real T>
  T operator()(T x) const {
    using std::sqrt;
    return sqrt(x);
  }
};
struct Rsqrt {
  template <Real T>
  T operator()(T x) const {
    using std::sqrt;
    return T{1} / sqrt(x);
  }
};
struct Reciprocal {
  template <Real T>
  T operator()(T x) const {
    return T{1} / x;
  }
};
struct Power {
  Scalar exponent;
  template <std::floating_point T>
  T operator()(T x) const {
    return static_cast<T>(std::pow(static_cast<double>(x), exponent.number));
  }
};
struct IntegerPower {
  int64_t exponent;
  Int operator()(Int x) const {
    Int result{1};
    for (int64_t e = exponent; e > 0; e >>= 1) {
      if (e & 1) result = result * x;
      x = x * x;
    }
    return result;
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  if (!args.attrs.has(AttrKey::kExponent)) return invalid_argument("pow has no number as exponent");
  const Scalar exponent = scalar_attr(args.attrs, AttrKey::kExponent, 1);
  const double e = exponent.number;
  if (e == 2) return prepare_unary(args, Square{});
  if (e == 3) return prepare_unary(args, Cube{});
  if (with_compute_type(args.outputs[0]->dtype,
                        [](auto t) { return std::is_same_v<decltype(t), Int>; })) {
    if (e < 0 || e != static_cast<double>(exponent.integer))
      return bad_types("an integer power of integers has a whole exponent ≥ 0");
    return prepare_unary(args, IntegerPower{exponent.integer});
  }
  if (e == 0.5) return prepare_unary(args, Sqrt{});
  if (e == -0.5) return prepare_unary(args, Rsqrt{});
  if (e == -1) return prepare_unary(args, Reciprocal{});
  return prepare_unary(args, Power{exponent});
}

}  // namespace

extern const Kernel kPow;
constinit const Kernel kPow = {"pow", prepare};

}  // namespace shw::runtime::cpu
