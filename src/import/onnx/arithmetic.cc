#include "import/onnx/arithmetic.h"

#include <limits>
#include <map>

namespace shw::import::onnx {
namespace {

// a + b·factor
bool add_product(int64_t& a, int64_t b, int64_t factor) {
  int64_t scaled = 0;
  return !__builtin_mul_overflow(b, factor, &scaled) && !__builtin_add_overflow(a, scaled, &a);
}

}  // namespace

std::optional<Expr> sum(const Expr& a, const Expr& b, int64_t factor_of_b) {
  Expr out{a.constant, {}};
  std::map<uint32_t, int64_t> terms(a.terms.begin(), a.terms.end());
  bool fits = add_product(out.constant, b.constant, factor_of_b);
  for (const auto& [symbol, factor] : b.terms)
    fits = fits && add_product(terms[symbol], factor, factor_of_b);
  if (!fits) return std::nullopt;
  for (const auto& [symbol, factor] : terms)
    if (factor != 0) out.terms.emplace_back(symbol, factor);
  return out;
}

std::optional<Expr> product(const Expr& a, const Expr& b) {
  if (b.is_number()) return sum({}, a, b.constant);
  if (a.is_number()) return sum({}, b, a.constant);
  return std::nullopt;
}

std::optional<Expr> product(std::span<const Expr> factors) {
  std::optional<Expr> all = Expr{1, {}};
  for (const Expr& f : factors)
    if (all) all = product(*all, f);
  return all;
}

std::optional<Expr> quotient(const Expr& a, const Expr& b) {
  if (!b.is_number() || b.constant == 0 ||
      (b.constant == -1 && a.constant == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  if (a.is_number()) return Expr{a.constant / b.constant, {}};
  Expr out = a;
  if (b.constant < 0 || a.constant % b.constant != 0) return std::nullopt;
  out.constant /= b.constant;
  for (auto& [symbol, factor] : out.terms) {
    if (factor % b.constant != 0) return std::nullopt;
    factor /= b.constant;
  }
  return out;
}

}  // namespace shw::import::onnx
