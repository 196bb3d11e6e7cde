// An Einstein sum of two tensors, decomposed into the dims of a batched matrix product.
//
// Each letter of the equation is a loop with a stride in each tensor. Letters fall into four
// classes: batch (in both operands and the result), rows (left operand and result), columns (right
// operand and result) and depth (not in the result).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/status.h"
#include "tensor/tensor_type.h"

namespace shw::runtime {

enum Operand : size_t { kLeft = 0, kRight = 1, kResult = 2 };

struct Letter {
  char name;
  int64_t size = 1;
  std::array<int64_t, 3> stride{};  // in elements, by Operand
  std::array<bool, 3> in{};
};
using Letters = std::vector<Letter>;

struct Equation {
  Letters batch, rows, columns, depth;
};

// `text` has two operands and an explicit result: "abk,kn->abn". A letter may repeat within an
// operand (this takes the diagonal), and may be missing from the result (the letter is summed).
Result<Equation> parse_equation(std::string_view text, const TensorType& left,
                                const TensorType& right, const TensorType& result);

// Puts the letter with the largest stride in `guide` first.
void sort_by(Letters& letters, Operand guide);
// The product of the letters' sizes; saturates.
int64_t extent(const Letters& letters);
// The stride of the letters of an operand if they can be walked as a single dim; -1 if they cannot.
// 0 for a single element.
int64_t joint_stride(const Letters& letters, Operand which);
// The type of an operand with the dims of these letters, in this order; dims of size 1 are left
// out.
TensorType letters_type(const std::array<const Letters*, 3>& groups, Operand which, Dtype dtype);
// The number of letters with a size other than 1.
size_t num_wide(const Equation& e);

}  // namespace shw::runtime
