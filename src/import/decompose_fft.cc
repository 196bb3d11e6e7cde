// Fourier transforms as products with matrices of sines and cosines. The results are correct, but
// long dims are expensive; the plan's cost shows that.
#include <cmath>

#include "import/decompose.h"

namespace shw::import::decompose {
namespace {

constexpr double kTwoPi = 6.283185307179586;

// "c", "s": cosines and sines of 2π·j·k/n for j < rows, k < n. The product j·k is reduced modulo n
// before it becomes a real number, so that long dims lose no digits.
void matrices(Expansion& e, int64_t rows, int64_t n) {
  e.bind_int("m", rows);
  e.bind_int("n", n);
  e.bind_number("w", kTwoPi / static_cast<double>(n));
  e.run(
      "a = mul(convert_element_type(remainder(mul(view(iota(m), [m, 1]), iota(n)), n), f64), w); "
      "c = convert_element_type(cos(a), f32); s = convert_element_type(sin(a), f32); s");
}

// "re" and "im" along dim "d".
void transform(Expansion& e, bool forward) {
  e.run("n = size(re, d); n");
  matrices(e, e.get_int("n", 1), e.get_int("n", 1));
  e.run("u = transpose(re, d, -1); x = view(u, [-1, n]); x");
  if (!e.has("im")) {
    e.run(
        "re = transpose(view(mm(x, c), sizes(u)), d, -1); "
        "im = transpose(view(neg(mm(x, s)), sizes(u)), d, -1); im");
    return;
  }
  if (!forward) e.run("s = neg(s); s");
  e.run(
      "y = view(transpose(im, d, -1), [-1, n]); "
      "re = transpose(view(add(mm(x, c), mm(y, s)), sizes(u)), d, -1); "
      "im = transpose(view(sub(mm(y, c), mm(x, s)), sizes(u)), d, -1); im");
}

// "scale": the factor of the results of transforms with that many elements in total.
void normalise(Expansion& e, double elements) {
  const int64_t how = e.get_int("normalization", 0);
  e.bind_number("scale", how == 0 ? 1 : how == 1 ? 1 / std::sqrt(elements) : 1 / elements);
}

Dims dims_of(Expansion& e) {
  Dims dims = e.get_ints("dim");
  const int rank = e.type("self").rank();
  bool fits = !dims.empty();
  for (int64_t& d : dims) {
    d += d < 0 ? rank : 0;
    fits = fits && d >= 0 && d < rank;
  }
  if (!fits) e.refuse("the dims of the transform are none of the tensor");
  return fits ? dims : Dims();
}

constexpr std::string_view kPair = "view_as_complex(stack([mul(re, scale), mul(im, scale)], -1))";
constexpr std::string_view kSplit =
    "p = view_as_real(self); re = select(p, -1, 0); im = select(p, -1, 1); im";

}  // namespace

std::string_view fft_c2c(Expansion& e) {
  const Dims dims = dims_of(e);
  e.run(kSplit);
  double elements = 1;
  for (int64_t d : dims) {
    e.bind_int("d", d);
    transform(e, e.get_bool("forward", true));
    elements *= static_cast<double>(e.get_int("n", 1));
  }
  normalise(e, elements);
  return kPair;
}

std::string_view fft_r2c(Expansion& e) {
  const Dims dims = dims_of(e);
  e.run("re = self; re");
  double elements = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    e.bind_int("d", dims[i]);
    transform(e, true);
    const int64_t n = e.get_int("n", 1);
    elements *= static_cast<double>(n);
    if (i + 1 != dims.size() || !e.get_bool("onesided", true)) continue;
    e.bind_int("some", n / 2 + 1);
    e.run("re = slice(re, d, 0, some); im = slice(im, d, 0, some); im");
  }
  normalise(e, elements);
  return kPair;
}

std::string_view fft_c2r(Expansion& e) {
  const Dims dims = dims_of(e);
  if (dims.empty()) return {};
  e.run(kSplit);
  const int64_t n = e.get_int("last_dim_size", 1);
  double elements = static_cast<double>(n);
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    e.bind_int("d", dims[i]);
    transform(e, false);
    elements *= static_cast<double>(e.get_int("n", 1));
  }
  e.bind_int("d", dims.back());
  matrices(e, n / 2 + 1, n);
  normalise(e, elements);
  Dims shape = e.type("self").shape;
  shape[static_cast<size_t>(dims.back())] = shape.back();
  shape[shape.size() - 1] = n;
  e.bind_ints("shape", shape);
  // The other half is the conjugate of the given one, so all elements but the ends count twice.
  return "k = view(iota(m), [m, 1]); h = sub(sub(2, convert_element_type(eq(k, 0), f32)), "
         "convert_element_type(eq(mul(k, 2), n), f32)); t = mul(h, scale); "
         "u = transpose(re, d, -1); v = transpose(im, d, -1); "
         "y = sub(mm(view(u, [-1, m]), mul(c, t)), mm(view(v, [-1, m]), mul(s, t))); "
         "transpose(view(y, shape), d, -1)";
}

}  // namespace shw::import::decompose
