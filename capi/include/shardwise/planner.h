/*
 * Several questions about one graph. A planner keeps everything that does not depend on
 * constraints: the rewritten graph, the strategies of every node, and their prices. Each question
 * takes one or more solves.
 *
 *   what if       shw_planner_compile() with other constraints, and shw_plan_compare()
 *   why           shw_planner_explain(): what a node pays, and what every other layout would cost
 *   how much      shw_planner_pareto(): step time against memory
 *   what else     shw_planner_compare(): well-known recipes compared with the optimum
 *   which mesh    shw_search_create(): every mesh of a number of devices, best first
 */
#ifndef SHARDWISE_PLANNER_H_
#define SHARDWISE_PLANNER_H_

#include "shardwise/compile.h"
#include "shardwise/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_planner shw_planner; /* a graph prepared for a mesh */

/* ---- Planner --------------------------------------------------------------------------------- */

/* What one call changes in the planner's options, for this call alone. All pointers are lent for
 * the call. */
typedef struct shw_planner_changes {
  size_t struct_size; /* set by SHW_PLANNER_CHANGES_INIT */
  uint64_t flags;     /* 0: none is defined yet */

  const char* input_layout;             /* NULL: as in the options */
  const char* output_layout;            /* NULL: as in the options */
  const shw_port_layout* input_layouts; /* appended to those of the options; they take precedence */
  size_t num_input_layouts;
  const shw_port_layout* output_layouts; /* likewise */
  size_t num_output_layouts;
  const shw_pin* pins; /* appended to those of the options */
  size_t num_pins;
  const char* const* without; /* appended to those of the options; they may name constraints of
                                 these changes too */
  size_t num_without;
  shw_bytes placements; /* JSON of shw_plan_to_placements(): the nodes that it names get these
                           placements; empty: none */

  int64_t memory_limit_bytes;    /* 0: as in the options */
  double param_budget_factor;    /* for SHW_PARAM_BUDGET_FACTOR; in (0, 1] */
  shw_param_budget param_budget; /* 0: as in the options */
  int32_t reserved;              /* 0 */

  double time_limit_s;      /* from the start of the call, for all its solves. After it the best
                               answer found so far is returned, unproven. 0: as in the options */
  const shw_cancel* cancel; /* NULL: none, also if the options have one */
  shw_progress_fn progress; /* NULL: none */
  void* progress_user;
} shw_planner_changes;
#define SHW_PLANNER_CHANGES_INIT                                                                  \
  {                                                                                               \
    sizeof(shw_planner_changes), 0, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, NULL, 0, {NULL, 0}, 0, \
        0.0, 0, 0, 0.0, NULL, NULL, NULL                                                          \
  }

/**
 * Verifies and rewrites a graph, and prices every strategy of every node on the mesh. This is what
 * shw_plan_compile() does before it solves.
 * @param graph        FlatBuffer of graph.fbs, or text (.swt); lent for the call; any alignment and
 *                     content
 * @param options      lent for the call; NULL: defaults
 * @param out_planner  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the graph is malformed, or an option is out of range
 * @retval SHW_OUT_OF_RANGE        a bucket's size is not between its symbol's minimum and maximum
 * @retval SHW_UNIMPLEMENTED       the graph or an option needs what the library does not have yet
 * @retval SHW_CANCELLED           `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED   time_limit_s passed
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any; calls in one context run in parallel
 * @since 0.2
 */
SHW_API shw_status* shw_planner_create(shw_context* context, shw_bytes graph,
                                       const shw_compile_options* options,
                                       shw_planner** out_planner) SHW_MUST_USE;

/**
 * Frees the planner; plans that it made stay valid. NULL is allowed.
 * @thread external: one thread at a time for each planner
 * @since 0.2
 */
SHW_API void shw_planner_destroy(shw_planner* planner);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_planner_changes_init(shw_planner_changes* changes, size_t size);

/**
 * The cheapest plan. Its bytes equal those of shw_plan_compile() with the planner's options and the
 * changes.
 * @param changes   lent for the call; NULL: none
 * @param out_plan  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a change is malformed: an impossible layout, placements of
 *                                  another mesh or graph
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options and the changes
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before any answer was found
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.2
 */
SHW_API shw_status* shw_planner_compile(shw_planner* planner, const shw_planner_changes* changes,
                                        shw_plan** out_plan) SHW_MUST_USE;

/**
 * The cheapest placement in the export format of the reference planner (AutoParallel), for tools
 * that read its files: `mesh`, `nodes` with the layouts and costs of their operands, `summary`.
 * `cluster_root` is the first node that has the same position in an equal module.
 * @param changes   lent for the call; NULL: none
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a change is malformed
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options and the changes
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before any answer was found
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.2
 */
SHW_API shw_status* shw_planner_export(shw_planner* planner, const shw_planner_changes* changes,
                                       shw_blob** out_blob) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_PLANNER_H_ */
