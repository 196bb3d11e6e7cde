// einsum: two operands, `equation` such as "abk,kn->abn". Created by the view-mm-view rewrite, so
// that batch and sequence can be sharded independently. No rule accepts a partial operand: the
// reference planner drops those.
#include <algorithm>
#include <array>

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"equation", ParamKind::kString, kRequired},
                             {"operands", ParamKind::kTensorList}};

// Sizes by letter; conflicting sizes are an error.
Result<std::array<int64_t, 128>> sizes(const OpArgs& args, const Equation& e) {
  std::array<int64_t, 128> size;
  size.fill(-1);
  for (size_t k = 0; k < 2; ++k) {
    const std::string& letters = k == 0 ? e.lhs : e.rhs;
    const TensorType& t = args.in(k);
    if (letters.size() != t.shape.size())
      return invalid_argument("operand " + std::to_string(k) + " is " + to_string(t) +
                              ", but the equation names " + std::to_string(letters.size()) +
                              " dims");
    for (size_t i = 0; i < letters.size(); ++i) {
      int64_t& s = size[static_cast<size_t>(letters[i])];
      if (s >= 0 && s != t.shape[i])
        return invalid_argument(std::string("dim '") + letters[i] + "' is " + std::to_string(s) +
                                " and " + std::to_string(t.shape[i]));
      s = t.shape[i];
    }
  }
  return size;
}

Results infer(const OpArgs& args) {
  if (args.operands.size() != 2) return invalid_argument("expected two operands");
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  SHW_ASSIGN_OR_RETURN(const Equation e,
                       Equation::parse(args.attrs->get_string(AttrKey::kEquation)));
  SHW_ASSIGN_OR_RETURN(const auto size, sizes(args, e));
  if (args.in(0).dtype != args.in(1).dtype) return invalid_argument("operands differ in dtype");
  if (e.out.size() > kMaxRank) return invalid_argument("the result has more than 8 dims");
  Dims shape;
  for (char c : e.out) shape.push_back(size[static_cast<size_t>(c)]);
  return one(row_major(args.in(0).dtype, shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto e = Equation::parse(args.attrs->get_string(AttrKey::kEquation));
  if (e.ok()) contraction_rules(*e, false, rules);
}

// 2 · product of all letters: for "…k,kn->…n" and "…n,…k->kn" this is the reference's formula, for
// any number of batch dims.
double flops(const OpArgs& args, std::span<const OptionalType>) {
  const auto e = Equation::parse(args.attrs->get_string(AttrKey::kEquation));
  if (!e.ok()) return 0;
  double product = 2;
  for (int64_t d : args.in(0).shape) product *= static_cast<double>(d);
  for (size_t i = 0; i < e->rhs.size(); ++i)
    if (e->lhs.find(e->rhs[i]) == std::string::npos)
      product *= static_cast<double>(args.in(1).shape[i]);
  return product;
}

}  // namespace

extern const OpDef kEinsum;
constinit const OpDef kEinsum = {
    .kind = OpKind::kEinsum,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
};

}  // namespace shw::ops
