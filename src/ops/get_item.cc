// get_item: tensor number `index` of a tuple. The operand that inference sees is that tensor
// itself, not the tuple.
#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"index", ParamKind::kInt}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  return one(args.in(0));
}

}  // namespace

extern const OpDef kGetItem;
constinit const OpDef kGetItem = {
    .kind = OpKind::kGetItem,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kElement,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
