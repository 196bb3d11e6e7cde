// A kernel that fills a tensor with one number, and the conversion of the number to a dtype.
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/pointwise.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {

StridedFill::Element element_of(Dtype dtype, const Scalar& number);

// Fills with attrs.fill_value, in the result's dtype.
Prepared prepare_fill(const KernelArgs& args);

}  // namespace shw::runtime::cpu
