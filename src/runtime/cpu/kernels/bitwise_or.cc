// bitwise_or: of integers or truth values, with broadcasting; either side may be a number.
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

struct Or {
  Int operator()(Int a, Int b) const { return {a.v | b.v}; }
};

Prepared prepare(const KernelArgs& args) { return prepare_binary(args, Or{}); }

}  // namespace

extern const Kernel kBitwiseOr;
constinit const Kernel kBitwiseOr = {"bitwise_or", prepare};

}  // namespace shw::runtime::cpu
