/*
 * How two plans differ.
 */
#ifndef SHARDWISE_COMPARISON_H_
#define SHARDWISE_COMPARISON_H_

#include "shardwise/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_comparison shw_comparison; /* of two plans; immutable */

/* How a node of two plans differs. */
typedef int32_t shw_difference;
enum {
  SHW_DIFFERENCE_RESULT = 1,      /* its result has another layout */
  SHW_DIFFERENCE_OPERANDS = 2,    /* the same result from operands with other layouts */
  SHW_DIFFERENCE_ONLY_BEFORE = 3, /* the second plan does not have it */
  SHW_DIFFERENCE_ONLY_AFTER = 4   /* the first plan does not have it */
};

/* A node that differs. Strings are lent by the comparison. */
typedef struct shw_comparison_node {
  size_t struct_size; /* set by SHW_COMPARISON_NODE_INIT */
  const char* name;
  const char* from; /* layout of its result; "" if `difference` is not of the result */
  const char* to;   /* likewise */
  shw_difference difference;
  int32_t reserved; /* 0 */
} shw_comparison_node;
#define SHW_COMPARISON_NODE_INIT \
  { sizeof(shw_comparison_node), NULL, NULL, NULL, 0, 0 }

/**
 * Compares two plans, node by node; nodes are matched by name. The plans may have different meshes,
 * options and hardware. Costs and memory: shw_plan_get_summary() of each.
 * @param out_comparison  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    a plan is NULL
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_compare(const shw_plan* before, const shw_plan* after,
                                     shw_comparison** out_comparison) SHW_MUST_USE;

/**
 * Number of nodes whose layouts are the same in both; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_comparison_num_unchanged(const shw_comparison* comparison);

/**
 * Number of nodes that differ; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_comparison_num_nodes(const shw_comparison* comparison);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_comparison_node_init(shw_comparison_node* node, size_t size);

/**
 * One node. Nodes whose result has another layout come first. They are grouped by equal changes,
 * the largest group first.
 * @param out_node  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such node
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_comparison_get_node(const shw_comparison* comparison, size_t index,
                                            shw_comparison_node* out_node) SHW_MUST_USE;

/**
 * The comparison as one JSON object: `before` and `after` (costs, memory of one rank with the
 * planned peak by kind, collectives) with `delta`; `changes`: the nodes whose result went `from`
 * one layout `to` another, the largest group first; `operands_only`: nodes with the same result
 * from other operands; the number of nodes `unchanged`; and the nodes that only one plan has, by
 * name.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_comparison_to_json(const shw_comparison* comparison,
                                           shw_blob** out_blob) SHW_MUST_USE;

/**
 * The comparison for a person, with every node that differs.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_comparison_to_text(const shw_comparison* comparison,
                                           shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the comparison. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_comparison_destroy(shw_comparison* comparison);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_COMPARISON_H_ */
