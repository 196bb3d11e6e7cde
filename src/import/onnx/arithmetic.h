// Arithmetic on sizes that may contain symbols. nullopt: the result is not an affine expression, or
// it overflows.
#pragma once
#include <optional>
#include <span>

#include "tensor/symbols.h"

namespace shw::import::onnx {

std::optional<Expr> sum(const Expr& a, const Expr& b, int64_t factor_of_b = 1);
std::optional<Expr> product(const Expr& a, const Expr& b);
// Numbers: rounds towards zero. With symbols: only if the divisor divides every coefficient.
std::optional<Expr> quotient(const Expr& a, const Expr& b);
std::optional<Expr> product(std::span<const Expr> factors);

}  // namespace shw::import::onnx
