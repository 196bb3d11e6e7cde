// sdpa: scaled dot-product attention of query, key, value [batch, heads, sequence, dim] with an
// optional additive bias. Query i sees keys 0 … i with `is_causal`, and keys i − window_left … i +
// window_right with a window, of which −1 is no bound; positions count from the first query and the
// first key, also where there are more of one. With `documents`, integers [batch, n + 1] that begin
// with 0 and go on with the end of each document of a row, the last one repeated, a query sees the
// keys of its own document only; what lies behind the last end is seen by none. A query that sees
// nothing gets zeros. With `dropout_p`, that share of the weights is set to zero after the softmax,
// and the others are multiplied by 1 / (1 − dropout_p). Which ones depends only on `seed`, the seed
// of the run, and the pair's place in the whole [batch, heads, queries, keys].
//
// Results: out, log-sum-exp (f32; f64 of f64 operands), and two i64 scalars: the seed that the
// dropout drew with, which sdpa_backward needs, and an offset of 0. `kernel` names the ATen kernel
// that the framework chose ("efficient", "flash", "cudnn", "cpu"): it fixes the shape of
// log-sum-exp; "cpu" returns no seed, so it has no dropout. Sharded over heads or batch; the
// sequence is not sharded. FLOPs are those of the pairs that a window leaves, or of all pairs, and
// of one document: how long documents are is known at run time only.
#include "ops/attention.h"
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"query", ParamKind::kTensor},
                             {"key", ParamKind::kTensor},
                             {"value", ParamKind::kTensor},
                             {"bias", ParamKind::kOptionalTensor},
                             {"compute_lse", ParamKind::kBool, "false"},
                             {"dropout_p", ParamKind::kNumber, "0"},
                             {"is_causal", ParamKind::kBool, "false"},
                             {"scale", ParamKind::kNumber},
                             {"kernel", ParamKind::kString},
                             {"window_left", ParamKind::kInt, "-1"},
                             {"window_right", ParamKind::kInt, "-1"},
                             {"seed", ParamKind::kInt},
                             {"documents", ParamKind::kTrailingTensor},
                             {"run_seed", ParamKind::kTrailingTensor}};

constexpr size_t kBias = 3;
constexpr size_t kDocuments = 4;
constexpr size_t kRunSeed = 5;

Dims lse_shape(const OpArgs& args) {
  const Dims& q = args.in(0).shape;
  const std::string_view kernel = args.attrs->get_string(AttrKey::kKernel);
  if (kernel == "cudnn") return Dims{q[0], q[1], q[2], 1};
  if (kernel == "flash" || kernel == "cpu") return Dims{q[0], q[1], q[2]};
  const bool wanted = args.attrs->get_bool(AttrKey::kComputeLse, false);
  return Dims{q[0], q[1], wanted ? (q[2] + 31) / 32 * 32 : 0};  // the efficient kernel pads to 32
}

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 3));
  const TensorType &q = args.in(0), &k = args.in(1), &v = args.in(2);
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4)
    return invalid_argument("expected query, key and value of four dims");
  if (q.shape[0] != k.shape[0] || k.shape[0] != v.shape[0] || q.shape[3] != k.shape[3] ||
      k.shape[2] != v.shape[2] || k.shape[1] != v.shape[1] || k.shape[1] == 0 ||
      q.shape[1] % k.shape[1] != 0)
    return invalid_argument("shapes do not fit: " + to_string(q) + ", " + to_string(k) + ", " +
                            to_string(v));
  if (q.dtype != k.dtype || k.dtype != v.dtype || !is_floating(q.dtype))
    return invalid_argument("query, key and value must have one floating dtype");
  SHW_RETURN_IF_ERROR(want_window(args, q, k));
  SHW_RETURN_IF_ERROR(want_documents(args, kDocuments, q, k));
  SHW_RETURN_IF_ERROR(want_dropout_share(args));
  SHW_RETURN_IF_ERROR(want_run_seed(args, kRunSeed));
  const bool returns_seed = args.attrs->get_string(AttrKey::kKernel) != "cpu";
  if (!returns_seed && has_dropout(*args.attrs))
    return invalid_argument(
        "kernel 'cpu' has no dropout, since it returns no seed: use kernel 'flash'");
  OptionalType scalar;
  if (returns_seed) scalar = row_major(Dtype::kI64, Dims{});
  return std::vector<OptionalType>{
      row_major(q.dtype, Dims{q.shape[0], q.shape[1], q.shape[2], v.shape[3]}),
      row_major(q.dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32, lse_shape(args)), scalar,
      scalar};
}

void rules(const OpArgs& args, std::span<const OptionalType> results, RuleSet& rules) {
  // A block of query heads needs the block of key heads that they share.
  const Blocks heads = args.in(0).shape[1] == args.in(1).shape[1] ? Blocks::kAny : Blocks::kEven;
  const bool has_lse = results[1] && results[1]->numel() > 0;
  for (size_t d : {size_t{1}, size_t{0}}) {  // heads, batch
    const Placement s = shard(d);
    const Placement out[] = {s, has_lse ? s : kR, kR, kR};
    const Placement in[] = {
        s, s, s, args.has(kBias) ? s : kR, d == 0 && args.has(kDocuments) ? s : kR, kR};
    rules.add(out, std::span(in).first(args.operands.size()), d == 1 ? heads : Blocks::kAny);
  }
}

double flops(const OpArgs& args, std::span<const OptionalType>) {
  const TensorType &q = args.in(0), &k = args.in(1), &v = args.in(2);
  const auto f = [](int64_t x) { return static_cast<double>(x); };
  return 2 * f(q.shape[0]) * f(q.shape[1]) * scored_pairs(args, q, k) *
         (f(q.shape[3]) + f(v.shape[3]));
}

}  // namespace

extern const OpDef kSdpa;
constinit const OpDef kSdpa = {
    .kind = OpKind::kSdpa,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
    .piece_position = PiecePosition::kOfOperand,
    .placed = has_dropout,
    .draws = has_dropout,
};

}  // namespace shw::ops
