// Copies that move elements to other positions, and fill with numbers around them: extend,
// fill_padding, constant_pad_nd, flip, repeat.
#pragma once
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Prepared prepare_extend(const Context& context, const KernelArgs& args);
Prepared prepare_fill_padding(const Context& context, const KernelArgs& args);
Prepared prepare_pad(const Context& context, const KernelArgs& args);
Prepared prepare_flip(const Context& context, const KernelArgs& args);
Prepared prepare_repeat(const Context& context, const KernelArgs& args);

}  // namespace shw::runtime::cuda
