// Elements that arrive at places in a tensor where others may already be: how the two become one.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

// Of a maximum or minimum NaN stays.
enum class Combine : uint8_t { kReplace, kAdd, kMultiply, kMax, kMin };

// Takes n elements of that dtype into `to`; steps in bytes. Null: complex numbers have no order.
using CombineRow = void (*)(Combine how, Dtype dtype, const std::byte* from, int64_t from_step,
                            int64_t n, std::byte* to, int64_t to_step);
CombineRow combine_row(Combine how, Dtype dtype);

// x, indices, src → x, which takes in the elements of src where the indices point along attrs.dim,
// in row-major order.
Prepared prepare_scatter(const KernelArgs& args, Combine how);

}  // namespace shw::runtime::cpu
