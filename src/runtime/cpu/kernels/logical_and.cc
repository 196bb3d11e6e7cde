// logical_and: whether both operands are nonzero, with broadcasting.
#include "runtime/cpu/comparison.h"

namespace shw::runtime::cpu {
namespace {

struct LogicalAnd {
  template <class T>
  bool operator()(T a, T b) const {
    return a != 0 && b != 0;
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_comparison<LogicalAnd>(args); }

}  // namespace

extern const Kernel kLogicalAnd;
constinit const Kernel kLogicalAnd = {"logical_and", prepare};

}  // namespace shw::runtime::cpu
