// sdpa_backward: gradients of query, key, value and (if wanted) bias of sdpa, whose window and
// `documents` it takes too. With `dropout_p`, operand `seed` is the seed that sdpa returned.
#include "ops/attention.h"
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"grad_output", ParamKind::kTensor},
                             {"query", ParamKind::kTensor},
                             {"key", ParamKind::kTensor},
                             {"value", ParamKind::kTensor},
                             {"bias", ParamKind::kOptionalTensor},
                             {"out", ParamKind::kTensor},
                             {"logsumexp", ParamKind::kTensor},
                             {"seed", ParamKind::kOptionalTensor},
                             {"offset", ParamKind::kOptionalTensor},
                             {"dropout_p", ParamKind::kNumber, "0"},
                             {"output_mask", ParamKind::kInts},
                             {"is_causal", ParamKind::kBool, "false"},
                             {"scale", ParamKind::kNumber},
                             {"kernel", ParamKind::kString},
                             {"window_left", ParamKind::kInt, "-1"},
                             {"window_right", ParamKind::kInt, "-1"},
                             {"documents", ParamKind::kTrailingTensor}};

constexpr size_t kGrad = 0;
constexpr size_t kQuery = 1;
constexpr size_t kKey = 2;
constexpr size_t kValue = 3;
constexpr size_t kBias = 4;
constexpr size_t kOut = 5;
constexpr size_t kLse = 6;
constexpr size_t kSeed = 7;
constexpr size_t kDocuments = 9;

Results infer(const OpArgs& args) {
  for (size_t i : {kGrad, kQuery, kKey, kValue, kOut, kLse})
    if (!args.has(i)) return invalid_argument("operand " + std::to_string(i) + " is missing");
  for (size_t i : {kGrad, kQuery, kKey, kValue, kOut})
    if (args.in(i).rank() != 4)
      return invalid_argument("operand " + std::to_string(i) + " must have four dims");
  if (args.in(kGrad).shape != args.in(kOut).shape)
    return invalid_argument("grad_output " + to_string(args.in(kGrad)) +
                            " is not shaped like out " + to_string(args.in(kOut)));
  SHW_RETURN_IF_ERROR(want_window(args, args.in(kQuery), args.in(kKey)));
  SHW_RETURN_IF_ERROR(want_documents(args, kDocuments, args.in(kQuery), args.in(kKey)));
  SHW_RETURN_IF_ERROR(want_dropout_share(args));
  if (has_dropout(*args.attrs) && !args.has(kSeed))
    return invalid_argument("dropout_p is not 0, but operand 'seed', a result of sdpa, is absent");
  const std::vector<int64_t>& mask = args.attrs->get_ints(AttrKey::kOutputMask);
  std::vector<OptionalType> results;
  for (size_t i : {kQuery, kKey, kValue})
    results.push_back(row_major(args.in(i).dtype, args.in(i).shape));
  const bool wants_bias = args.has(kBias) && mask.size() == 4 && mask[3] != 0;
  results.push_back(wants_bias ? OptionalType(row_major(args.in(kBias).dtype, args.in(kBias).shape))
                               : std::nullopt);
  return results;
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  const Blocks heads = args.in(1).shape[1] == args.in(2).shape[1] ? Blocks::kAny : Blocks::kEven;
  for (size_t d : {size_t{1}, size_t{0}}) {
    const Placement s = shard(d);
    const Placement out[] = {s, s, s, results[3] ? s : kR};
    const Placement in[] = {s, s, s,  s,  args.has(kBias) ? s : kR,
                            s, s, kR, kR, d == 0 && args.has(kDocuments) ? s : kR};
    rules.add(out, std::span(in).first(args.operands.size()), d == 1 ? heads : Blocks::kAny);
  }
}

// The score matrix again and four more products, as the reference planner counts them.
double flops(const OpArgs& args, std::span<const OptionalType>) {
  const TensorType &q = args.in(kQuery), &k = args.in(kKey), &v = args.in(kValue);
  const auto f = [](int64_t x) { return static_cast<double>(x); };
  return 2 * f(q.shape[0]) * f(q.shape[1]) * scored_pairs(args, q, k) *
         (3 * f(q.shape[3]) + 2 * f(v.shape[3]));
}

}  // namespace

extern const OpDef kSdpaBackward;
constinit const OpDef kSdpaBackward = {
    .kind = OpKind::kSdpaBackward,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
    .piece_position = PiecePosition::kOfOperand,
    .placed = has_dropout,
};

}  // namespace shw::ops
