/*
 * Explains why a node, or a whole plan, is placed as it is.
 */
#ifndef SHARDWISE_EXPLANATION_H_
#define SHARDWISE_EXPLANATION_H_

#include "shardwise/planner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_explanation shw_explanation;           /* of a node's placement; immutable */
typedef struct shw_plan_explanation shw_plan_explanation; /* of a whole plan; immutable */

/* ---- Explanation: the placement of a node ---------------------------------------------------- */

/* Options of shw_planner_explain(). All pointers are lent for the call. */
typedef struct shw_explanation_options {
  size_t struct_size; /* set by SHW_EXPLANATION_OPTIONS_INIT */
  uint64_t flags;     /* 0: none is defined yet */
  const char* layout; /* a layout to solve for in any case, one placement for each mesh axis:
                         "S(0)R"; NULL: none */
  size_t num_forced;  /* number of layouts to solve for: those with the lowest bounds; 0: 3 */
} shw_explanation_options;
#define SHW_EXPLANATION_OPTIONS_INIT \
  { sizeof(shw_explanation_options), 0, NULL, 0 }

/* A node, its placement, and the plan that it is part of. Strings are lent by the explanation. */
typedef struct shw_explanation_summary {
  size_t struct_size; /* set by SHW_EXPLANATION_SUMMARY_INIT */
  const char* node;
  const char* op;
  const char* module_path; /* "": none */
  const char* strategy;    /* the chosen one: "(S(0)R, RS(1)) -> S(0)S(1)" */
  shw_phase phase;
  int32_t proven;          /* of the plan */
  double compute_us;       /* of the node */
  double communication_us; /* of the edges into it */
  double transition_us;
  double objective_us; /* of the plan */
  double bound_us;
  size_t second_best; /* the cheapest alternative that was not chosen; SHW_NONE: none, or not found
                         in time */
  double step_us;     /* of the plan, simulated, with SHW_OVERLAP_SIMULATED; else 0 */
} shw_explanation_summary;
#define SHW_EXPLANATION_SUMMARY_INIT \
  { sizeof(shw_explanation_summary), NULL, NULL, NULL, NULL, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0 }

/* A layout that the node's result could have. Costs are at the prices of the plan: a layout change
 * that the plan's program makes once for several uses counts once. All other changes count for each
 * use. Strings are lent by the explanation. */
typedef struct shw_explanation_alternative {
  size_t struct_size; /* set by SHW_EXPLANATION_ALTERNATIVE_INIT */
  const char* layout;
  int32_t chosen;
  int32_t forced;        /* 1: the plan was solved again with this layout pinned; only then the
                            fields from `possible` on are set */
  size_t num_strategies; /* strategies of the node that have this layout */
  double floor_us;       /* lower bound of all plans that have it; infinity: no plan has it */
  int32_t possible;      /* 0: no plan has it */
  int32_t proven;
  double objective_us; /* of the best plan that has it */
  double bound_us;
  const char* strategy; /* of the node in that plan */
  size_t changed_nodes; /* nodes whose strategy differs in that plan */
  double step_us;       /* of that plan, simulated, with SHW_OVERLAP_SIMULATED; else 0 */
} shw_explanation_alternative;
#define SHW_EXPLANATION_ALTERNATIVE_INIT \
  { sizeof(shw_explanation_alternative), NULL, 0, 0, 0, 0.0, 0, 0, 0.0, 0.0, NULL, 0, 0.0 }

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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_explanation_options_init(shw_explanation_options* options, size_t size);

/**
 * Explains why a node has its placement: what the node and the edges at it cost, and what every
 * other layout of its result would cost. Every alternative has a lower bound. For the alternatives
 * with the lowest bounds, and for the layout of the options, the problem is also solved again with
 * the layout pinned. With SHW_OVERLAP_SIMULATED, the plan is the fastest that was found. All costs,
 * floors and bounds then use the edge prices at which it was found, and each solved plan has its
 * simulated step.
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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
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

/* The costs of a plan, and how far prices may change before another plan is better. */
typedef struct shw_plan_explanation_summary {
  size_t struct_size; /* set by SHW_PLAN_EXPLANATION_SUMMARY_INIT */
  double objective_us;
  double compute_us;
  double communication_us;
  double transition_us;
  double bound_us;
  size_t num_paying_edges; /* edges that communicate */
  int32_t proven;
  /* The plan stays optimal while all prices of communication are multiplied by a factor in this
   * range (a network half as fast: 2). */
  int32_t factor_exact; /* 0: a solve ended without proof; the range may be smaller */
  double factor_from;
  double factor_to; /* 1024: larger factors were not examined */
  /* Under a memory limit: the plan is optimal for limits from its own peak up to
   * memory_to_at_least_bytes; at memory_to_below_bytes a cheaper plan fits. Without a memory limit:
   * 0, infinity, infinity. */
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
  double factor;      /* at which both plans cost the same: an end of the range */
  double compute_us;
  double communication_us;
  double transition_us;
  size_t changed_nodes; /* nodes whose strategy differs in that plan */
} shw_plan_explanation_rival;
#define SHW_PLAN_EXPLANATION_RIVAL_INIT \
  { sizeof(shw_plan_explanation_rival), 0.0, 0.0, 0.0, 0.0, 0 }

/* Edges that are alike: same operations and layouts, into modules whose paths differ only in
 * numbers. Strings are lent by the explanation. */
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
 * Explains the cheapest plan. This is not available with SHW_OVERLAP_SIMULATED, because it is not
 * known how far prices may change before another plan is the fastest.
 * @param changes          lent for the call; NULL: none
 * @param out_explanation  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a change is malformed
 * @retval SHW_UNIMPLEMENTED        the planner has SHW_OVERLAP_SIMULATED
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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
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
 * Number of edges that are listed one by one: those that pay most; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_explanation_num_edges(const shw_plan_explanation* explanation);

/**
 * One edge; the most expensive has number 0.
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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_explanation_group_init(shw_plan_explanation_group* group, size_t size);

/**
 * One group; the most expensive has number 0.
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
 * consumer with numbers as *, ops, layouts, `count`, `comm` of all); and `optimal_while`.
 * In `optimal_while`, `communication_factor` is the range `from` … `to` of factors on all
 * communication prices; `below` and `above` are the plans that are better outside this range.
 * `memory_limit_bytes` is the range of limits `from` the plan's own peak up `to_at_least`; at
 * `to_below` a cheaper plan fits (null: at no limit). `exact` false: a solve ended without proof,
 * and the range may be smaller.
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

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_EXPLANATION_H_ */
