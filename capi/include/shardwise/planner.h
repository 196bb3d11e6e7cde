/*
 * More than one question of a graph: a planner keeps what does not depend on pins and budgets –
 * the graph after its rewrites, every strategy, every price – and solves as often as it is asked.
 *
 *   what if      shw_planner_compile() under other pins, and shw_plan_compare()
 *   why          shw_planner_explain(): what a node pays, and what every other layout would cost
 *   which mesh   shw_mesh_search(): every way to lay out the devices, best first
 */
#ifndef SHARDWISE_PLANNER_H_
#define SHARDWISE_PLANNER_H_

#include "shardwise/shardwise.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_planner shw_planner; /* a graph made ready for a mesh, to be solved many times */

/* What one call changes in the options that the planner was made with, for this call alone. */
typedef struct shw_planner_changes {
  size_t struct_size;  /* set by SHW_PLANNER_CHANGES_INIT */
  uint64_t flags;      /* 0: none is defined yet */
  const shw_pin* pins; /* added to those of the options; lent for the call */
  size_t num_pins;
  const char* input_layout;      /* NULL: as in the options */
  const char* output_layout;     /* NULL: as in the options */
  shw_param_budget param_budget; /* 0: as in the options */
  int32_t reserved;              /* 0 */
  double param_budget_factor;    /* for SHW_PARAM_BUDGET_FACTOR; in (0, 1] */
  int64_t memory_limit_bytes;    /* 0: as in the options */
  shw_bytes placements;          /* JSON of shw_plan_to_placements(): the nodes that it names are
                                    given exactly these; size 0: none; lent for the call */
  double time_limit_s;      /* wall clock, from the start of the call, all solves together; then
                               the best answer so far is taken, unproven; 0: as in the options */
  const shw_cancel* cancel; /* lent for the call; NULL: none, also if the options have one */
  shw_progress_fn progress; /* NULL: none */
  void* progress_user;
  const char* const* without; /* constraints to leave out, those of the options or what always
                                 holds, by the names that reports of conflicts give them; * and ?
                                 stand for anything; lent for the call */
  size_t num_without;
  const shw_pin* input_layouts; /* added to those of the options, whom they go before */
  size_t num_input_layouts;
  const shw_pin* output_layouts;
  size_t num_output_layouts;
} shw_planner_changes;
#define SHW_PLANNER_CHANGES_INIT                                                                   \
  {                                                                                                \
    sizeof(shw_planner_changes), 0, NULL, 0, NULL, NULL, 0, 0, 0.0, 0, {NULL, 0}, 0.0, NULL, NULL, \
        NULL, NULL, 0, NULL, 0, NULL, 0                                                            \
  }

/**
 * Verifies and rewrites a graph, and prices every strategy of every node on the mesh: all of
 * shw_plan_compile() that comes before the solve.
 * @param graph        FlatBuffer of schemas/graph.fbs; lent for the call; of any alignment and
 *                     content
 * @param options      lent for the call; NULL: defaults
 * @param out_planner  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the bytes are no sound graph, or an option makes no sense
 * @retval SHW_UNIMPLEMENTED       the graph or an option asks for what the library cannot do yet
 * @retval SHW_CANCELLED           `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED   time_limit_s passed before there was an answer
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any; calls in one context run in parallel
 * @since 0.1
 */
SHW_API shw_status* shw_planner_create(shw_context* context, shw_bytes graph,
                                       const shw_compile_options* options,
                                       shw_planner** out_planner) SHW_MUST_USE;

/**
 * Frees the planner; plans that it made stay valid. NULL is allowed.
 * @thread external: one thread at a time for each planner
 * @since 0.1
 */
SHW_API void shw_planner_destroy(shw_planner* planner);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_planner_changes_init(shw_planner_changes* changes, size_t size);

/**
 * The cheapest plan: the one that shw_plan_compile() makes of the graph under the planner's options
 * and the changes, byte by byte.
 * @param changes   lent for the call; NULL: none
 * @param out_plan  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a change makes no sense: a layout that cannot be, placements of
 *                                  another mesh or graph
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options and the changes
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before there was an answer
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.1
 */
SHW_API shw_status* shw_planner_compile(shw_planner* planner, const shw_planner_changes* changes,
                                        shw_plan** out_plan) SHW_MUST_USE;

/**
 * Why a node lies as it does, as one JSON object: its strategy, what it and the edges at it cost
 * (`compute`, `comm`, `transition`, `operands`, `users`), and what else there is. `alternatives`
 * are the layouts of its result: each with `floor`, below which no plan that has it can cost (null:
 * no plan has it), and, for the one that is asked for and those with the cheapest floors, `forced`:
 * what the best plan costs that has it, as solved again with the layout pinned. `second_best` is
 * the cheapest layout that was not chosen. `status` is what the reference planner calls each:
 * CHOSEN, TIE, TARGET CHEAPER, CHOSEN CHEAPER, UNAVAILABLE; "": not known, as it was not forced.
 * `strategies` have floors too. Costs are in us.
 * @param node      its name after the rewrites, or its name as an input or output
 *                  ("param.<name>", "output")
 * @param layout    to be forced in any case, one place a mesh axis: "S(0)R"; NULL: none
 * @param changes   lent for the call; NULL: none
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_NOT_FOUND            there is no such node; the message offers names like it
 * @retval SHW_INVALID_ARGUMENT     no strategy of the node has the layout, or a change makes no
 *                                  sense
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options and the changes
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before there was an answer
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.1
 */
SHW_API shw_status* shw_planner_explain(shw_planner* planner, const char* node, const char* layout,
                                        const shw_planner_changes* changes,
                                        shw_blob** out_blob) SHW_MUST_USE;

/**
 * The plan as a whole, as one JSON object: `objective`, `bound`, `proven`, `compute`, `comm`,
 * `transition`, the `dearest_edges`, all that pay in `edge_groups` (`module` of the consumer with
 * numbers as *, ops, layouts, `count`, `comm` of all), and `optimal_while`: how far the world may
 * change before another plan is better. `communication_factor`: were communication as a whole so
 * many times as dear (half as fast a network: 2), `from` … `to`, the plan would stay a cheapest
 * one, and beyond it would not; `below` and `above` are the plans that take over there. `to` 1024:
 * it was not asked beyond. `memory_limit_bytes`: `from` the peak of the plan up `to_at_least`; with
 * `to_below` there is a cheaper plan (null: with no limit). `exact` false: a solve ended without
 * proof, and the range may be smaller.
 * @param changes   lent for the call; NULL: none
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a change makes no sense
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options and the changes
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before there was an answer
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.1
 */
SHW_API shw_status* shw_planner_explain_plan(shw_planner* planner,
                                             const shw_planner_changes* changes,
                                             shw_blob** out_blob) SHW_MUST_USE;

/**
 * The cheapest choice as the reference planner (AutoParallel) exports its own, for tools made for
 * its files: `mesh`, `nodes` with the layouts and costs of their operands, `summary`. Operations
 * have our names. `cluster_root` is the first node that does the same in a module that is alike.
 * @param changes   lent for the call; NULL: none
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a change makes no sense
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options and the changes
 * @retval SHW_DEADLINE_EXCEEDED   time_limit_s passed before there was an answer
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.1
 */
SHW_API shw_status* shw_planner_export(shw_planner* planner, const shw_planner_changes* changes,
                                       shw_blob** out_blob) SHW_MUST_USE;

/**
 * The modules that the graph was traced from as a tree, in JSON: each with its `parameters` and
 * their layouts, and what it costs and holds at the memory peak with all that is in it. Numbered
 * modules that are alike stand once, with their `count`.
 * @param plan      lent for the call
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_to_module_tree(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * The placement of every node, as JSON to be kept, looked at, or changed by hand, and planned with
 * again: mesh (`shape`, `dim_names`), and `nodes` with `name`, `output` and `inputs`. Nodes that
 * are taken out of it are free then.
 * @param plan      lent for the call
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_to_placements(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * How two plans differ, as one JSON object: `before` and `after` (costs, memory of one rank
 * with the planned peak by kind, collectives) with `delta`; `changes`: the nodes whose result went
 * `from` one layout `to` another, those of most nodes first; `operands_only`: nodes with the same
 * result from other operands; the number of those `unchanged`; and the nodes of one plan alone, by
 * name. The plans may be of other meshes, options or hardware.
 * @param before    lent for the call
 * @param after     lent for the call
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_compare(const shw_plan* before, const shw_plan* after,
                                     shw_blob** out_blob) SHW_MUST_USE;

#define SHW_SEARCH_EACH_BATCH                                                                    \
  ((uint64_t)1) /* plan each mesh for every set of mesh dims that could cut the first dim of the \
                   inputs, instead of with the options' input_layout */

/* Options of shw_mesh_search(). */
typedef struct shw_search_options {
  size_t struct_size;    /* set by SHW_SEARCH_OPTIONS_INIT */
  uint64_t flags;        /* SHW_SEARCH_* */
  int64_t num_devices;   /* 1 to 2^20 */
  int32_t max_mesh_dims; /* 1 to 6; 0: 3 */
  int32_t num_threads;   /* at most this many; 0: as many as cores. Never changes a plan, unless the
                            options' time_limit_s ends its search */
  int32_t num_best;      /* only so many best are wanted: others are given up once their bound says
                            that they are not among them, sooner or later by threads; 0: all */
  int32_t reserved;      /* 0 */
} shw_search_options;
#define SHW_SEARCH_OPTIONS_INIT \
  { sizeof(shw_search_options), 0, 0, 0, 0, 0, 0 }

/**
 * Sets all members of a struct that is `size` bytes large to their defaults.
 * @thread any
 * @since 0.1
 */
SHW_API void shw_search_options_init(shw_search_options* options, size_t size);

/**
 * Plans a graph on every mesh that a number of devices can be laid out as.
 * @param graph     lent for the call, as for shw_plan_compile()
 * @param options   lent for the call; NULL: defaults. Its mesh axes must be none. A layout with
 *                  fewer places than a mesh has axes leaves the others replicated. `progress` is
 *                  called from one thread at a time, once for each plan
 * @param search    lent for the call; num_devices must be set
 * @param out_blob  receives JSON that the caller destroys: {"meshes": [{"mesh", "input_layout",
 *                  "batch" (the axes that cut the first dim of every input), "objective",
 *                  "bound", "proven", "compute", "comm", "program" (µs), "memory_peak_bytes",
 *                  "seconds"}, …]}, best first; then those given up, with "given_up" and
 *                  "bound"; then those without a plan, with "why_not". NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the search or an option makes no sense
 * @retval SHW_CANCELLED           `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any; calls in one context run in parallel
 * @since 0.1
 */
SHW_API shw_status* shw_mesh_search(shw_context* context, shw_bytes graph,
                                    const shw_compile_options* options,
                                    const shw_search_options* search,
                                    shw_blob** out_blob) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_PLANNER_H_ */
