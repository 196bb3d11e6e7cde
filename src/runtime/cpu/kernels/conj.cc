// conj: the complex conjugate; real numbers are unchanged.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Conj {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_same_v<T, Complex>)
      return {x.re, -x.im};
    else
      return x;
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_unary(args, Conj{}); }

}  // namespace

extern const Kernel kConj;
constinit const Kernel kConj = {"conj", prepare};

}  // namespace shw::runtime::cpu
