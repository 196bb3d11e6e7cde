// pow_tensor: a to the power of b, with broadcasting. Of integers only ±1 have powers with negative
// exponents.
#include <cmath>
#include <concepts>

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct PowTensor {
  Int operator()(Int a, Int b) const {
    if (b.v < 0) return {a.v == 1 ? 1 : a.v == -1 ? (b.v % 2 == 0 ? 1 : -1) : 0};
    Int result{1};
    for (int64_t e = b.v; e > 0; e >>= 1) {
      if (e & 1) result = result * a;
      a = a * a;
    }
    return result;
  }
  template <std::floating_point T>
  T operator()(T a, T b) const {
    return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_binary(args, PowTensor{}); }

}  // namespace

extern const Kernel kPowTensor;
constinit const Kernel kPowTensor = {"pow_tensor", prepare};

}  // namespace shw::runtime::cpu
