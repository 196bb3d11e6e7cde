// logical_not: whether x is zero.
#include "runtime/cpu/comparison.h"

namespace shw::runtime::cpu {
namespace {

struct IsZero {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};

Prepared prepare(const KernelArgs& args) {
  const KernelArgs& step = args;
  SHW_RETURN_IF_ERROR(expect_operands(step, 1));
  return prepare_pointwise(step, std::array<size_t, 1>{0}, WithRight<Compare<IsZero>>{{}, {}},
                           comparison_type(step));
}

}  // namespace

extern const Kernel kLogicalNot;
constinit const Kernel kLogicalNot = {"logical_not", prepare};

}  // namespace shw::runtime::cpu
