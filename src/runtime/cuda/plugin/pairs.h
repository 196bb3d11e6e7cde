// Complex numbers that are pairs of f64: mul_pairs, conj_pairs.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_mul_pairs(const Context& context, const KernelArgs& args);
Prepared prepare_conj_pairs(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda
