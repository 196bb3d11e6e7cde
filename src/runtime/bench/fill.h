// Fills tensors for timing. The values are not zeros, which some machines multiply faster, and not
// so large or small that a model overflows.
#pragma once
#include "runtime/buffer.h"
#include "tensor/tensor_type.h"

namespace shw::runtime {

// Floating dtypes: values between -1/16 and 1/16. Integers: 0 to `bound` - 1; if `bound` is 0,
// zeros.
Status fill_with_numbers(Device& device, const Buffer& buffer, Dtype dtype, int64_t bound,
                         uint64_t seed);

}  // namespace shw::runtime
