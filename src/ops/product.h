// What the matrix products share.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// Of operands `a` and `a` + 1: matrices, or with rank 3 batches of them.
Results infer_product(const OpArgs& args, size_t a, int rank);
double product_flops(const OpArgs& args, size_t a);

// beta · operand 0 + alpha · the product of operands 1 and 2, all of one dtype.
Results infer_biased_product(const OpArgs& args, int rank);

// Operand `bias` broadcasts to the product.
Status want_bias(const OpArgs& args, size_t bias, const TensorType& product);
// Where the product lies so, the bias does: parts of a sum each have a part of the bias.
Placement bias_placement(const OpArgs& args, size_t bias, const TensorType& product, Placement p);
// Those of the product of operands 1 and 2, and of the bias, operand 0, with it.
void biased_rules(const Equation& equation, const OpArgs& args, const TensorType& product,
                  RuleSet& rules);

}  // namespace shw::ops
