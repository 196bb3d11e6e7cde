// local_map: a manual region. Its operands and results have the stated layouts; its body is
// supplied by the embedding program when it runs the plan (runtime/executor.h). To the planner it
// is a function of its operands without side effects. It may state several bodies, each with
// layouts and a cost of its own, separated by '|', of which the planner picks one.
//
//   region          its name: regions of one name have one body
//   in_placements   layouts of the last operands, one each, separated by ';', "-" where the operand
//                   is absent. The operands before them, activations that a backward region gets
//                   from its forward one, are replicated
//   out_placements  layouts of the first results, "-" where there is none; the results behind them,
//                   activations to be saved, are replicated
//   result_types    types of all results, "f32[8,16]; i64[8]; -": a body cannot be asked for them
//   flops           of the region on whole tensors, all ranks together; absent: it costs nothing
//   groups          of ranks, in which bodies exchange data: "ep; dp,ep" (sharding/mesh_groups.h)
//
// Alternatives: region, in_placements, out_placements and flops may state several. One that states
// a single value states it for all of them. An alternative that does not cut its tensors evenly on
// the mesh is left out. A step of the program has the attributes of the one that was picked: only
// its body need be supplied.
//
//   region="experts.ep | experts.tp", in_placements="S(0); S(0) | R; S(2)", flops="8e12 | 9e12"
//
// Ties between regions: strategy/alternatives.h.
//
// Pieces are equal on every rank: a body is not told of padding.
#include <cmath>

#include "ops/declared.h"
#include "sharding/mesh_groups.h"
#include "support/format.h"

namespace shw::ops {
namespace {

constexpr Param kParams[] = {{"operands", ParamKind::kOptionalTensorList},
                             {"region", ParamKind::kString, kRequired},
                             {"in_placements", ParamKind::kString},
                             {"out_placements", ParamKind::kString, kRequired},
                             {"result_types", ParamKind::kString, kRequired},
                             {"flops", ParamKind::kNumber, "0"},
                             {"groups", ParamKind::kString}};

// The layouts of one side: those of the leading or trailing tensors that are not stated replicate.
class Side {
 public:
  // `first`: the number of the first tensor that has a stated layout.
  Side(std::string_view attribute, const OpArgs& args, AttrKey key, size_t first)
      : attribute_(attribute), parts_(parts_of(args.attrs->get_string(key))), first_(first) {}
  size_t size() const { return parts_.size(); }

  // f(number of the tensor, its type, its stated layout).
  template <class F>
  Status for_each(std::span<const OptionalType> tensors, F f) const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const OptionalType& type = tensors[first_ + i];
      Status status = check(parts_[i], type);
      if (status.ok() && type) {
        auto stated = parse_stated(parts_[i], *type);
        status = stated.ok() ? f(first_ + i, *type, *stated) : stated.status();
      }
      if (!status.ok())
        return Status(status.code(),
                      std::string(attribute_) + "[" + std::to_string(i) + "]: " + status.message());
    }
    return {};
  }

 private:
  static Status check(std::string_view part, const OptionalType& type) {
    if (type.has_value() == (part != "-")) return {};
    return type ? invalid_argument("there is a tensor, " + to_string(*type) + ", and no layout")
                : invalid_argument("there is a layout, '" + std::string(part) + "', and no tensor");
  }

  std::string_view attribute_;
  std::vector<std::string_view> parts_;
  size_t first_;
};

Side ins_of(const OpArgs& args) {
  const size_t stated = parts_of(args.attrs->get_string(AttrKey::kInPlacements)).size();
  return {"in_placements", args, AttrKey::kInPlacements,
          args.operands.size() - std::min(stated, args.operands.size())};
}
Side outs_of(const OpArgs& args) { return {"out_placements", args, AttrKey::kOutPlacements, 0}; }

Results result_types(const OpArgs& args) {
  std::vector<OptionalType> results;
  bool any = false;
  for (std::string_view text : parts_of(args.attrs->get_string(AttrKey::kResultTypes))) {
    results.emplace_back();
    if (text == "-") continue;
    SHW_ASSIGN_OR_RETURN(TensorType type, parse_tensor_type(text));
    results.back() = std::move(type);
    any = true;
  }
  if (!any) return invalid_argument("result_types names no tensor");
  return results;
}

// What all alternatives must agree on.
struct Common {
  std::optional<size_t> num_ins, num_outs;  // stated layouts
  int mesh_rank = 0;                        // 0: not known yet
};

// All layouts are for one mesh.
Status check_layouts(const OpArgs& args, std::span<const OptionalType> results, int& mesh_rank) {
  const auto same_mesh = [&](size_t, const TensorType&, const StatedLayout& stated) -> Status {
    if (mesh_rank == 0) mesh_rank = stated.mesh_rank;
    if (stated.mesh_rank == mesh_rank) return {};
    return invalid_argument("'" + to_string(stated.layout, stated.mesh_rank) +
                            "' is for another number of mesh dims than the layouts before it");
  };
  SHW_RETURN_IF_ERROR(ins_of(args).for_each(args.operands, same_mesh));
  return outs_of(args).for_each(results, same_mesh);
}

Status check_count(const char* attribute, size_t stated, size_t tensors, const char* what,
                   std::optional<size_t>& before) {
  if (stated > tensors)
    return invalid_argument(
        format("%s names %zu layouts for %zu %s", attribute, stated, tensors, what));
  if (before.value_or(stated) != stated)
    return invalid_argument(format("%s names %zu layouts; the alternatives before it name %zu",
                                   attribute, stated, *before));
  before = stated;
  return {};
}

// `args` have the attributes of one alternative.
Status check_alternative(const OpArgs& args, std::span<const OptionalType> results,
                         Common& common) {
  if (args.attrs->get_string(AttrKey::kRegion).empty())
    return invalid_argument("attribute 'region' is missing");
  const double flops = args.attrs->get_number(AttrKey::kFlops, 0);
  if (!std::isfinite(flops) || flops < 0) return invalid_argument(format("flops is %f", flops));
  SHW_RETURN_IF_ERROR(check_count("in_placements", ins_of(args).size(), args.operands.size(),
                                  "operands", common.num_ins));
  SHW_RETURN_IF_ERROR(check_count("out_placements", outs_of(args).size(), results.size(), "results",
                                  common.num_outs));
  return check_layouts(args, results, common.mesh_rank);
}

Results infer(const OpArgs& args) {
  SHW_ASSIGN_OR_RETURN(std::vector<OptionalType> results, result_types(args));
  SHW_ASSIGN_OR_RETURN(const std::vector<Attrs> alternatives, alternatives_of(*args.attrs));
  Common common;
  for (size_t i = 0; i < alternatives.size(); ++i) {
    const Status status = check_alternative({args.operands, &alternatives[i]}, results, common);
    if (!status.ok())
      return alternatives.size() == 1 ? status
                                      : Status(status.code(), "alternative " + std::to_string(i) +
                                                                  ": " + status.message());
  }
  return results;
}

Result<std::vector<Layout>> declared(const OpArgs& args, std::span<const OptionalType> results,
                                     const Mesh& mesh) {
  std::vector<Layout> layouts(results.size() + args.operands.size());
  const auto take_from = [&](size_t first) {
    return [&layouts, &mesh, first](size_t i, const TensorType& type, const StatedLayout& stated) {
      layouts[first + i] = stated.layout;
      return check_on_mesh(stated, type, mesh, /*even=*/true);
    };
  };
  SHW_RETURN_IF_ERROR(ins_of(args).for_each(args.operands, take_from(results.size())));
  SHW_RETURN_IF_ERROR(outs_of(args).for_each(results, take_from(0)));
  const auto groups = parse_groups(args.attrs->get_string(AttrKey::kGroups), mesh);
  if (!groups.ok()) return invalid_argument("groups: " + groups.status().message());
  return layouts;
}

double flops(const OpArgs& args, std::span<const OptionalType>) {
  return args.attrs->get_number(AttrKey::kFlops, 0);
}

}  // namespace

extern const OpDef kLocalMap;
constinit const OpDef kLocalMap = {
    .kind = OpKind::kLocalMap,
    .params = kParams,
    .infer = infer,
    .sharding = Sharding::kDeclared,
    .declared = declared,
    .flops = flops,
    .opaque = true,
};

}  // namespace shw::ops
