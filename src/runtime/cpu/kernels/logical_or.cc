// logical_or: whether at least one operand is nonzero, with broadcasting.
#include "runtime/cpu/comparison.h"

namespace shw::runtime::cpu {
namespace {

struct LogicalOr {
  template <class T>
  bool operator()(T a, T b) const {
    return a != 0 || b != 0;
  }
};

Prepared prepare(const KernelArgs& args) { return prepare_comparison<LogicalOr>(args); }

}  // namespace

extern const Kernel kLogicalOr;
constinit const Kernel kLogicalOr = {"logical_or", prepare};

}  // namespace shw::runtime::cpu
