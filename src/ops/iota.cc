// iota: `length` numbers start, start + step, …. Computed unsharded on every rank.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {
    {"length", ParamKind::kInt, kRequired}, {"start", ParamKind::kInt, "0"},
    {"step", ParamKind::kInt, "1"},         {"dtype", ParamKind::kDtype, "i64"},
    {"device", ParamKind::kIgnored},        {"requires_grad", ParamKind::kIgnored}};

Results infer(const OpArgs& args) {
  const int64_t length = args.attrs->get_int(AttrKey::kLength, -1);
  if (length < 0) return invalid_argument("length is " + std::to_string(length));
  return one(row_major(args.attrs->get_dtype(AttrKey::kDtype, Dtype::kI64), Dims{length}));
}

}  // namespace

extern const OpDef kIota;
constinit const OpDef kIota = {
    .kind = OpKind::kIota,
    .params = kParams,
    .infer = infer,
    .rules = replicated_only,
};

}  // namespace shw::ops
