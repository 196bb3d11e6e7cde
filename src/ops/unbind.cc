// unbind: a view of every element of dim `dim`, which is removed.
#include "ops/along_dim.h"
#include "ops/slice.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"self", ParamKind::kTensor}, {"dim", ParamKind::kInt, "0"}};

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(const size_t dim, along(args, 0));
  TensorType type = args.in(0);
  const int64_t count = type.shape[dim];
  constexpr int64_t kMaxPieces = 1 << 16;
  if (count < 1 || count > kMaxPieces)
    return invalid_argument("dim " + std::to_string(dim) + " has " + std::to_string(count) +
                            " elements, expected 1 to " + std::to_string(kMaxPieces));
  type.shape.erase(dim);
  type.strides.erase(dim);
  return std::vector<OptionalType>(static_cast<size_t>(count), type);
}

void rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  if (const auto dim = along(args, 0); dim.ok())
    select_rules(args.in(0).shape.size(), *dim, /*part=*/1, rules);
}

}  // namespace

extern const OpDef kUnbind;
constinit const OpDef kUnbind = {
    .kind = OpKind::kUnbind,
    .params = kParams,
    .infer = infer,
    .rules = rules,
    .free = true,
    .takes_strided = true,
    .is_view = true,
};

}  // namespace shw::ops
