// convolution_backward: gradients of input, weight and bias; `output_mask` selects them. Those of
// weight and bias are sums over samples and positions.
#include <array>

#include "ops/convolution.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"input", ParamKind::kTensor},
                             {"weight", ParamKind::kTensor},
                             {"bias_sizes", ParamKind::kInts},
                             {"stride", ParamKind::kInts, "[1]"},
                             {"padding", ParamKind::kInts, "[0]"},
                             {"dilation", ParamKind::kInts, "[1]"},
                             {"transposed", ParamKind::kBool, "false"},
                             {"output_padding", ParamKind::kInts, "[0]"},
                             {"groups", ParamKind::kInt, "1"},
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

// Gradients that are not requested have no layout.
class GradientRules {
 public:
  GradientRules(std::span<const OptionalType> results, RuleSet& rules)
      : results_(results), rules_(rules) {}
  void add(std::array<Placement, 3> gradients, std::initializer_list<Placement> operands,
           Blocks blocks = Blocks::kAny) {
    for (size_t r = 0; r < gradients.size(); ++r)
      if (!results_[r]) gradients[r] = kR;
    rules_.add(gradients, std::span(operands.begin(), operands.size()), blocks);
  }

 private:
  std::span<const OptionalType> results_;
  RuleSet& rules_;
};

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const auto c = convolution_of(*args.attrs, args.in(1), args.in(2));
  if (!c.ok()) return;  // inference has refused the node before
  GradientRules gradients(results, rules);
  gradients.add({shard(0), kPSum, kPSum}, {shard(0), shard(0), kR});
  const size_t last = c->stride.size() - 1;
  const Placement s = shard(last + 2);
  if (cuts_into_patches(*c, args.in(1).shape, args.in(2).shape, last))
    gradients.add({s, kPSum, kPSum}, {s, s, kR}, Blocks::kEven);
}

// Those of the forward op's `full_rules`, transposed.
void full_rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const auto c = convolution_of(*args.attrs, args.in(1), args.in(2));
  if (!c.ok()) return;
  GradientRules gradients(results, rules);
  for (size_t d = 0; d + 1 < c->stride.size(); ++d) {
    const Placement s = shard(d + 2);
    if (cuts_into_patches(*c, args.in(1).shape, args.in(2).shape, d))
      gradients.add({s, kPSum, kPSum}, {s, s, kR}, Blocks::kEven);
  }
  if (c->groups > 1) return;
  gradients.add({kPSum, shard(0), shard(0)}, {shard(1), kR, shard(0)});
  gradients.add({shard(1), shard(1), kR}, {kR, shard(1), shard(1)});
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
    .full_rules = full_rules,
    .flops = flops,
};

}  // namespace shw::ops
