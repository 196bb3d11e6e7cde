// Reads and writes elements of tensors for the fakes of NVIDIA's libraries.
#pragma once
#include <complex>
#include <cstdint>

#include "tensor/dtype.h"

namespace shw::fakes {

// For floating-point and complex dtypes.
std::complex<double> element(const void* base, int64_t i, Dtype dtype);
// For floating-point and complex dtypes wider than 8 bits.
void set_element(void* base, int64_t i, Dtype dtype, std::complex<double> value);

}  // namespace shw::fakes
