// transpose: swaps dims `dim0` and `dim1`; a view.
#include <utility>

#include "ops/families.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor},
                             {"dim0", ParamKind::kInt, kRequired},
                             {"dim1", ParamKind::kInt, kRequired}};

Result<std::pair<size_t, size_t>> both(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  const auto a = wrap_dim(args.attrs->get_int(AttrKey::kDim0, 0), args.in(0).rank()),
             b = wrap_dim(args.attrs->get_int(AttrKey::kDim1, 1), args.in(0).rank());
  if (!a || !b) return invalid_argument("dim0 or dim1 is no dim of " + to_string(args.in(0)));
  return std::pair(*a, *b);
}

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const auto dims, both(args));
  TensorType type = args.in(0);
  std::swap(type.shape[dims.first], type.shape[dims.second]);
  std::swap(type.strides[dims.first], type.strides[dims.second]);
  return one(type);
}

std::optional<Followed> follow(const OpArgs& args, const TensorType&, const Layout& operand,
                               const Mesh&) {
  const auto dims = both(args);
  if (!dims.ok()) return std::nullopt;
  return follow_dims(operand, [&](size_t d) -> std::optional<size_t> {
    return d == dims->first ? dims->second : d == dims->second ? dims->first : d;
  });
}

}  // namespace

extern const OpDef kTranspose;
constinit const OpDef kTranspose = {
    .kind = OpKind::kTranspose,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kFollow,
    .follow = follow,
    .free = true,
    .is_view = true,
};

}  // namespace shw::ops
