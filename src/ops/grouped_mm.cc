// grouped_mm: one product for each of G groups, for mixtures of experts. `offsets`, the end of each
// group, divides the dim that a 2-D operand has instead of a group dim:
//   [M,K] × [G,K,N] → [M,N], rows           [G,M,K] × [K,N] → [M,N], columns
//   [M,K] × [K,N] → [G,M,N], summed dim     [G,M,K] × [G,K,N] → [G,M,N], no offsets
// Everything after the last offset is zero. Offsets refer to the whole dim, so it is not sharded.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"mat2", ParamKind::kTensor},
                             {"offsets", ParamKind::kOptionalTensor},
                             {"bias", ParamKind::kIgnored},
                             {"dtype", ParamKind::kDtype}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  const TensorType &a = args.in(0), &b = args.in(1);
  const auto refuse = [&](const char* why) {
    return invalid_argument(to_string(a) + " × " + to_string(b) + " by groups: " + why);
  };
  if (a.rank() < 2 || a.rank() > 3 || b.rank() < 2 || b.rank() > 3)
    return refuse("expected matrices or batches of them");
  if (a.dtype != b.dtype || !is_floating(a.dtype))
    return refuse("expected floating-point operands of one dtype");
  if (a.shape.back() != b.shape[b.shape.size() - 2]) return refuse("the inner dims differ");
  const bool batches = a.rank() == 3 && b.rank() == 3;
  if (batches && a.shape[0] != b.shape[0]) return refuse("the numbers of groups differ");
  if (batches == args.has(2)) return refuse("offsets are there with a matrix, and only then");
  int64_t groups = a.rank() == 3 ? a.shape[0] : b.rank() == 3 ? b.shape[0] : -1;
  if (args.has(2)) {
    const TensorType& offsets = args.in(2);
    if (offsets.rank() != 1 || (offsets.dtype != Dtype::kI32 && offsets.dtype != Dtype::kI64) ||
        (groups >= 0 && offsets.shape[0] != groups))
      return refuse("offsets are one integer a group");
    groups = offsets.shape[0];
  }
  const int64_t m = a.shape[a.shape.size() - 2], n = b.shape.back();
  const Dtype dtype = args.attrs->get_dtype(AttrKey::kDtype, a.dtype);
  if (!is_floating(dtype)) return refuse("attribute 'dtype' must be floating");
  if (a.rank() == b.rank()) return one(row_major(dtype, Dims{groups, m, n}));
  return one(row_major(dtype, Dims{m, n}));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto add = [&rules](Placement out, Placement a, Placement b) {
    rules.add({out}, {a, b, kR});
  };
  if (args.in(0).rank() == 2 && args.in(1).rank() == 3) {
    add(shard(1), kR, shard(2));
    add(kPSum, shard(1), shard(1));
  } else if (args.in(0).rank() == 3 && args.in(1).rank() == 2) {
    add(kPSum, shard(2), shard(0));
    add(shard(0), shard(1), kR);
  } else if (args.in(0).rank() == 2) {
    add(shard(2), kR, shard(1));
    add(shard(1), shard(0), kR);
  } else {
    add(shard(2), kR, shard(2));
    add(shard(1), shard(1), kR);
    add(kPSum, shard(2), shard(1));
    add(shard(0), shard(0), shard(0));
  }
  add(kPSum, kPSum, kR);
  add(kPSum, kR, kPSum);
}

// Each row, column or term of a sum belongs to one group, so the groups together cost one product.
double flops(const OpArgs& args, std::span<const OptionalType>) {
  const bool batches = args.in(0).rank() == 3 && args.in(1).rank() == 3;
  const TensorType &a = args.in(0), &b = args.in(1);
  return 2.0 * static_cast<double>(a.shape[a.shape.size() - 2]) *
         static_cast<double>(a.shape.back()) * static_cast<double>(b.shape.back()) *
         (batches ? static_cast<double>(a.shape[0]) : 1.0);
}

}  // namespace

extern const OpDef kGroupedMm;
constinit const OpDef kGroupedMm = {
    .kind = OpKind::kGroupedMm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
};

}  // namespace shw::ops
