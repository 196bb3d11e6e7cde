// convolution_backward: gradients of input, weight and bias; `output_mask` says which are wanted.
// Those of weight and bias are sums over samples and places.
#include "ops/convolution.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},  {"input", ParamKind::kTensor},
                             {"weight", ParamKind::kTensor},       {"bias_sizes", ParamKind::kInts},
                             {"stride", ParamKind::kInts},         {"padding", ParamKind::kInts},
                             {"dilation", ParamKind::kInts},       {"transposed", ParamKind::kBool},
                             {"output_padding", ParamKind::kInts}, {"groups", ParamKind::kInt},
                             {"output_mask", ParamKind::kInts}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 3));
  const TensorType &grad = args.in(0), &input = args.in(1), &weight = args.in(2);
  SHW_ASSIGN_OR_RETURN(const auto c, convolution_of(*args.attrs, input, weight));
  if (grad.shape != c.shape || grad.dtype != input.dtype)
    return invalid_argument("gradient " + to_string(grad) + " is none of " +
                            to_string(row_major(input.dtype, c.shape)));
  const std::vector<int64_t>& mask = args.attrs->get_ints(AttrKey::kOutputMask);
  const auto wanted = [&](size_t i) { return mask.empty() || (i < mask.size() && mask[i] != 0); };
  std::vector<OptionalType> results(3);
  if (wanted(0)) results[0] = row_major(input.dtype, input.shape);
  if (wanted(1)) results[1] = row_major(weight.dtype, weight.shape);
  if (wanted(2)) results[2] = row_major(weight.dtype, Dims{weight.shape[0]});
  return results;
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const auto c = convolution_of(*args.attrs, args.in(1), args.in(2));
  if (!c.ok()) return;  // inference has refused the node before
  const auto add = [&](Placement s) {
    const Placement sum = kPSum;
    rules.add({results[0] ? s : kR, results[1] ? sum : kR, results[2] ? sum : kR}, {s, s, kR});
  };
  add(shard(0));
  if (!cuts_into_patches(*c, args.in(1).shape, args.in(2).shape)) return;
  add(shard(args.in(1).shape.size() - 1));
  rules.hold_for_even_shards_only();
}

// Each of the two large gradients costs as much as the forward op.
double flops(const OpArgs& args, std::span<const OptionalType> results) {
  const auto c = convolution_of(*args.attrs, args.in(1), args.in(2));
  if (!c.ok()) return 0;
  return convolution_flops(*c, args.in(2).shape) * (static_cast<double>(results[0].has_value()) +
                                                    static_cast<double>(results[1].has_value()));
}

}  // namespace

extern const OpDef kConvolutionBackward;
constinit const OpDef kConvolutionBackward = {
    .kind = OpKind::kConvolutionBackward,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
};

}  // namespace shw::ops
