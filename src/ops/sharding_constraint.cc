// sharding_constraint: a value that lies as `placements` says, "S(0)R"; no work at all.
#include "ops/declared.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"placements", ParamKind::kString}};

Results infer(const OpArgs& args) {
  if (args.attrs->get_string(AttrKey::kPlacements).empty())
    return invalid_argument("attribute 'placements' is missing");
  return infer_identity(args);
}

Result<std::vector<Layout>> declared(const OpArgs& args, std::span<const OptionalType>,
                                     const Mesh& mesh) {
  SHW_ASSIGN_OR_RETURN(
      const Layout layout,
      stated_layout(args.attrs->get_string(AttrKey::kPlacements), args.in(0), mesh));
  return std::vector<Layout>{layout, layout};
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
