// A plan as an HTML page.
#include "shardwise/report.h"

#include "blob.h"
#include "compiler/fastest.h"
#include "pareto.h"
#include "plan.h"
#include "planner.h"
#include "report/document.h"

using namespace shw;
using namespace shw::capi;

// `planner`: may be NULL.
static Result<std::unique_ptr<shw_blob>> blob_of(shw_planner* planner,
                                                 const shw_planner_changes* changes,
                                                 const shw_plan* plan, const shw_plan* other,
                                                 const shw_pareto* pareto) {
  SHW_WANT(plan);
  report::Extras extras;
  report::Reasons reasons;
  if (other != nullptr) extras.other = &other->ref->plan;
  if (pareto != nullptr) extras.pareto = pareto->json;
  if (planner != nullptr) {
    SHW_ASSIGN_OR_RETURN(Question asked, question_of(*planner->model, changes));
    const solver::SolveOptions& options = asked.request.options.solver;
    SHW_ASSIGN_OR_RETURN(const Placed placed, answer(asked.model, options, asked.request.monitor));
    SHW_ASSIGN_OR_RETURN(reasons, report::reasons(asked.model, placed, plan->ref->plan, options,
                                                  asked.request.monitor));
    extras.reasons = &reasons;
  }
  SHW_ASSIGN_OR_RETURN(const std::string page, report::page(plan->ref->plan, extras));
  return make_blob(plan->ref->context, page);
}

shw_status* shw_plan_to_report(const shw_plan* plan, const shw_plan* other,
                               const shw_pareto* pareto, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob",
                     [&] { return blob_of(nullptr, nullptr, plan, other, pareto); });
}

shw_status* shw_planner_to_report(shw_planner* planner, const shw_planner_changes* changes,
                                  const shw_plan* plan, const shw_plan* other,
                                  const shw_pareto* pareto, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(planner);
    return blob_of(planner, changes, plan, other, pareto);
  });
}
