// Einstein sums of two tensors as batched matrix products: mm and einsum.
//
// Each letter of the equation is a loop with a stride in each tensor. Letters fall into four
// classes: batch (in both operands and the result), rows (left operand and result), columns (right
// operand and result) and depth (not in the result). An operand is used in place if the letters of
// each class form one strided dim and one of these dims has no gaps. Otherwise it is first packed
// into the workspace. So most permuted views need no copy, and all others need one. These decisions
// are made when the step is prepared.
#pragma once
#include <string_view>

#include "runtime/cpu/kernel_args.h"

namespace shw::runtime::cpu {

// `equation` has two operands and an explicit result: "abk,kn->abn". A letter may repeat within an
// operand (this takes the diagonal), and may be missing from the result (the letter is summed).
// `vectors_alone`: do not use a matrix unit.
Prepared prepare_contraction(const KernelArgs& args, std::string_view equation,
                             bool vectors_alone = false);

}  // namespace shw::runtime::cpu
