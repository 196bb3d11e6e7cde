// sharding_constraint: the operand in the layout `placements`, "S(0)R". Free; it pins the layouts
// of its operand and result, and its gradient is a constraint with the same placements.
#include "ops/declared.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"placements", ParamKind::kString, kRequired}};

Results infer(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(
      parse_stated(args.attrs->get_string(AttrKey::kPlacements), args.in(0)).status());
  return infer_identity(args);
}

Result<std::vector<Layout>> declared(const OpArgs& args, std::span<const OptionalType>,
                                     const Mesh& mesh) {
  SHW_ASSIGN_OR_RETURN(const StatedLayout stated,
                       parse_stated(args.attrs->get_string(AttrKey::kPlacements), args.in(0)));
  SHW_RETURN_IF_ERROR(check_on_mesh(stated, args.in(0), mesh, /*even=*/false));
  return std::vector<Layout>{stated.layout, stated.layout};
}

}  // namespace

extern const OpDef kShardingConstraint;
constinit const OpDef kShardingConstraint = {
    .kind = OpKind::kShardingConstraint,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kDeclared,
    .declared = declared,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
