// grouped_mm: one product for each of G groups, for mixtures of experts. `offsets`, the end of each
// group, divides the dim that a 2-D operand has instead of a group dim:
//   [M,K] × [G,K,N] → [M,N], rows           [G,M,K] × [K,N] → [M,N], columns
//   [M,K] × [K,N] → [G,M,N], summed dim     [G,M,K] × [G,K,N] → [G,M,N], no offsets
// Everything after the last offset is zero.
//
// The dim that the offsets divide is not sharded, as they refer to the whole of it. The groups may
// be, over experts (`full`): a rank multiplies the rows or columns of its own groups and has zeros
// for those of others, so the result is a partial sum; of a summed dim it makes the products of its
// own groups.
#include <algorithm>

#include "ops/families.h"
#include "ops/placed_tensor.h"

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

void full_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const bool first = args.in(0).rank() == 3, second = args.in(1).rank() == 3;
  if (first && second) return;
  if (!first && !second) return rules.add({shard(0)}, {kR, kR, kR});
  rules.add({kPSum}, {first ? shard(0) : kR, second ? shard(0) : kR, kR});
}

// Each row, column or term of a sum belongs to one group, so the groups together cost one product,
// and a rank's groups their share of it, if all groups are equally large.
double flops(const OpArgs& args, std::span<const OptionalType> results) {
  const TensorType &a = args.in(0), &b = args.in(1);
  const auto f = [](int64_t x) { return static_cast<double>(x); };
  double products = a.rank() == 3 ? f(a.shape[0]) : f(b.shape[0]);  // of all groups
  if (args.has(2)) {
    if (a.rank() == 2 && b.rank() == 2) products = f(results[0]->shape[0]);
    products /= f(std::max<int64_t>(1, args.in(2).shape[0]));
  }
  return 2.0 * f(a.shape[a.shape.size() - 2]) * f(a.shape.back()) * f(b.shape.back()) * products;
}

}  // namespace

std::optional<PlacedTensor> tensor_of_groups(const Graph& graph, NodeId node) {
  const auto operands = graph.operands(node);
  const bool first = graph.type(operands[0]).rank() == 3,
             second = graph.type(operands[1]).rank() == 3;
  if (first && second) return std::nullopt;
  return PlacedTensor{!first && !second, second ? size_t{1} : size_t{0}};
}

extern const OpDef kGroupedMm;
constinit const OpDef kGroupedMm = {
    .kind = OpKind::kGroupedMm,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .flops = flops,
    .piece_position = PiecePosition::kOfOperand,  // or of the result: tensor_of_groups()
};

}  // namespace shw::ops
