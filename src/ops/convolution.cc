// convolution: the sum over channels and kernel positions of input · weight, + bias.
//
// Samples may be sharded; so may the last spatial dim where the kernel cuts it into patches, as a
// vision transformer's first layer does. Blocks of patches fit blocks of the input only where both
// are even.
#include "ops/convolution.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"input", ParamKind::kTensor},        {"weight", ParamKind::kTensor},
    {"bias", ParamKind::kOptionalTensor}, {"stride", ParamKind::kInts},
    {"padding", ParamKind::kInts},        {"dilation", ParamKind::kInts},
    {"transposed", ParamKind::kBool},     {"output_padding", ParamKind::kInts},
    {"groups", ParamKind::kInt}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 2));
  SHW_ASSIGN_OR_RETURN(const auto c, convolution_of(*args.attrs, args.in(0), args.in(1)));
  if (args.has(2) && args.in(2).shape != Dims{args.in(1).shape[0]})
    return invalid_argument("bias " + to_string(args.in(2)) + " is not one per channel of " +
                            to_string(args.in(1)));
  return one(row_major(args.in(0).dtype, c.shape));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  const auto c = convolution_of(*args.attrs, args.in(0), args.in(1));
  if (!c.ok()) return;  // inference has refused the node before
  rules.add({shard(0)}, {shard(0), kR, kR});
  if (!cuts_into_patches(*c, args.in(0).shape, args.in(1).shape)) return;
  const Placement columns = shard(args.in(0).shape.size() - 1);
  rules.add({columns}, {columns, kR, kR});
  rules.hold_for_even_shards_only();
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
    .flops = flops,
};

}  // namespace shw::ops
