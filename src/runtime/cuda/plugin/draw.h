// Random numbers and dropout (runtime/draw_shape.h), with the same bits as on the CPU.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_rand(const Context& context, const KernelArgs& args);
Prepared prepare_rand_like(const Context& context, const KernelArgs& args);
Prepared prepare_randn(const Context& context, const KernelArgs& args);
Prepared prepare_randn_like(const Context& context, const KernelArgs& args);
Prepared prepare_dropout(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda
