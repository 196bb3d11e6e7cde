// Einstein sums of two tensors as batched matrix products: mm and einsum.
//
// Each letter of the equation is a loop with a stride in each tensor. Letters fall into four
// classes: batch (in both operands and the result), rows (left operand and result), columns (right
// operand and result) and depth (not in the result). An operand whose letters of each class form
// one strided dim, one of them without gaps, goes into the product as it lies in memory; another
// one is packed into the workspace first. So permuted views cost nothing, and whatever cannot be
// expressed costs one copy. Everything is decided when the step is prepared.
#pragma once
#include <string_view>

#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

// `equation`: two operands, letters, an explicit result: "abk,kn->abn". A letter may repeat within
// an operand (its diagonal), and may be missing from the result (it is summed).
// `vectors_alone`: not on a matrix unit.
Prepared prepare_contraction(const KernelArgs& args, std::string_view equation,
                             bool vectors_alone = false);

}  // namespace shw::runtime::cpu
