// Matrices of which one side of a diagonal is zero: tril and triu.
#pragma once
#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

enum class Triangle : uint8_t { kLower, kUpper };
// Attribute `diagonal` counts in the whole; `size` and `cuts` tell where a piece of it lies.
Prepared prepare_triangle(const KernelArgs& args, Triangle triangle);

}  // namespace shw::runtime::cpu
