// cumsum: running sums along attrs.dim; reals in f64, integers in int64.
#include "runtime/cpu/running.h"

namespace shw::runtime::cpu {
namespace {

struct Join {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

}  // namespace

extern const Kernel kCumsum;
constinit const Kernel kCumsum = {"cumsum", prepare_running<Join>};

}  // namespace shw::runtime::cpu
