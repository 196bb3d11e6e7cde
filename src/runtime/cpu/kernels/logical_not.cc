// logical_not: whether x is zero.
#include <concepts>

#include "runtime/cpu/comparison.h"

namespace shw::runtime::cpu {
namespace {

struct LogicalNot {
  Int operator()(Int x) const { return {x.v == 0}; }
  template <std::floating_point T>
  T operator()(T x) const {
    return x == 0 ? T{1} : T{0};
  }
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  return prepare_unary(args, LogicalNot{}, comparison_type(args));
}

}  // namespace

extern const Kernel kLogicalNot;
constinit const Kernel kLogicalNot = {"logical_not", prepare};

}  // namespace shw::runtime::cpu
