// What every backend checks of a step before it prepares a kernel.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

#include "runtime/kernel.h"

namespace shw::runtime {

// At least `inputs` inputs, of which these are all there, and exactly `outputs` outputs: the
// workspace lies behind them. 0: the kernel counts its outputs itself, as they may be absent.
inline Status expect_operands(const KernelArgs& args, size_t inputs, size_t outputs = 1) {
  bool good = args.inputs.size() >= inputs && (outputs == 0 || args.outputs.size() == outputs);
  for (size_t i = 0; good && i < inputs; ++i) good = args.inputs[i] != nullptr;
  for (size_t i = 0; good && i < outputs; ++i) good = args.outputs[i] != nullptr;
  if (good) return {};
  return invalid_argument("the step has other operands than its kernel, which takes " +
                          std::to_string(inputs) + " or more and makes " + std::to_string(outputs));
}

// Sizes that a workspace is computed from. Windows with stride 0 can be far larger than any memory;
// below this limit no size computed from a few of them overflows, and allocation says the rest.
inline constexpr int64_t kMaxElements = int64_t{1} << 40;
inline Status check_size(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (int64_t f : factors)
    if (__builtin_mul_overflow(product, f, &product) || product > kMaxElements)
      return Status(Code::kResourceExhausted,
                    "the step needs a workspace of more than 2^40 elements");
  return {};
}

inline Status bad_types(const std::string& why) {
  return invalid_argument("the operands do not fit: " + why);
}

}  // namespace shw::runtime
