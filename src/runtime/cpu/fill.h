// A kernel that writes one number everywhere, and a number as an element.
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/pointwise.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {

StridedFill::Element element_of(Dtype dtype, const Scalar& number);

// attrs.fill_value, in the dtype of the result.
Prepared prepare_fill(const KernelArgs& args);

}  // namespace shw::runtime::cpu
