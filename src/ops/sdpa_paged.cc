// sdpa_paged: attention of the newest tokens of each sequence over keys and values in pages, as
// inference servers keep them. query is [batch, heads, new tokens, dim], key_pages and value_pages
// are [pages, page_size, key heads, dim]; query heads in a row may share a key head. The keys of
// row b of the batch are at positions 0 … lengths[b] − 1, of which page page_table[b, p] holds
// those from p · page_size on; what the table says of later pages is not read. The queries are the
// last positions: query i is at lengths[b] − new tokens + i, and sees nothing, and gets zeros,
// where that is negative. With `is_causal` and a window it sees keys as in sdpa, by these
// positions. `scale` is 1/√dim where it is absent.
//
// Pages are as FlashAttention and vLLM have them: what belongs to a token lies together, so that
// `index_put` by page and place in the page appends it (src/ops/README.md), and the key heads are a
// dim that may be sharded. Sharded over batch or heads: pages are numbered over all of them, so
// they are not cut. FLOPs are those of full page tables: how long sequences are is known at run
// time only. There is no gradient.
#include <algorithm>

#include "ops/families.h"
#include "tensor/key_window.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"query", ParamKind::kTensor},          {"key_pages", ParamKind::kTensor},
    {"value_pages", ParamKind::kTensor},    {"page_table", ParamKind::kTensor},
    {"lengths", ParamKind::kTensor},        {"is_causal", ParamKind::kBool, "false"},
    {"scale", ParamKind::kNumber},          {"window_left", ParamKind::kInt, "-1"},
    {"window_right", ParamKind::kInt, "-1"}};

constexpr size_t kTable = 3;
constexpr size_t kLengths = 4;

bool is_integer(const TensorType& t) { return t.dtype == Dtype::kI32 || t.dtype == Dtype::kI64; }

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 5));
  const TensorType &q = args.in(0), &k = args.in(1), &v = args.in(2), &table = args.in(kTable),
                   &lengths = args.in(kLengths);
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4)
    return invalid_argument(
        "expected query [batch, heads, new tokens, dim], and key_pages and value_pages [pages, "
        "page_size, key heads, dim]");
  if (q.shape[3] != k.shape[3] ||
      !std::equal(k.shape.begin(), k.shape.begin() + 3, v.shape.begin()) || k.shape[2] == 0 ||
      q.shape[1] % k.shape[2] != 0)
    return invalid_argument("shapes do not fit: " + to_string(q) + ", " + to_string(k) + ", " +
                            to_string(v));
  if (q.dtype != k.dtype || k.dtype != v.dtype || !is_floating(q.dtype))
    return invalid_argument("query, key_pages and value_pages must have one floating dtype");
  if (!is_integer(table) || table.rank() != 2 || table.shape[0] != q.shape[0])
    return invalid_argument("page_table is " + to_string(table) +
                            ", expected integers: the pages of each row of " + to_string(q));
  if (!is_integer(lengths) || lengths.shape != Dims{q.shape[0]})
    return invalid_argument("lengths are " + to_string(lengths) +
                            ", expected an integer for each row of " + to_string(q));
  SHW_RETURN_IF_ERROR(key_window(*args.attrs, q.shape[2], 0).status());
  return one(row_major(q.dtype, Dims{q.shape[0], q.shape[1], q.shape[2], v.shape[3]}));
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  // A block of query heads needs the block of key heads that they share.
  const Blocks heads = args.in(0).shape[1] == args.in(1).shape[2] ? Blocks::kAny : Blocks::kEven;
  rules.add({shard(1)}, {shard(1), shard(2), shard(2), kR, kR}, heads);
  rules.add({shard(0)}, {shard(0), kR, kR, shard(0), shard(0)});
}

double flops(const OpArgs& args, std::span<const OptionalType>) {
  const Dims &q = args.in(0).shape, &k = args.in(1).shape, &v = args.in(2).shape;
  const auto f = [](int64_t x) { return static_cast<double>(x); };
  double keys = f(args.in(kTable).shape[1]) * f(k[1]);
  const int64_t left = args.attrs->get_int(AttrKey::kWindowLeft, -1);
  if (left >= 0) keys = std::min(keys, f(left) + 1);
  return 2 * f(q[0]) * f(q[1]) * f(q[2]) * keys * (f(q[3]) + f(v[3]));
}

}  // namespace

extern const OpDef kSdpaPaged;
constinit const OpDef kSdpaPaged = {
    .kind = OpKind::kSdpaPaged,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .flops = flops,
    .takes_strided = true,
};

}  // namespace shw::ops
