// Shared by families of ops: type inference, and rules for one mesh dim of pointwise ops,
// reductions and contractions. Rules are added in the reference planner's order,
// which fixes strategy indices.
#pragma once
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op_def.h"

namespace shw::ops {

using Results = Result<std::vector<OptionalType>>;

inline constexpr Placement kR = Placement::replicate();
inline constexpr Placement kPSum = Placement::partial(ReduceOp::kSum);
inline constexpr Placement kPAvg = Placement::partial(ReduceOp::kAvg);
inline constexpr Placement kPMax = Placement::partial(ReduceOp::kMax);
inline constexpr Placement kPMin = Placement::partial(ReduceOp::kMin);
inline Placement shard(size_t dim) { return Placement::shard(static_cast<int>(dim)); }

inline constexpr Param kSelf[] = {
    {"self", ParamKind::kTensor}};  // of ops with one operand and no attributes
inline constexpr Param kCast[] = {{"self", ParamKind::kTensor},
                                  {"dtype", ParamKind::kDtype, kRequired}};

// A single tensor result.
inline Results one(TensorType type) { return std::vector<OptionalType>{std::move(type)}; }

// A dim or position that may count from the end; nullopt if out of range for `rank`.
std::optional<size_t> wrap_dim(int64_t dim, int rank);

// ---- types
Dtype promote(Dtype a, Dtype b);
// The broadcast shape of the tensor operands, with their promoted dtype; a float scalar attribute
// (`self`, `other`) turns an integer result into f32.
Results infer_pointwise(const OpArgs& args);
Results infer_pointwise_float(const OpArgs& args);  // integers become f32: exp, rsqrt, div…
Results infer_real(const OpArgs& args);             // as infer_pointwise; refuses complex numbers
Results infer_bits(const OpArgs& args);      // as infer_pointwise; integers and booleans only
Results infer_truth(const OpArgs& args);     // booleans of operand 0's shape
Results infer_gradient(const OpArgs& args);  // two operands, as infer_pointwise_float
Results infer_same(const OpArgs& args);      // row-major of operand 0's shape and dtype
Results infer_identity(const OpArgs& args);  // operand 0's type, including strides
Results infer_cast(const OpArgs& args);      // operand 0's shape, dtype of attribute `dtype`

// ---- rules
// For each dim of the result: all operands sharded on that dim. Operands that lack the dim, or have
// size 1 there, are replicated.
void pointwise_shards(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);
void pointwise_rules(const OpArgs& args, std::span<const OptionalType> results,
                     RuleSet& rules);  // only these
void replicated_only(const OpArgs& args, std::span<const OptionalType> results,
                     RuleSet& rules);  // none
// For monotone functions: partial maxima and minima pass through.
void monotone_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);
// For a ± b: a sum of sums is a sum; an average, maximum or minimum shifted by a replicated value
// remains one.
void additive_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);
// The same partial placement in and out, for every operand and result.
void pass_partials(std::initializer_list<Placement> which, RuleSet& rules);

// For ops that only select elements: every dim of the result except those `barred` (a flag per dim)
// stays sharded, in all operands and results alike. Partials pass through.
void positionwise_rules(const std::vector<bool>& barred, RuleSet& rules);

// ---- comparisons: what eq, ne, lt, le, gt and ge share
extern const std::array<Param, 2> kComparison;
Results infer_comparison(const OpArgs& args);  // booleans of the broadcast shape

// ---- factories: size from attribute `size`, dtype from `dtype`
Results infer_factory(const OpArgs& args, Dtype otherwise);
void factory_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);

// The shape of operand 0, and its dtype by default; the same shards; partial operands are reduced
// first.
Results infer_like(const OpArgs& args);
void like_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);
void made_from_partials(RuleSet& rules);  // from any partial operand, since its values are not used

// ---- random numbers: as factories or like operand 0, and the seed of the run behind it
Results infer_random(const OpArgs& args);
Results infer_random_like(const OpArgs& args);
Status want_run_seed(const OpArgs& args, size_t operand);  // i64[2], or absent
inline bool always(const Attrs&) { return true; }          // OpDef::draws
void random_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);
void random_like_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules);

// ---- following: the shard of operand dim d moves to dim map(d) of the result, others stay;
// nullopt if map returns none.
template <class Map>
std::optional<Followed> follow_dims(const Layout& operand, Map map) {
  Followed f{operand, operand};
  for (Placement& p : f.result.placement) {
    if (!p.is_shard_like()) continue;
    const std::optional<size_t> to = map(static_cast<size_t>(p.dim()));
    if (!to) return std::nullopt;
    p.arg = static_cast<uint8_t>(*to);
  }
  f.result = normalised(f.result);
  return f;
}
std::optional<Followed> follow_same(const OpArgs&, const TensorType&, const Layout& operand,
                                    const Mesh&);

// "abk,kn->abn", parsed. Letters a–z and A–Z, each at most once per operand, two operands, no
// ellipsis.
struct Equation {
  std::string lhs, rhs, out;
  static Result<Equation> parse(std::string_view text);
};
void contraction_rules(const Equation& equation, bool partial_operands, RuleSet& rules);

Status want_gelu(const OpArgs& args);  // attribute `approximate` is one that there is
Status want_operands(const OpArgs& args, size_t count);  // the first `count` operands are there

}  // namespace shw::ops
