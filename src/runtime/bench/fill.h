// Numbers to time kernels on: neither zeros, which some machines multiply faster, nor so large or
// small that a model overflows.
#pragma once
#include "runtime/buffer.h"
#include "tensor/tensor_type.h"

namespace shw::runtime {

// Of a floating dtype: between -1/16 and 1/16. Of integers: from 0 to `bound` - 1; `bound` 0:
// zeros.
Status fill_with_numbers(Device& device, const Buffer& buffer, Dtype dtype, int64_t bound,
                         uint64_t seed);

}  // namespace shw::runtime
