/*
 * A plan as a page for a browser.
 */
#ifndef SHARDWISE_REPORT_H_
#define SHARDWISE_REPORT_H_

#include "shardwise/pareto.h"
#include "shardwise/plan.h"
#include "shardwise/planner.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A report of a plan: one HTML file that needs no other and no network. It shows costs and proof,
 * the layouts of all tensors on the mesh, modules, communication, memory over time, a step in time
 * and the nodes. Why its layouts were chosen is not in a plan: shw_planner_to_report() adds that.
 * @param other     to compare with; NULL: none
 * @param pareto    to show; NULL: none
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_report(const shw_plan* plan, const shw_plan* other,
                                       const shw_pareto* pareto, shw_blob** out_blob) SHW_MUST_USE;

/**
 * The same with the reasons: for each node what is paid for its operands, and a lower bound on the
 * cost of a plan with each other layout of its result; for one parameter of each kind the exact
 * price of the cheapest of those, unless solving takes long, or there is a memory limit.
 * @param changes   with which the planner made the plan; lent for the call; NULL: none
 * @param plan      of this planner
 * @param other     to compare with; NULL: none
 * @param pareto    to show; NULL: none
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a change is malformed
 * @retval SHW_FAILED_PRECONDITION  the planner's answer is not this plan, or there is none
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before any answer was found
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.2
 */
SHW_API shw_status* shw_planner_to_report(shw_planner* planner, const shw_planner_changes* changes,
                                          const shw_plan* plan, const shw_plan* other,
                                          const shw_pareto* pareto,
                                          shw_blob** out_blob) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_REPORT_H_ */
