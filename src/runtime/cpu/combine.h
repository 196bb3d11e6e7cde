// How an element that is written to a position is combined with the element that is already there.
// For kMax and kMin, NaN wins.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

// Of a maximum or minimum NaN stays.
enum class Combine : uint8_t { kReplace, kAdd, kMultiply, kMax, kMin };

// Combines n elements of the dtype into `to`; steps are in bytes. combine_row() returns null for
// kMax and kMin of complex numbers, which are not ordered.
using CombineRow = void (*)(Combine how, Dtype dtype, const std::byte* from, int64_t from_step,
                            int64_t n, std::byte* to, int64_t to_step);
CombineRow combine_row(Combine how, Dtype dtype);

// x, indices, src → x, into which the elements of src are combined at the positions that the
// indices give along attrs.dim, in row-major order.
Prepared prepare_scatter(const KernelArgs& args, Combine how);

}  // namespace shw::runtime::cpu
