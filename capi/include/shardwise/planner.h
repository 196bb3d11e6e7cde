/*
 * Several questions of one graph. A planner keeps everything that does not depend on constraints:
 * the rewritten graph, the strategies of every node, and their prices. Each question costs one or
 * more solves.
 *
 *   what if       shw_planner_compile() with other constraints, and shw_plan_compare()
 *   why           shw_planner_explain(): what a node pays, and what every other layout would cost
 *   how much      shw_planner_pareto(): step time against memory
 *   which mesh    shw_search_create(): every mesh of so many devices, best first
 */
#ifndef SHARDWISE_PLANNER_H_
#define SHARDWISE_PLANNER_H_

#include "shardwise/compile.h"
#include "shardwise/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_planner shw_planner;                   /* a graph prepared for a mesh */
typedef struct shw_explanation shw_explanation;           /* of a node's placement; immutable */
typedef struct shw_plan_explanation shw_plan_explanation; /* of a whole plan; immutable */
typedef struct shw_pareto shw_pareto;                     /* step time against memory; immutable */
typedef struct shw_search shw_search;                     /* meshes, best first; immutable */

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

  double time_limit_s;      /* from the start of the call, for all its solves. Then the best answer
                               found so far is returned, unproven. 0: as in the options */
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
 * Verifies and rewrites a graph, and prices every strategy of every node on the mesh: what
 * shw_plan_compile() does before it solves.
 * @param graph        FlatBuffer of schemas/graph.fbs; lent for the call; any alignment, any
 * content
 * @param options      lent for the call; NULL: defaults
 * @param out_planner  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the graph is malformed, or an option is out of range
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
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
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
 * `cluster_root` is the first node with the same position in
 * a module that is alike.
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

/* ---- Explanation: the placement of a node ---------------------------------------------------- */

/* Options of shw_planner_explain(). All pointers are lent for the call. */
typedef struct shw_explanation_options {
  size_t struct_size; /* set by SHW_EXPLANATION_OPTIONS_INIT */
  uint64_t flags;     /* 0: none is defined yet */
  const char* layout; /* to be solved in any case, one placement for each mesh axis: "S(0)R"; NULL:
                         none */
  size_t num_forced;  /* how many layouts to solve, those with the lowest bounds; 0: 3 */
} shw_explanation_options;
#define SHW_EXPLANATION_OPTIONS_INIT \
  { sizeof(shw_explanation_options), 0, NULL, 0 }

/* A node, its placement, and the plan that it is part of. Strings are lent by the explanation. */
typedef struct shw_explanation_summary {
  size_t struct_size; /* set by SHW_EXPLANATION_SUMMARY_INIT */
  const char* node;
  const char* op;
  const char* module_path; /* "": none */
  const char* strategy;    /* that was chosen: "(S(0)R, RS(1)) -> S(0)S(1)" */
  shw_phase phase;
  int32_t proven;          /* of the plan */
  double compute_us;       /* of the node */
  double communication_us; /* of the edges into it */
  double transition_us;
  double objective_us; /* of the plan */
  double bound_us;
  size_t second_best; /* the cheapest alternative that was not chosen; SHW_NONE: none, or not found
                         in time */
} shw_explanation_summary;
#define SHW_EXPLANATION_SUMMARY_INIT \
  { sizeof(shw_explanation_summary), NULL, NULL, NULL, NULL, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0 }

/* A layout that the node's result could have. Strings are lent by the explanation. */
typedef struct shw_explanation_alternative {
  size_t struct_size; /* set by SHW_EXPLANATION_ALTERNATIVE_INIT */
  const char* layout;
  int32_t chosen;
  int32_t forced;        /* 1: the plan was solved again with this layout pinned; only then the
                            fields from `possible` on are set */
  size_t num_strategies; /* of the node that have this layout */
  double floor_us;       /* lower bound of all plans that have it; infinity: no plan has it */
  int32_t possible;      /* 0: no plan has it */
  int32_t proven;
  double objective_us; /* of the best plan that has it */
  double bound_us;
  const char* strategy; /* of the node in that plan */
  size_t changed_nodes; /* whose strategy differs there */
} shw_explanation_alternative;
#define SHW_EXPLANATION_ALTERNATIVE_INIT \
  { sizeof(shw_explanation_alternative), NULL, 0, 0, 0, 0.0, 0, 0, 0.0, 0.0, NULL, 0 }

/* A strategy of the node. Strings are lent by the explanation. */
typedef struct shw_explanation_strategy {
  size_t struct_size; /* set by SHW_EXPLANATION_STRATEGY_INIT */
  const char* name;   /* "(S(0)R, RS(1)) -> S(0)S(1)" */
  int32_t chosen;
  int32_t reserved;  /* 0 */
  double compute_us; /* of the node */
  double floor_us;   /* lower bound of all plans that have it; infinity: no plan has it */
} shw_explanation_strategy;
#define SHW_EXPLANATION_STRATEGY_INIT \
  { sizeof(shw_explanation_strategy), NULL, 0, 0, 0.0, 0.0 }

/* An edge at the node. Strings are lent by the explanation. */
typedef struct shw_explanation_edge {
  size_t struct_size; /* set by SHW_EXPLANATION_EDGE_INIT */
  const char* producer;
  const char* consumer;
  size_t operand;   /* of the consumer */
  const char* from; /* layout of the producer's result */
  const char* to;   /* layout that the consumer needs */
  double communication_us;
  double transition_us;
} shw_explanation_edge;
#define SHW_EXPLANATION_EDGE_INIT \
  { sizeof(shw_explanation_edge), NULL, NULL, 0, NULL, NULL, 0.0, 0.0 }

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_explanation_options_init(shw_explanation_options* options, size_t size);

/**
 * Why a node has its placement: what it and the edges at it cost, and what every other layout of
 * its result would cost. Every alternative has a lower bound. Those with the lowest bounds, and
 * the layout of the options, are also solved again with the layout pinned.
 * @param node             its name after the rewrites, or its name as an input or output
 *                         ("param.<name>", "output")
 * @param options          lent for the call; NULL: defaults
 * @param changes          lent for the call; NULL: none
 * @param out_explanation  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_NOT_FOUND            there is no such node; the message offers names like it
 * @retval SHW_INVALID_ARGUMENT     no strategy of the node has the layout, or a change is malformed
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options and the changes
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before any answer was found
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.2
 */
SHW_API shw_status* shw_planner_explain(shw_planner* planner, const char* node,
                                        const shw_explanation_options* options,
                                        const shw_planner_changes* changes,
                                        shw_explanation** out_explanation) SHW_MUST_USE;

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_explanation_summary_init(shw_explanation_summary* summary, size_t size);

/**
 * The node and its placement.
 * @param out_summary  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_explanation_get_summary(const shw_explanation* explanation,
                                                shw_explanation_summary* out_summary) SHW_MUST_USE;

/**
 * Number of layouts that the node's result could have; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_explanation_num_alternatives(const shw_explanation* explanation);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_explanation_alternative_init(shw_explanation_alternative* alternative,
                                              size_t size);

/**
 * One layout; they are in the order of their lower bounds.
 * @param out_alternative  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such alternative
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_explanation_get_alternative(
    const shw_explanation* explanation, size_t index,
    shw_explanation_alternative* out_alternative) SHW_MUST_USE;

/**
 * Number of strategies of the node; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_explanation_num_strategies(const shw_explanation* explanation);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_explanation_strategy_init(shw_explanation_strategy* strategy, size_t size);

/**
 * One strategy; they are in the order of their lower bounds.
 * @param out_strategy  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such strategy
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_explanation_get_strategy(const shw_explanation* explanation, size_t index,
                                                 shw_explanation_strategy* out_strategy)
    SHW_MUST_USE;

/**
 * Number of edges at the node, those into it first; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_explanation_num_edges(const shw_explanation* explanation);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_explanation_edge_init(shw_explanation_edge* edge, size_t size);

/**
 * One edge.
 * @param out_edge  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such edge
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_explanation_get_edge(const shw_explanation* explanation, size_t index,
                                             shw_explanation_edge* out_edge) SHW_MUST_USE;

/**
 * The explanation as one JSON object: `compute`, `comm`, `transition`, `operands`, `users`,
 * `alternatives` (`floor`: the lower bound, null: no plan has it; `forced`: the best plan that has
 * the layout; `status`: CHOSEN, TIE, TARGET CHEAPER, CHOSEN CHEAPER or UNAVAILABLE, the reference
 * planner's terms, "" if not known), `second_best`, `strategies`. Costs are in us.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_explanation_to_json(const shw_explanation* explanation,
                                            shw_blob** out_blob) SHW_MUST_USE;

/**
 * The explanation for a person.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_explanation_to_text(const shw_explanation* explanation,
                                            shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees an explanation. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_explanation_destroy(shw_explanation* explanation);

/* ---- Explanation of a whole plan ------------------------------------------------------------- */

/* What a plan pays for, and how far prices may change before another plan is better. */
typedef struct shw_plan_explanation_summary {
  size_t struct_size; /* set by SHW_PLAN_EXPLANATION_SUMMARY_INIT */
  double objective_us;
  double compute_us;
  double communication_us;
  double transition_us;
  double bound_us;
  size_t num_paying_edges; /* that communicate */
  int32_t proven;
  /* The plan stays optimal while all prices of communication are multiplied by a factor in this
   * range (a network half as fast: 2). */
  int32_t factor_exact; /* 0: a solve ended without proof; the range may be smaller */
  double factor_from;
  double factor_to; /* 1024: not examined beyond */
  /* Under a memory limit: the plan is optimal for limits from its own peak up to
   * memory_to_at_least_bytes; at memory_to_below_bytes a cheaper plan fits. Without one: 0, and
   * infinity twice. */
  double memory_from_bytes;
  double memory_to_at_least_bytes;
  double memory_to_below_bytes; /* infinity: at no limit */
  int32_t memory_exact;         /* 0: a solve ended without proof; the range may be smaller */
  int32_t reserved;             /* 0 */
} shw_plan_explanation_summary;
#define SHW_PLAN_EXPLANATION_SUMMARY_INIT                                                       \
  {                                                                                             \
    sizeof(shw_plan_explanation_summary), 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, \
        0.0, 0, 0                                                                               \
  }

/* A plan that is better outside the range of factors. Costs are at today's prices. */
typedef struct shw_plan_explanation_rival {
  size_t struct_size; /* set by SHW_PLAN_EXPLANATION_RIVAL_INIT */
  double factor;      /* where it ties: an end of the range */
  double compute_us;
  double communication_us;
  double transition_us;
  size_t changed_nodes; /* whose strategy differs there */
} shw_plan_explanation_rival;
#define SHW_PLAN_EXPLANATION_RIVAL_INIT \
  { sizeof(shw_plan_explanation_rival), 0.0, 0.0, 0.0, 0.0, 0 }

/* Edges that are alike: same operations and layouts, into modules that differ in numbers alone.
 * Strings are lent by the explanation. */
typedef struct shw_plan_explanation_group {
  size_t struct_size;      /* set by SHW_PLAN_EXPLANATION_GROUP_INIT */
  const char* module_path; /* of the consumers, with numbers as *: "layers.*.attention.wq" */
  const char* producer;    /* operation */
  const char* consumer;    /* operation */
  const char* from;        /* layout of the producer's result */
  const char* to;          /* layout that the consumer needs */
  size_t count;            /* of edges */
  double communication_us; /* of all */
} shw_plan_explanation_group;
#define SHW_PLAN_EXPLANATION_GROUP_INIT \
  { sizeof(shw_plan_explanation_group), NULL, NULL, NULL, NULL, NULL, 0, 0.0 }

/**
 * Explains the cheapest plan.
 * @param changes          lent for the call; NULL: none
 * @param out_explanation  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a change is malformed
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options and the changes
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before any answer was found
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.2
 */
SHW_API shw_status* shw_planner_explain_plan(shw_planner* planner,
                                             const shw_planner_changes* changes,
                                             shw_plan_explanation** out_explanation) SHW_MUST_USE;

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_explanation_summary_init(shw_plan_explanation_summary* summary, size_t size);

/**
 * Costs, and how far prices may change.
 * @param out_summary  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_explanation_get_summary(const shw_plan_explanation* explanation,
                                                     shw_plan_explanation_summary* out_summary)
    SHW_MUST_USE;

/**
 * Number of plans that are better outside the range of factors; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_explanation_num_rivals(const shw_plan_explanation* explanation);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_explanation_rival_init(shw_plan_explanation_rival* rival, size_t size);

/**
 * One of these plans, by increasing factor.
 * @param out_rival  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such rival
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_explanation_get_rival(
    const shw_plan_explanation* explanation, size_t index,
    shw_plan_explanation_rival* out_rival) SHW_MUST_USE;

/**
 * Number of edges that are told one by one: those that pay most; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_explanation_num_edges(const shw_plan_explanation* explanation);

/**
 * One edge; the dearest has number 0.
 * @param out_edge  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such edge
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_explanation_get_edge(const shw_plan_explanation* explanation,
                                                  size_t index,
                                                  shw_explanation_edge* out_edge) SHW_MUST_USE;

/**
 * Number of groups of all edges that communicate; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_explanation_num_groups(const shw_plan_explanation* explanation);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_explanation_group_init(shw_plan_explanation_group* group, size_t size);

/**
 * One group; the dearest has number 0.
 * @param out_group  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such group
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_explanation_get_group(
    const shw_plan_explanation* explanation, size_t index,
    shw_plan_explanation_group* out_group) SHW_MUST_USE;

/**
 * The explanation as one JSON object: `objective`, `bound`, `proven`, `compute`, `comm`,
 * `transition`; `dearest_edges`; all edges that communicate in `edge_groups` (`module` of the
 * consumer with numbers as *, ops, layouts, `count`, `comm` of all); and `optimal_while`. There,
 * `communication_factor` is the range `from` … `to` of factors on all communication prices, with
 * `below` and `above`, the plans that take over outside; `memory_limit_bytes`: `from` the plan's
 * own peak up `to_at_least`; at `to_below` a cheaper plan fits (null: at no limit). `exact` false:
 * a solve ended without proof, and the range may be smaller.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_explanation_to_json(const shw_plan_explanation* explanation,
                                                 shw_blob** out_blob) SHW_MUST_USE;

/**
 * The explanation for a person.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_explanation_to_text(const shw_plan_explanation* explanation,
                                                 shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the explanation. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_explanation_destroy(shw_plan_explanation* explanation);

/* ---- Step time against memory ---------------------------------------------------------------- */

/* Options of shw_planner_pareto(). */
typedef struct shw_pareto_options {
  size_t struct_size;        /* set by SHW_PARETO_OPTIONS_INIT */
  uint64_t flags;            /* 0: none is defined yet */
  size_t num_points;         /* to find, if so many exist: 2 to 1000; 0: 12 */
  uint64_t max_branch_nodes; /* of branch and bound for each limit; then the best placement found so
                                far is reported, unproven, with its bound. 0: by the size of the
                                graph */
} shw_pareto_options;
#define SHW_PARETO_OPTIONS_INIT \
  { sizeof(shw_pareto_options), 0, 0, 0 }

/* The cheapest placement under one memory limit. */
typedef struct shw_pareto_point {
  size_t struct_size;    /* set by SHW_PARETO_POINT_INIT */
  int64_t limit_bytes;   /* 0: none */
  int64_t peak_bytes;    /* of one rank, as the planner counts it */
  int64_t program_bytes; /* that the lowered program needs; 0: not known */
  double objective_us;
  double bound_us; /* proven lower bound under this limit */
  int32_t proven;
  int32_t reserved;        /* 0 */
  double price_us_per_gib; /* saved if the limit were one GiB higher, at the margin */
} shw_pareto_point;
#define SHW_PARETO_POINT_INIT \
  { sizeof(shw_pareto_point), 0, 0, 0, 0.0, 0.0, 0, 0, 0.0 }

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_pareto_options_init(shw_pareto_options* options, size_t size);

/**
 * The cheapest placements under one memory limit after another, from no limit to the lowest peak.
 * Objectives rise and peaks fall, strictly. Work for each limit is bounded by a count, so that
 * every machine finds the same points.
 * @param options     lent for the call; NULL: defaults. Fewer points than num_points are found if
 *                    there are not so many, or time_limit_s passes
 * @param changes     lent for the call; NULL: none. There must be no memory limit
 * @param out_pareto  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     num_points is out of range, there is a memory limit, or a change
 *                                  is malformed
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options and the changes
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before any answer was found
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.2
 */
SHW_API shw_status* shw_planner_pareto(shw_planner* planner, const shw_pareto_options* options,
                                       const shw_planner_changes* changes,
                                       shw_pareto** out_pareto) SHW_MUST_USE;

/**
 * Number of points; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_pareto_num_points(const shw_pareto* pareto);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_pareto_point_init(shw_pareto_point* point, size_t size);

/**
 * One point; number 0 has the most memory and is the fastest.
 * @param out_point  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such point
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_pareto_get_point(const shw_pareto* pareto, size_t index,
                                         shw_pareto_point* out_point) SHW_MUST_USE;

/**
 * The points as one JSON object: `points`, and `lowest_peak` with `reached_bytes` and the proven
 * lower bound `least_bytes`.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_pareto_to_json(const shw_pareto* pareto, shw_blob** out_blob) SHW_MUST_USE;

/**
 * The points for a person.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_pareto_to_text(const shw_pareto* pareto, shw_blob** out_blob) SHW_MUST_USE;

/**
 * A chart of step time against memory, as an SVG document.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_pareto_to_svg(const shw_pareto* pareto, shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the points. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_pareto_destroy(shw_pareto* pareto);

/* ---- Search over meshes ---------------------------------------------------------------------- */

/* Flags of shw_search_options: plan each mesh for every set of mesh axes that could shard the first
 * dim of the inputs, instead of with the options' input_layout. */
#define SHW_SEARCH_EACH_BATCH ((uint64_t)1)

/* Options of shw_search_create(). */
typedef struct shw_search_options {
  size_t struct_size;   /* set by SHW_SEARCH_OPTIONS_INIT */
  uint64_t flags;       /* SHW_SEARCH_* */
  int64_t num_devices;  /* 1 to 2^20 */
  size_t max_mesh_dims; /* 1 to 6; 0: 3 */
  size_t num_best;      /* how many of the best are needed. Others are given up as soon as their
                           bound shows that they are not among them; how soon depends on threads.
                           0: all */
  int32_t num_threads;  /* at most; 0: as many as cores. Plans do not depend on it, unless
                           time_limit_s ends their search */
  int32_t reserved;     /* 0 */
} shw_search_options;
#define SHW_SEARCH_OPTIONS_INIT \
  { sizeof(shw_search_options), 0, 0, 0, 0, 0, 0 }

/* A mesh and its plan. Strings are lent by the search. */
typedef struct shw_search_candidate {
  size_t struct_size;       /* set by SHW_SEARCH_CANDIDATE_INIT */
  const char* mesh;         /* "d0=8,d1=8" */
  const char* input_layout; /* that was asked for; "": free */
  const char* batch;        /* mesh axes that shard the first dim of every input: "d0,d2" */
  const char* error;        /* why there is no plan; "": there is one */
  shw_code code;            /* of that error; SHW_OK: none */
  int32_t given_up;         /* 1: it is not among the best; only bound_us is known */
  int32_t proven;
  int32_t reserved; /* 0 */
  double objective_us;
  double bound_us;
  double compute_us;
  double communication_us;
  double program_us;         /* of the steps of the lowered program */
  int64_t memory_peak_bytes; /* of one rank, as the planner counts it */
  double duration_s;
} shw_search_candidate;
#define SHW_SEARCH_CANDIDATE_INIT                                                                 \
  {                                                                                               \
    sizeof(shw_search_candidate), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, \
        0.0                                                                                       \
  }

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_search_options_init(shw_search_options* options, size_t size);

/**
 * Plans a graph on every mesh that a number of devices can form.
 * @param graph       lent for the call, as for shw_plan_compile()
 * @param options     lent for the call; NULL: defaults. It must have no mesh axes. A layout for
 *                    fewer axes than a mesh has replicates on the others. `progress` is called from
 *                    one thread at a time, once for each plan
 * @param search      lent for the call; num_devices must be set
 * @param out_search  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    an option is out of range
 * @retval SHW_CANCELLED           `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any; calls in one context run in parallel
 * @since 0.2
 */
SHW_API shw_status* shw_search_create(shw_context* context, shw_bytes graph,
                                      const shw_compile_options* options,
                                      const shw_search_options* search,
                                      shw_search** out_search) SHW_MUST_USE;

/**
 * Number of candidates; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_search_num_candidates(const shw_search* search);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_search_candidate_init(shw_search_candidate* candidate, size_t size);

/**
 * One candidate: those with plans first, the best has number 0; then those given up; then those
 * without a plan.
 * @param out_candidate  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such candidate
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_search_get_candidate(const shw_search* search, size_t index,
                                             shw_search_candidate* out_candidate) SHW_MUST_USE;

/**
 * The candidates as one JSON object, in the same order: {"meshes": [{"mesh", "input_layout",
 * "batch", "objective", "bound", "proven", "compute", "comm", "program" (us),
 * "memory_peak_bytes", "seconds"}, …]}; those given up have "given_up" and "bound", those without
 * a plan "why_not".
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_search_to_json(const shw_search* search, shw_blob** out_blob) SHW_MUST_USE;

/**
 * The candidates for a person.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_search_to_text(const shw_search* search, shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the candidates. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_search_destroy(shw_search* search);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_PLANNER_H_ */
