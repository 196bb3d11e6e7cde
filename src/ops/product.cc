#include "ops/product.h"

namespace shw::ops {

Results infer_product(const OpArgs& args, size_t a, int rank) {
  SHW_RETURN_IF_ERROR(want_operands(args, a + 2));
  const TensorType &x = args.in(a), &y = args.in(a + 1);
  const auto r = static_cast<size_t>(rank);
  if (x.rank() != rank || y.rank() != rank || x.shape[r - 1] != y.shape[r - 2] ||
      (rank == 3 && x.shape[0] != y.shape[0]))
    return invalid_argument(std::string("expected ") +
                            (rank == 3 ? "[b,m,k] × [b,k,n]" : "[m,k] × [k,n]") + ", got " +
                            to_string(x) + " × " + to_string(y));
  // Two kinds of 8-bit floats: only scaled_mm takes them at all.
  if (x.dtype != y.dtype && !(is_float8(x.dtype) && is_float8(y.dtype)))
    return invalid_argument("operands differ in dtype: " + to_string(x) + " × " + to_string(y));
  Dims shape = x.shape;
  shape[r - 1] = y.shape[r - 1];
  return one(row_major(x.dtype, shape));
}

Results infer_biased_product(const OpArgs& args, int rank) {
  SHW_ASSIGN_OR_RETURN(const std::vector<OptionalType> results, infer_product(args, 1, rank));
  SHW_RETURN_IF_ERROR(want_bias(args, 0, *results[0]));
  const Dtype dtype = results[0]->dtype;
  if (args.in(0).dtype != dtype)
    return invalid_argument(to_string(args.in(0)) + " and the product " + to_string(*results[0]) +
                            " differ in dtype");
  for (AttrKey key : {AttrKey::kAlpha, AttrKey::kBeta}) {
    const AttrValue* v = args.attrs->find(key);
    if (v && std::holds_alternative<double>(*v) && !is_floating(dtype) && !is_complex(dtype))
      return invalid_argument("attribute '" + std::string(attr_key_name(key)) +
                              "' of a product of integers must be one");
  }
  return results;
}

double product_flops(const OpArgs& args, size_t a) {
  double flops = 2.0 * static_cast<double>(args.in(a + 1).shape.back());
  for (int64_t n : args.in(a).shape) flops *= static_cast<double>(n);
  return flops;
}

Status want_bias(const OpArgs& args, size_t bias, const TensorType& product) {
  const TensorType& t = args.in(bias);
  bool fits = t.shape.size() <= product.shape.size();
  const size_t lacks = product.shape.size() - std::min(t.shape.size(), product.shape.size());
  for (size_t d = 0; fits && d < t.shape.size(); ++d)
    fits = t.shape[d] == 1 || t.shape[d] == product.shape[lacks + d];
  if (fits) return {};
  return invalid_argument(to_string(t) + " cannot be added to " + to_string(product));
}

Placement bias_placement(const OpArgs& args, size_t bias, const TensorType& product, Placement p) {
  if (!p.is_shard()) return p;
  if (!args.has(bias)) return kR;
  const Dims& own = args.in(bias).shape;
  const size_t lacks = product.shape.size() - own.size(), d = static_cast<size_t>(p.dim());
  if (d < lacks || own[d - lacks] != product.shape[d]) return kR;
  return shard(d - lacks);
}

void biased_rules(const Equation& equation, const OpArgs& args, const TensorType& product,
                  RuleSet& rules) {
  RuleSet plain(1, 2);
  contraction_rules(equation, true, plain);
  for (size_t i = 0; i < plain.size(); ++i) {
    const auto rule = plain.rule(i);
    rules.add({rule[0]}, {bias_placement(args, 0, product, rule[0]), rule[1], rule[2]});
  }
}

}  // namespace shw::ops
