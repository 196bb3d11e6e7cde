// Normalisation over groups of channels and of weights.
#include "import/decompose.h"

namespace shw::import::decompose {
namespace {

// "x": the input in groups, in f32 at least; "flat": its shape; "one": [1, C, 1, …]; "rest": the
// dims over which the gradients of weight and bias are sums.
void groups(Expansion& e) {
  const TensorType type = e.type("input");
  if (type.rank() < 2) return e.refuse_void("the tensor has no channels");
  Dims one(type.shape.size(), 1), rest;
  one[1] = type.shape[1];
  for (int64_t d = 0; d < type.rank(); ++d)
    if (d != 1) rest.push_back(d);
  e.bind_ints("one", one);
  e.bind_ints("rest", rest);
  if (dtype_size(type.dtype) < 4) e.run("input = convert_element_type(input, f32); input");
  e.run("x = view(input, [N, group, -1]); x");
}

// "rest": all dims of a tensor but dim.
void other_dims(Expansion& e, std::string_view of, int64_t dim) {
  Dims rest;
  const int rank = e.type(of).rank();
  for (int64_t d = 0; d < rank; ++d)
    if (d != (dim < 0 ? dim + rank : dim)) rest.push_back(d);
  e.bind_ints("rest", rest);
}

}  // namespace

std::string_view group_norm(Expansion& e) {
  groups(e);
  e.run(
      "m = mean(x, [2], true); "
      "r = rsqrt(add(var(x, [2], correction=0, keepdim=true), eps)); "
      "y = view(mul(sub(x, m), r), sizes(input)); y");
  if (e.has("weight")) e.run("y = mul(y, view(weight, one)); y");
  if (e.has("bias")) e.run("y = add(y, view(bias, one)); y");
  return "(y, squeeze(m, 2), squeeze(r, 2))";
}

std::string_view group_norm_backward(Expansion& e) {
  groups(e);
  e.run("r = unsqueeze(rstd, 2); h = mul(sub(x, unsqueeze(mean, 2)), r); g = grad_out; g");
  if (e.has("weight")) e.run("g = mul(g, view(weight, one)); g");
  return "g = view(g, [N, group, -1]); "
         "d = sub(sub(g, mean(g, [2], true)), mul(h, mean(mul(g, h), [2], true))); "
         "(view(mul(r, d), sizes(input)), sum(mul(grad_out, view(h, sizes(input))), rest), "
         "sum(grad_out, rest))";
}

// Traced on a CPU, the mean and rstd of a narrow type are rounded to that type. The backward pass
// takes them before they are rounded, as on a GPU; any other use gets what is recorded.
std::string_view layer_norm(Expansion& e) {
  const auto is_rounded = [&](const std::optional<TensorType>& t) {
    return t && t->dtype != Dtype::kF32 && t->dtype != Dtype::kF64;
  };
  const auto results = e.results();
  if (results.size() != 3 || !(is_rounded(results[1]) || is_rounded(results[2]))) return {};
  e.run("t = native_layer_norm(input, normalized_shape, weight, bias, eps); t");
  return "(t.0, t.1, t.2)";
}

std::string_view layer_norm_backward(Expansion& e) {
  const NodeId mean = e.unrounded("mean", OpKind::kLayerNorm),
               rstd = e.unrounded("rstd", OpKind::kLayerNorm);
  if (mean == e.node("mean") && rstd == e.node("rstd")) return {};
  e.bind("mean", mean);
  e.bind("rstd", rstd);
  e.run(
      "t = native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, "
      "output_mask); t");
  constexpr std::string_view kGradients[] = {"dx = t.0; dx", "dw = t.1; dw", "db = t.2; db"};
  constexpr std::string_view kNames[] = {"dx", "dw", "db"};
  for (size_t i = 0; i < 3; ++i) {
    e.bind(kNames[i], {});
    if (i < e.results().size() && e.results()[i]) e.run(kGradients[i]);
  }
  return "(dx, dw, db)";
}

std::string_view weight_norm(Expansion& e) {
  other_dims(e, "v", e.get_int("dim", 0));
  return "n = sqrt(sum(mul(v, v), rest, true)); (mul(v, div(g, n)), n)";
}

std::string_view weight_norm_backward(Expansion& e) {
  other_dims(e, "saved_v", e.get_int("dim", 0));
  return "s = div(sum(mul(grad_w, saved_v), rest, true), saved_norms); "
         "(mul(div(saved_g, saved_norms), sub(grad_w, mul(saved_v, div(s, saved_norms)))), s)";
}

}  // namespace shw::import::decompose
