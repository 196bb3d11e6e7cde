// Functions of single elements, and operations that fill tensors.
#include <cmath>

#include "import/decompose.h"

namespace shw::import::decompose {
namespace {

bool makes_reals(const Expansion& e) {
  return e.results()[0].has_value() && is_floating(e.results()[0]->dtype);
}

int64_t length_of_result(const Expansion& e) {
  return e.results()[0].has_value() ? e.results()[0]->numel() : 0;
}

}  // namespace

std::string_view arange(Expansion& e) {
  e.bind_int("n", length_of_result(e));
  if (!e.has("start")) e.bind_int("start", 0);
  if (!e.has("step")) e.bind_int("step", 1);
  return makes_reals(e) ? "add(mul(convert_element_type(iota(n), f64), step), start)"
                        : "iota(n, start, step)";
}

std::string_view linspace(Expansion& e) {
  const int64_t n = length_of_result(e);
  const double first = e.get_number("start", 0), last = e.get_number("end", 0);
  e.bind_int("n", n);
  e.bind_number("step", n > 1 ? (last - first) / static_cast<double>(n - 1) : 0);
  return "add(mul(convert_element_type(iota(n), f64), step), start)";
}

std::string_view randint(Expansion& e) {
  const double low = e.get_number("low", 0);
  e.bind_number("low", low);
  e.bind_number("span", e.get_number("high", 0) - low);
  return "floor(add(mul(rand(size, dtype=f64), span), low))";
}

std::string_view randperm(Expansion&) { return "sort(rand([n])).1"; }

std::string_view bernoulli(Expansion& e) {
  return e.has("p") ? "lt(rand_like(self), p)" : "lt(rand_like(self), self)";
}

std::string_view clamp(Expansion& e) {
  return !e.has("max")   ? "maximum(self, min)"
         : !e.has("min") ? "minimum(self, max)"
                         : "minimum(maximum(self, min), max)";
}

std::string_view copy(Expansion& e) {
  return e.type("self").shape == e.type("src").shape ? "alias(src)"
                                                     : "clone(expand(src, sizes(self)))";
}

std::string_view div(Expansion& e) {
  const std::string mode = e.get_string("rounding_mode");
  if (mode.empty()) return "div(self, other)";
  if (mode == "floor") return "floor_divide(self, other)";
  if (makes_reals(e)) return "q = div(self, other); where(lt(q, 0), ceil(q), floor(q))";
  // Add 1 if the quotient is negative and not exact.
  return "q = floor_divide(self, other); "
         "add(q, logical_and(lt(q, 0), ne(remainder(self, other), 0)))";
}

std::string_view fmod(Expansion& e) {
  if (const double other = e.get_number("other", 0); std::signbit(other)) {
    if (const int64_t whole = e.get_int("other", 0); whole != 0)
      e.bind_int("other", -whole);
    else
      e.bind_number("other", -other);
  }
  return "r = remainder(abs(self), other); where(lt(self, 0), neg(r), r)";
}

std::string_view elu_backward(Expansion& e) {
  const double scaled = e.get_number("alpha", 1) * e.get_number("scale", 1);
  e.bind_number("a", scaled);
  e.bind_number("b", scaled * e.get_number("input_scale", 1));
  return e.get_bool("is_result", false)
             ? "where(le(self_or_result, 0), mul(mul(grad_output, input_scale), "
               "add(self_or_result, a)), mul(grad_output, scale))"
             : "where(le(self_or_result, 0), mul(mul(grad_output, b), "
               "exp(mul(self_or_result, input_scale))), mul(grad_output, scale))";
}

std::string_view logit(Expansion& e) {
  if (e.has("eps")) {
    e.bind_number("most", 1 - e.get_number("eps", 0));
    e.run("self = clamp(self, eps, most); self");
  }
  return "log(div(self, sub(1, self)))";
}

std::string_view nan_to_num(Expansion& e) {
  if (!makes_reals(e)) {
    return "alias(self)";
  }
  double most = 3.4028234663852886e38;
  if (e.type("self").dtype == Dtype::kF64) most = 1.7976931348623157e308;
  if (e.type("self").dtype == Dtype::kF16) most = 65504;
  if (e.type("self").dtype == Dtype::kBF16) most = 3.3895313892515355e38;
  e.bind_number("nan", e.get_number("nan", 0));
  e.bind_number("most", e.get_number("posinf", most));
  e.bind_number("least", e.get_number("neginf", -most));
  return "a = masked_fill(self, ne(self, self), nan); b = masked_fill(a, eq(a, inf), most); "
         "masked_fill(b, eq(b, -inf), least)";
}

std::string_view vector_norm(Expansion& e) {
  const double ord = e.get_number("ord", 2);
  if (e.has("dtype")) e.run("self = convert_element_type(self, dtype); self");
  if (!e.has("dim")) e.bind_ints("dim", {});
  e.bind_number("inverse", 1 / ord);
  if (ord == 0) return "sum(ne(self, 0), dim, keepdim)";
  if (ord == 1) return "sum(abs(self), dim, keepdim)";
  if (ord == 2) return "sqrt(sum(mul(self, self), dim, keepdim))";
  if (std::isinf(ord))
    return ord > 0 ? "amax(abs(self), dim, keepdim)" : "amin(abs(self), dim, keepdim)";
  return "pow(sum(pow(abs(self), ord), dim, keepdim), inverse)";
}

}  // namespace shw::import::decompose
