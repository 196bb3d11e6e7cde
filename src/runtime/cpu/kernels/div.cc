// div: a/b, with broadcasting; either side may be a number. Real results only: the quotient of
// integers is a float.

#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Div {
  template <Real T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_binary(args, Div{}); }

}  // namespace

extern const Kernel kDiv;
constinit const Kernel kDiv = {"div", prepare};

}  // namespace shw::runtime::cpu
