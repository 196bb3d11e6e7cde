// local_map: a manual region. What goes in and comes out lies as the region states; between is the
// body, which is the embedding program's: the planner asks nothing of it, and it costs nothing in
// the model (the reference's rule for such regions).
//
//   region          its name, for messages and for whoever runs it
//   in_placements   layouts of the last operands, one each, separated by ';'; the operands before
//                   them, activations that a backward region gets from its forward one, are
//                   replicated
//   out_placements  layouts of the first results; the results behind them, saved activations, are
//                   replicated
//   result_types    types of all results, "f32[8,16];i64[8]": a body cannot be asked for them
#include "ops/declared.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"operands", ParamKind::kTensorList},
                             {"region", ParamKind::kString},
                             {"in_placements", ParamKind::kString},
                             {"out_placements", ParamKind::kString},
                             {"result_types", ParamKind::kString}};

Results infer(const OpArgs& args) {
  if (args.attrs->get_string(AttrKey::kRegion).empty())
    return invalid_argument("attribute 'region' is missing");
  const auto ins = parts_of(args.attrs->get_string(AttrKey::kInPlacements)),
             outs = parts_of(args.attrs->get_string(AttrKey::kOutPlacements)),
             types = parts_of(args.attrs->get_string(AttrKey::kResultTypes));
  if (types.empty()) return invalid_argument("attribute 'result_types' is missing");
  if (ins.size() > args.operands.size())
    return invalid_argument("in_placements names " + std::to_string(ins.size()) + " layouts for " +
                            std::to_string(args.operands.size()) + " operands");
  if (outs.size() > types.size())
    return invalid_argument("out_placements names " + std::to_string(outs.size()) +
                            " layouts for " + std::to_string(types.size()) + " results");
  std::vector<OptionalType> results;
  for (std::string_view t : types) {
    SHW_ASSIGN_OR_RETURN(TensorType type, parse_tensor_type(t));
    results.push_back(std::move(type));
  }
  return results;
}

Result<std::vector<Layout>> declared(const OpArgs& args, std::span<const OptionalType> results,
                                     const Mesh& mesh) {
  const auto ins = parts_of(args.attrs->get_string(AttrKey::kInPlacements)),
             outs = parts_of(args.attrs->get_string(AttrKey::kOutPlacements));
  std::vector<Layout> layouts(results.size() + args.operands.size());
  for (size_t i = 0; i < outs.size(); ++i) {
    SHW_ASSIGN_OR_RETURN(layouts[i], stated_layout(outs[i], *results[i], mesh));
  }
  const size_t saved = args.operands.size() - ins.size();
  for (size_t i = 0; i < ins.size(); ++i) {
    SHW_ASSIGN_OR_RETURN(layouts[results.size() + saved + i],
                         stated_layout(ins[i], args.in(saved + i), mesh));
  }
  return layouts;
}

}  // namespace

extern const OpDef kLocalMap;
constinit const OpDef kLocalMap = {
    .kind = OpKind::kLocalMap,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kDeclared,
    .declared = declared,
    .free = true,
};

}  // namespace shw::ops
