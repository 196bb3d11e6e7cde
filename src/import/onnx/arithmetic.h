// Calculations with sizes that may hold symbols. nullopt: the result is no affine expression, or
// overflows.
#pragma once
#include <optional>
#include <span>

#include "tensor/symbols.h"

namespace shw::import::onnx {

std::optional<Expr> sum(const Expr& a, const Expr& b, int64_t factor_of_b = 1);
std::optional<Expr> product(const Expr& a, const Expr& b);
// Towards zero for numbers; with symbols, where the divisor divides every factor.
std::optional<Expr> quotient(const Expr& a, const Expr& b);
std::optional<Expr> product(std::span<const Expr> factors);

}  // namespace shw::import::onnx
