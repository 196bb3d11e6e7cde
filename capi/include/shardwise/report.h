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
 * A report of a plan: one HTML file that needs no other file and no network. It shows costs and
 * proof, the layouts of all tensors on the mesh, modules, communication, memory over time, a
 * timeline of a step, and the nodes. A plan does not contain the reasons for its layouts:
 * shw_planner_to_report() adds them.
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
 * The same report with the reasons. For each node it shows the cost of bringing its operands into
 * their layouts. For each other layout of its result it shows a lower bound on the cost of a plan
 * with that layout. For one parameter of each kind it shows the exact cost of the cheapest such
 * plan, unless solving takes long or there is a memory limit.
 * @param changes   those with which the planner made the plan; lent for the call; NULL: none
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
