// Softmax, its logarithm, and their backward steps: one line at a time, with sums in f64.
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

enum class Softmax : uint8_t { kPlain, kLog };

// x → result.
Prepared prepare_softmax(const KernelArgs& args, Softmax kind);
// gradient, result of the forward op → gradient.
Prepared prepare_softmax_backward(const KernelArgs& args, Softmax kind);

}  // namespace shw::runtime::cpu
