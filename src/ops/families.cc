#include "ops/families.h"

#include <algorithm>

namespace shw::ops {
namespace {

int category(Dtype d) {
  if (is_complex(d)) return 3;
  if (is_floating(d)) return 2;
  return d == Dtype::kBool ? 0 : 1;
}

// The attribute that replaces operand 0 or 1 of a binary op, if it is a float.
bool has_float_scalar(const Attrs& attrs) {
  for (AttrKey key : {AttrKey::kSelf, AttrKey::kOther})
    if (const AttrValue* v = attrs.find(key); v && std::holds_alternative<double>(*v)) return true;
  return false;
}

Result<Dims> broadcast(const OpArgs& args) {
  Dims shape;
  for (const OptionalType& t : args.operands) {
    if (!t) continue;
    while (shape.size() < t->shape.size()) shape.insert(0, 1);
    const size_t shift = shape.size() - t->shape.size();
    for (size_t i = 0; i < t->shape.size(); ++i) {
      int64_t& to = shape[shift + i];
      const int64_t from = t->shape[i];
      if (to != from && to != 1 && from != 1)
        return invalid_argument("shapes do not broadcast: " + std::to_string(from) + " against " +
                                std::to_string(to) + " in dim " + std::to_string(shift + i));
      if (to == 1) to = from;
    }
  }
  return shape;
}

}  // namespace

Status want_operands(const OpArgs& args, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (!args.has(i)) return invalid_argument("operand " + std::to_string(i) + " is missing");
  return {};
}

Status want_gelu(const OpArgs& args) {
  const std::string_view by = args.attrs->get_string(AttrKey::kApproximate);
  if (by.empty() || by == "none" || by == "tanh") return {};
  return invalid_argument("approximate is '" + std::string(by) + "', expected 'none' or 'tanh'");
}

std::optional<size_t> wrap_dim(int64_t dim, int rank) {
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank) return std::nullopt;
  return static_cast<size_t>(dim);
}

Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  const int ca = category(a), cb = category(b);
  if (ca != cb) return ca > cb ? a : b;
  const int64_t sa = dtype_size(a), sb = dtype_size(b);
  if (sa != sb) return sa > sb ? a : b;
  return category(a) == 2 ? Dtype::kF32 : Dtype::kI16;  // f16 with bf16; i8 with u8
}

Results infer_pointwise(const OpArgs& args) {
  std::optional<Dtype> dtype;
  for (const OptionalType& t : args.operands)
    if (t) dtype = dtype ? promote(*dtype, t->dtype) : t->dtype;
  if (!dtype) return invalid_argument("no operand is a tensor");
  if (category(*dtype) < 2 && has_float_scalar(*args.attrs)) dtype = Dtype::kF32;
  SHW_ASSIGN_OR_RETURN(const Dims shape, broadcast(args));
  return one(row_major(*dtype, shape));
}

Results infer_pointwise_float(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(std::vector<OptionalType> results, infer_pointwise(args));
  if (category(results[0]->dtype) < 2) results[0] = row_major(Dtype::kF32, results[0]->shape);
  return results;
}

Results infer_real(const OpArgs& args) {
  for (const OptionalType& t : args.operands)
    if (t && is_complex(t->dtype))
      return invalid_argument("expected real numbers, got " + to_string(*t));
  return infer_pointwise(args);
}

Results infer_bits(const OpArgs& args) {
  for (const OptionalType& t : args.operands)
    if (t && category(t->dtype) > 1)
      return invalid_argument("expected integers or truth values, got " + to_string(*t));
  return infer_pointwise(args);
}

Results infer_truth(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return one(row_major(Dtype::kBool, args.in(0).shape));
}

Results infer_gradient(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  return infer_pointwise_float(args);
}

Results infer_same(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return one(row_major(args.in(0).dtype, args.in(0).shape));
}

Results infer_identity(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return one(args.in(0));
}

Results infer_cast(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, Dtype::kF32), args.in(0).shape));
}

void pointwise_shards(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const Dims& shape = results[0]->shape;
  std::vector<Placement> operands(args.operands.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    for (size_t k = 0; k < operands.size(); ++k) {
      operands[k] = kR;
      if (!args.has(k)) continue;
      const Dims& s = args.in(k).shape;
      const size_t shift = shape.size() - s.size();
      if (i >= shift && s[i - shift] == shape[i]) operands[k] = shard(i - shift);
    }
    const Placement result[] = {shard(i)};
    rules.add(result, operands);
  }
}

void pointwise_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
}

void replicated_only(const OpArgs&, std::span<const OptionalType>, RuleSet&) {}

void pass_partials(std::initializer_list<Placement> which, RuleSet& rules) {
  for (Placement p : which) {
    const std::vector<Placement> results(rules.num_results(), p), operands(rules.num_operands(), p);
    rules.add(results, operands);
  }
}

void positionwise_rules(const std::vector<bool>& barred, RuleSet& rules) {
  for (size_t d = 0; d < barred.size(); ++d) {
    if (barred[d]) continue;
    const std::vector<Placement> results(rules.num_results(), shard(d)),
        operands(rules.num_operands(), shard(d));
    rules.add(results, operands);
  }
  pass_partials({kPSum, kPAvg, kPMin, kPMax}, rules);
}

constinit const std::array<Param, 2> kComparison = {
    {{"self", ParamKind::kTensorOrScalar}, {"other", ParamKind::kTensorOrScalar}}};

Results infer_comparison(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(std::vector<OptionalType> results, infer_pointwise(args));
  return one(row_major(Dtype::kBool, results[0]->shape));
}

Results infer_factory(const OpArgs& args, Dtype otherwise) {
  const std::vector<int64_t>& size = args.attrs->get_ints(AttrKey::kSize);
  if (size.size() > kMaxRank) return invalid_argument("the result has more than 8 dims");
  for (int64_t d : size)
    if (d < 0) return invalid_argument("size has the negative dim " + std::to_string(d));
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, otherwise), Dims(size)));
}

void factory_rules(const OpArgs&, std::span<const OptionalType> results, RuleSet& rules) {
  rules.put_replicate_last();
  for (size_t d = 0; d < results[0]->shape.size(); ++d) rules.add({shard(d)}, {});
}

Results infer_like(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, args.in(0).dtype), args.in(0).shape));
}

namespace {

Results of_reals(Results results) {
  if (results.ok() && !is_floating((*results)[0]->dtype))
    return invalid_argument("random numbers are floating, not " + to_string(*(*results)[0]));
  return results;
}

}  // namespace

Status want_run_seed(const OpArgs& args, size_t operand) {
  if (!args.has(operand) ||
      (args.in(operand).dtype == Dtype::kI64 && args.in(operand).shape == Dims{2}))
    return {};
  return invalid_argument("the seed of the run is " + to_string(args.in(operand)) +
                          ", expected i64[2]: seed and offset");
}

Results infer_random(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_run_seed(args, 0));
  return of_reals(infer_factory(args, Dtype::kF32));
}
Results infer_random_like(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_run_seed(args, 1));
  return of_reals(infer_like(args));
}

void random_rules(const OpArgs&, std::span<const OptionalType> results, RuleSet& rules) {
  rules.put_replicate_last();
  const std::vector<Placement> operands(rules.num_operands(), kR);
  for (size_t d = 0; d < results[0]->shape.size(); ++d) rules.add(std::array{shard(d)}, operands);
}

void random_like_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  if (rules.num_operands() == 1) return like_rules(args, results, rules);
  RuleSet like(1, 1);
  like_rules({args.operands.first(1), args.attrs}, results, like);
  for (size_t i = 0; i < like.size(); ++i)
    rules.add(std::array{like.rule(i)[0]}, std::array{like.rule(i)[1], kR});
}

void made_from_partials(RuleSet& rules) {
  for (Placement p : {kPSum, kPAvg, kPMin, kPMax, Placement::partial(ReduceOp::kProduct)})
    rules.add({kR}, {p});
}

void like_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  made_from_partials(rules);
}

void monotone_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  pass_partials({kPMax, kPMin}, rules);
}

void additive_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  pointwise_shards(args, results, rules);
  if (!args.has(0) || !args.has(1))
    return;  // x + number: with a partial x, every rank would add the number
  for (Placement p : {kPSum, kPAvg}) rules.add({p}, {p, p});
  for (Placement p : {kPAvg, kPMax, kPMin}) rules.add({p}, {p, kR});
  rules.add({kPAvg}, {kR, kPAvg});
}

std::optional<Followed> follow_same(const OpArgs&, const TensorType&, const Layout& operand,
                                    const Mesh&) {
  return Followed{operand, operand};
}

Result<Equation> Equation::parse(std::string_view text) {
  const auto refuse = [&](const char* why) {
    return invalid_argument("einsum equation '" + std::string(text) + "': " + why);
  };
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string_view::npos || arrow == std::string_view::npos || comma > arrow)
    return refuse("expected 'lhs,rhs->out' with two operands");
  Equation e{std::string(text.substr(0, comma)),
             std::string(text.substr(comma + 1, arrow - comma - 1)),
             std::string(text.substr(arrow + 2))};
  for (const std::string* part : {&e.lhs, &e.rhs, &e.out})
    for (size_t i = 0; i < part->size(); ++i) {
      const char c = (*part)[i];
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
        return refuse("only letters name dims");
      if (part->find(c) != i) return refuse("a letter stands twice in one operand");
    }
  for (char c : e.out)
    if (e.lhs.find(c) == std::string::npos && e.rhs.find(c) == std::string::npos)
      return refuse("a letter of the result is in no operand");
  return e;
}

// DTensor's einsum generator: letters in alphabetical order within each group: batch, contracting,
// lhs-only, rhs-only; then linearity, op by op: left operand partial, right operand partial.
void contraction_rules(const Equation& e, bool partial_operands, RuleSet& rules) {
  std::string letters = e.lhs + e.rhs;
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  const auto at = [](const std::string& s, char c) { return s.find(c); };
  const auto in = [](const std::string& s, char c) { return s.find(c) != std::string::npos; };
  bool batch_only = true;
  for (char c : letters)
    if (in(e.lhs, c) && in(e.rhs, c) && in(e.out, c))
      rules.add({shard(at(e.out, c))}, {shard(at(e.lhs, c)), shard(at(e.rhs, c))});
    else
      batch_only = false;
  for (char c : letters)
    if (in(e.lhs, c) && in(e.rhs, c) && !in(e.out, c))
      rules.add({kPSum}, {shard(at(e.lhs, c)), shard(at(e.rhs, c))});
  for (char c : letters)
    if (in(e.lhs, c) && !in(e.rhs, c) && in(e.out, c))
      rules.add({shard(at(e.out, c))}, {shard(at(e.lhs, c)), kR});
  for (char c : letters)
    if (!in(e.lhs, c) && in(e.rhs, c) && in(e.out, c))
      rules.add({shard(at(e.out, c))}, {kR, shard(at(e.rhs, c))});
  if (!partial_operands) return;
  for (Placement p : {kPSum, kPAvg}) {
    if (batch_only) {
      rules.add({p}, {p, p});
      continue;
    }
    rules.add({p}, {p, kR});
    rules.add({p}, {kR, p});
  }
}

}  // namespace shw::ops
