// convolution: the sum over channels and kernel positions of input · weight, + bias.
//
// Samples may be sharded. A spatial dim may be sharded evenly if the kernel cuts it into patches,
// as in the first layer of a vision transformer; uneven blocks of patches would not match blocks of
// the input. Channels are the rows and columns of a matrix product and may be sharded as such. The
// reference planner shards samples and the last spatial dim.
#include "ops/convolution.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"input", ParamKind::kTensor},
                             {"weight", ParamKind::kTensor},
                             {"bias", ParamKind::kOptionalTensor},
                             {"stride", ParamKind::kInts, "[1]"},
                             {"padding", ParamKind::kInts, "[0]"},
                             {"dilation", ParamKind::kInts, "[1]"},
                             {"transposed", ParamKind::kBool, "false"},
                             {"output_padding", ParamKind::kInts, "[0]"},
                             {"groups", ParamKind::kInt, "1"}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  SHW_ASSIGN_OR_RETURN(const auto c, convolution_of(*args.attrs, args.in(0), args.in(1)));
  if (args.has(2) &&
      (args.in(2).shape != Dims{args.in(1).shape[0]} || args.in(2).dtype != args.in(1).dtype))
    return invalid_argument("bias " + to_string(args.in(2)) + " is not one per channel of " +
                            to_string(args.in(1)));
  return one(row_major(args.in(0).dtype, c.shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto c = convolution_of(*args.attrs, args.in(0), args.in(1));
  if (!c.ok()) return;  // inference has refused the node before
  rules.add({shard(0)}, {shard(0), kR, kR});
  const size_t last = c->stride.size() - 1;
  if (cuts_into_patches(*c, args.in(0).shape, args.in(1).shape, last))
    rules.add({shard(last + 2)}, {shard(last + 2), kR, kR}, Blocks::kEven);
}

void full_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto c = convolution_of(*args.attrs, args.in(0), args.in(1));
  if (!c.ok()) return;
  for (size_t d = 0; d + 1 < c->stride.size(); ++d)
    if (cuts_into_patches(*c, args.in(0).shape, args.in(1).shape, d))
      rules.add({shard(d + 2)}, {shard(d + 2), kR, kR}, Blocks::kEven);
  if (c->groups > 1) return;  // a block of channels would be some of the groups
  rules.add({shard(1)}, {kR, shard(0), args.has(2) ? shard(0) : kR});
  // A bias would be added once per rank.
  if (!args.has(2)) rules.add({kPSum}, {shard(1), shard(1), kR});
}

double flops(const OpArgs& args, std::span<const OptionalType>) {
  const auto c = convolution_of(*args.attrs, args.in(0), args.in(1));
  return c.ok() ? convolution_flops(*c, args.in(1).shape) : 0;
}

}  // namespace

extern const OpDef kConvolution;
constinit const OpDef kConvolution = {
    .kind = OpKind::kConvolution,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .full_rules = full_rules,
    .flops = flops,
};

}  // namespace shw::ops
