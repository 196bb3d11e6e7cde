// shw_pareto: step time against memory.
#include "pareto.h"

#include "compiler/pareto.h"

#include "blob.h"
#include "planner.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kParetoPointSize_0_2 = SHW_SIZE_TO(shw_pareto_point, step_us);
constexpr size_t kParetoOptionsSize_0_2 = SHW_SIZE_TO(shw_pareto_options, max_branch_nodes);
constexpr size_t kPoints = 12, kMaxPoints = 1000;

shw_pareto_point to_c(const ParetoPoint& point) {
  const Placed& placed = point.placed;
  shw_pareto_point c{};
  c.limit_bytes = static_cast<int64_t>(point.limit_bytes);
  c.peak_bytes = static_cast<int64_t>(placed.memory.peak_bytes);
  c.program_bytes = static_cast<int64_t>(placed.memory.program_bytes);
  c.objective_us = placed.objective_us;
  c.bound_us = placed.bound_us;
  c.proven = placed.proven;
  c.price_us_per_gib = placed.memory.price_per_gib;
  c.step_us = point.is_simulated() ? point.step_us : 0;
  return c;
}

}  // namespace
}  // namespace shw::capi

void shw_pareto_point_init(shw_pareto_point* point, size_t size) { init_struct(point, size); }

void shw_pareto_options_init(shw_pareto_options* options, size_t size) {
  init_struct(options, size);
}

shw_status* shw_planner_pareto(shw_planner* planner, const shw_pareto_options* options,
                               const shw_planner_changes* changes, shw_pareto** out_pareto) {
  return make_handle(out_pareto, "out_pareto", [&]() -> Result<std::unique_ptr<shw_pareto>> {
    SHW_WANT(planner);
    SHW_ASSIGN_OR_RETURN(const shw_pareto_options in, copy_in(options, kParetoOptionsSize_0_2));
    SHW_RETURN_IF_ERROR(check_flags(in.flags, 0));
    const size_t num_points = in.num_points > 0 ? in.num_points : kPoints;
    if (num_points < 2 || num_points > kMaxPoints)
      return invalid_argument("num_points is " + std::to_string(num_points) + ", expected 2 to " +
                              std::to_string(kMaxPoints));
    const PreparedModel& model = *planner->model;
    SHW_ASSIGN_OR_RETURN(Question asked, question_of(model, changes));
    if (asked.model.memory_limit() != 0)
      return invalid_argument("there is a memory limit; points are of every limit");
    solver::SolveOptions solve = pareto_options(model, asked.request.options.solver);
    if (in.max_branch_nodes > 0) solve.max_branch_nodes = in.max_branch_nodes;
    SHW_ASSIGN_OR_RETURN(const Pareto found, pareto(asked.model, static_cast<uint32_t>(num_points),
                                                    solve, asked.request.monitor));
    auto made = std::make_unique<shw_pareto>();
    made->context = planner->context;
    for (const ParetoPoint& point : found.points) made->points.push_back(to_c(point));
    made->json = pareto_json(model, found);
    made->text = pareto_text(model, found);
    made->svg = pareto_svg(model, found);
    return made;
  });
}

size_t shw_pareto_num_points(const shw_pareto* pareto) {
  return pareto ? pareto->points.size() : 0;
}

shw_status* shw_pareto_get_point(const shw_pareto* pareto, size_t index,
                                 shw_pareto_point* out_point) {
  return fill_struct(out_point, "out_point", kParetoPointSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(pareto);
    SHW_RETURN_IF_ERROR(check_index(index, pareto->points.size(), "point"));
    out = pareto->points[index];
    return {};
  });
}

static shw_status* text_of(const shw_pareto* pareto, shw_blob** out_blob,
                           std::string shw_pareto::*text) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(pareto);
    return make_blob(pareto->context, pareto->*text);
  });
}

shw_status* shw_pareto_to_json(const shw_pareto* pareto, shw_blob** out_blob) {
  return text_of(pareto, out_blob, &shw_pareto::json);
}

shw_status* shw_pareto_to_text(const shw_pareto* pareto, shw_blob** out_blob) {
  return text_of(pareto, out_blob, &shw_pareto::text);
}

shw_status* shw_pareto_to_svg(const shw_pareto* pareto, shw_blob** out_blob) {
  return text_of(pareto, out_blob, &shw_pareto::svg);
}

void shw_pareto_destroy(shw_pareto* pareto) { delete pareto; }
