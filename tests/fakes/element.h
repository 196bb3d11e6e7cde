// Elements of tensors, as the fakes of libraries read and write them.
#pragma once
#include <complex>
#include <cstdint>

#include "tensor/dtype.h"

namespace shw::fakes {

// Of floating and complex types.
std::complex<double> element(const void* base, int64_t i, Dtype dtype);
// Of those that are wider than 8 bits.
void set_element(void* base, int64_t i, Dtype dtype, std::complex<double> value);

}  // namespace shw::fakes
