// Checks of a step that every backend makes before it prepares a kernel.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>

#include "runtime/kernel.h"

namespace shw::runtime {

// Requires at least `inputs` inputs, the first `inputs` of them present, and exactly `outputs`
// outputs, because the workspace follows the outputs. `outputs` 0: the kernel checks the number
// itself, because outputs may be absent.
inline Status expect_operands(const KernelArgs& args, size_t inputs, size_t outputs = 1) {
  bool good = args.inputs.size() >= inputs && (outputs == 0 || args.outputs.size() == outputs);
  for (size_t i = 0; good && i < inputs; ++i) good = args.inputs[i] != nullptr;
  for (size_t i = 0; good && i < outputs; ++i) good = args.outputs[i] != nullptr;
  if (good) return {};
  return invalid_argument(
      "the step has " + std::to_string(args.inputs.size()) + " inputs and " +
      std::to_string(args.outputs.size()) +
      " outputs, some of which may be absent: its kernel needs at least " + std::to_string(inputs) +
      " inputs" + (outputs == 0 ? "" : " and exactly " + std::to_string(outputs) + " outputs") +
      ", all of them present");
}

// Limit on the sizes from which a workspace is computed. Windows with stride 0 can be far larger
// than any memory. Below this limit, products of a few sizes do not overflow, and the allocation
// reports what is too large.
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
