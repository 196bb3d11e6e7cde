// Shared by the matrix products.
#pragma once
#include "ops/families.h"

namespace shw::ops {

// Of operands `a` and `a` + 1: matrices, or batches of them with rank 3.
Results infer_product(const OpArgs& args, size_t a, int rank);
double product_flops(const OpArgs& args, size_t a);

// beta · operand 0 + alpha · product of operands 1 and 2, all of one dtype.
Results infer_biased_product(const OpArgs& args, int rank);

// Checks that operand `bias` broadcasts to the product.
Status want_bias(const OpArgs& args, size_t bias, const TensorType& product);
// The bias has the placement of the product; if the product is partial, so is the bias.
Placement bias_placement(const OpArgs& args, size_t bias, const TensorType& product, Placement p);
// The rules of the product of operands 1 and 2, extended to the bias, operand 0.
void biased_rules(const Equation& equation, const OpArgs& args, const TensorType& product,
                  RuleSet& rules);

}  // namespace shw::ops
