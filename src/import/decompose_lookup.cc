// Sums and extremes of elements that integers assign to bags, bins and positions.
#include <limits>

#include "import/decompose.h"

namespace shw::import::decompose {
namespace {

// "bag": the bag of each index; "one": the weight of each index in the size of its bag; "count":
// the sizes of the bags.
void find_bags(Expansion& e) {
  const int64_t n = e.type("indices").numel();
  const int64_t bags = e.type("offsets").numel() - e.get_bool("include_last_offset", false);
  e.bind_int("n", n);
  e.bind_int("more", n + 1);
  e.bind_int("bags", bags);
  e.run(
      "o = slice(offsets, 0, 0, bags); s = scatter_add(full([more], 0, dtype=i64), 0, o, "
      "full([bags], 1, dtype=i64)); bag = sub(cumsum(slice(s, 0, 0, n), 0), 1); "
      "one = convert_element_type(ne(indices, padding_idx), i64); "
      "count = index_put(full([bags], 0, dtype=i64), one, [bag], accumulate=true); count");
}

void check_mode(Expansion& e) {
  if (e.get_int("mode", 0) > 1) e.refuse("embedding bags with mode 'max' are not supported");
  if (e.get_bool("sparse", false)) e.refuse("sparse gradients are not supported: set sparse=False");
}

}  // namespace

std::string_view embedding_bag(Expansion& e) {
  check_mode(e);
  find_bags(e);
  e.run("x = embedding(weight, indices); x");
  if (e.get_int("padding_idx", -1) >= 0)
    e.run("x = masked_fill(x, unsqueeze(eq(indices, padding_idx), 1), 0); x");
  if (e.has("per_sample_weights")) e.run("x = mul(x, unsqueeze(per_sample_weights, 1)); x");
  e.run(
      "y = index_put(full([bags, size(weight, 1)], 0, dtype=dtype(weight)), x, [bag], "
      "accumulate=true); y");
  return e.get_int("mode", 0) == 1 ? "(div(y, unsqueeze(clamp(count, 1), 1)), bag, count, none)"
                                   : "(y, bag, count, none)";
}

std::string_view embedding_bag_backward(Expansion& e) {
  check_mode(e);
  find_bags(e);
  if (e.get_int("mode", 0) == 1) e.run("grad = div(grad, unsqueeze(clamp(count, 1), 1)); grad");
  e.run("g = index(grad, [bag]); g");
  if (e.has("per_sample_weights")) e.run("g = mul(g, unsqueeze(per_sample_weights, 1)); g");
  return "embedding_dense_backward(g, indices, num_weights, padding_idx, scale_grad_by_freq)";
}

std::string_view scatter_reduce(Expansion& e) {
  const std::string how = e.get_string("reduce");
  const bool with_self = e.get_bool("include_self", true);
  if (!with_self) {  // the first element to arrive replaces the old value
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (is_floating(e.type("self").dtype) || how == "sum" || how == "mean" || how == "prod")
      e.bind_number("neutral", how == "amax"   ? -kInfinity
                               : how == "amin" ? kInfinity
                                               : static_cast<double>(how == "prod"));
    else
      return e.refuse("an extreme of integers with include_self=False is not supported");
    e.run("was = self; self = scatter(self, dim, index, neutral); self");
  }
  if (how == "sum") return "scatter_add(self, dim, index, src)";
  if (how != "mean") return "scatter_reduce(self, dim, index, src, reduce)";
  e.run("c = full_like(self, 1); c");
  if (!with_self) e.run("c = scatter(c, dim, index, 0); c");
  e.run(
      "c = scatter_add(c, dim, index, full_like(src, 1)); "
      "s = scatter_add(self, dim, index, src); s");
  return is_floating(e.type("self").dtype) ? "div(s, c)" : "floor_divide(s, c)";
}

std::string_view histc(Expansion& e) {
  const double least = e.get_number("min", 0), most = e.get_number("max", 0);
  if (!(least < most))
    return e.refuse("a histogram whose range is that of the values: give min and max");
  e.bind_number("span", most - least);
  e.bind_int("last", e.get_int("bins", 100) - 1);
  if (!is_floating(e.type("self").dtype)) e.run("self = convert_element_type(self, f64); self");
  return "x = view(self, [-1]); here = logical_and(ge(x, min), le(x, max)); "
         "p = clamp(floor(div(mul(sub(x, min), bins), span)), 0, last); "
         "i = convert_element_type(masked_fill(p, logical_not(here), 0), i64); "
         "scatter_add(full([bins], 0, dtype=i64), 0, i, convert_element_type(here, i64))";
}

std::string_view bucketize(Expansion& e) {
  return e.get_bool("right", false) ? "sum(le(boundaries, unsqueeze(self, -1)), [-1])"
                                    : "sum(lt(boundaries, unsqueeze(self, -1)), [-1])";
}

}  // namespace shw::import::decompose
