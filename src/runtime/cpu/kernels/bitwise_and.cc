// bitwise_and: of integers or truth values, with broadcasting; either side may be a number.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct And {
  Int operator()(Int a, Int b) const { return {a.v & b.v}; }
};

Prepared prepare(const KernelArgs& args) { return prepare_binary(args, And{}); }

}  // namespace

extern const Kernel kBitwiseAnd;
constinit const Kernel kBitwiseAnd = {"bitwise_and", prepare};

}  // namespace shw::runtime::cpu
