/*
 * Builds a graph by calls, for languages without a FlatBuffers writer: inputs, nodes by the name of
 * their operation, outputs; then shw_builder_finish() gives the bytes that shw_plan_compile()
 * takes. Result types are inferred. Operations, their operands and attributes: src/ops.
 */
#ifndef SHARDWISE_BUILDER_H_
#define SHARDWISE_BUILDER_H_

#include "shardwise/shardwise.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_builder shw_builder; /* a graph in the making */

/* A node is known by its number, in the order in which nodes are added. */
#define SHW_NO_NODE ((int32_t)-1)

typedef int32_t shw_attr_kind;
enum {
  SHW_ATTR_KIND_INT = 1,
  SHW_ATTR_KIND_FLOAT = 2,
  SHW_ATTR_KIND_BOOL = 3,
  SHW_ATTR_KIND_DTYPE = 4,
  SHW_ATTR_KIND_INTS = 5,
  SHW_ATTR_KIND_STRING = 6
};

/* What activation checkpointing wants of a node's result. */
typedef int32_t shw_recompute;
enum {
  SHW_RECOMPUTE_MUST_SAVE = 1,
  SHW_RECOMPUTE_PREFER_SAVE = 2,
  SHW_RECOMPUTE_PREFER_RECOMPUTE = 3,
  SHW_RECOMPUTE_MUST_RECOMPUTE = 4
};

/* An argument of an operation that is no tensor. Frozen. Made with one of the macros below. */
typedef struct shw_attr {
  const char* name;
  shw_attr_kind kind;  /* says which of the following holds the value */
  int32_t reserved;    /* 0 */
  int64_t int_value;   /* INT; BOOL: 0 or 1; DTYPE: SHW_DTYPE_* */
  double float_value;  /* FLOAT */
  const int64_t* ints; /* INTS: num_ints numbers */
  size_t num_ints;
  const char* string; /* STRING */
} shw_attr;
#define SHW_ATTR_INT(name, value) \
  { (name), SHW_ATTR_KIND_INT, 0, (value), 0.0, NULL, 0, NULL }
#define SHW_ATTR_FLOAT(name, value) \
  { (name), SHW_ATTR_KIND_FLOAT, 0, 0, (value), NULL, 0, NULL }
#define SHW_ATTR_BOOL(name, value) \
  { (name), SHW_ATTR_KIND_BOOL, 0, (value), 0.0, NULL, 0, NULL }
#define SHW_ATTR_DTYPE(name, value) \
  { (name), SHW_ATTR_KIND_DTYPE, 0, (value), 0.0, NULL, 0, NULL }
#define SHW_ATTR_INTS(name, values, count) \
  { (name), SHW_ATTR_KIND_INTS, 0, 0, 0.0, (values), (count), NULL }
#define SHW_ATTR_STRING(name, value) \
  { (name), SHW_ATTR_KIND_STRING, 0, 0, 0.0, NULL, 0, (value) }

/* Flags of shw_node_options: the field is given, and may be 0. */
#define SHW_NODE_HAS_SEQUENCE_NR ((uint64_t)1)
#define SHW_NODE_HAS_REGION ((uint64_t)2)

/* What planning wants to know of a node beside what it computes. */
typedef struct shw_node_options {
  size_t struct_size; /* set by SHW_NODE_OPTIONS_INIT */
  uint64_t flags;     /* SHW_NODE_* */
  const char* name;   /* for people and messages; NULL: "%" and the node's number */
  shw_phase phase;    /* 0: forward */
  shw_recompute recompute;
  const char* module_path; /* "layers.0.attention.wq"; NULL: none */
  const char* source;      /* where the node comes from, for people; NULL: not known */
  int64_t sequence_nr;     /* joins a backward node to its forward node */
  int32_t region;          /* of activation checkpointing */
  int32_t reserved;        /* 0 */
} shw_node_options;
#define SHW_NODE_OPTIONS_INIT \
  { sizeof(shw_node_options), 0, NULL, 0, 0, NULL, NULL, 0, 0, 0 }

/* Type of one result of a node. */
typedef struct shw_result_type {
  size_t struct_size; /* set by SHW_RESULT_TYPE_INIT */
  int32_t present;    /* 0: a place of a tuple that holds nothing */
  shw_dtype dtype;
  int32_t rank;
  int32_t num_results; /* of the node; more than one: take them apart with "get_item" */
  int64_t dims[8];     /* the first `rank` */
} shw_result_type;
#define SHW_RESULT_TYPE_INIT                                        \
  {                                                                 \
    sizeof(shw_result_type), 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 0 } \
  }

/**
 * Starts an empty graph.
 * @param out_builder  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_builder_create(shw_context* context,
                                       shw_builder** out_builder) SHW_MUST_USE;

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_node_options_init(shw_node_options* options, size_t size);

/**
 * Adds a tensor that the caller gives when the plan runs.
 * @param role      SHW_ROLE_PARAMETER to SHW_ROLE_SEED
 * @param name      parameter and buffer: the name by which outputs call it; others: NULL is allowed
 * @param position  plain input: its place among the plain inputs; tangent: the number of the output
 *                  that it belongs to; -1: not known
 * @param dims      `rank` sizes of the whole tensor; lent for the call
 * @param options   lent for the call; NULL: defaults
 * @param out_node  the node's number; SHW_NO_NODE on failure
 * @retval SHW_INVALID_ARGUMENT  something makes no sense; the graph is as before
 * @thread external: one thread at a time for each builder
 * @since 0.1
 */
SHW_API shw_status* shw_builder_add_input(shw_builder* builder, shw_role role, const char* name,
                                          int32_t position, shw_dtype dtype, const int64_t* dims,
                                          int32_t rank, const shw_node_options* options,
                                          int32_t* out_node) SHW_MUST_USE;

/**
 * Adds an operation.
 * @param op        "mm", "einsum", "sdpa", ...
 * @param operands  numbers of nodes, in the order of the op's tensor parameters; SHW_NO_NODE where
 *                  an optional one is not given; lent for the call
 * @param attrs     lent for the call
 * @param options   lent for the call; NULL: defaults
 * @param out_node  the node's number; SHW_NO_NODE on failure
 * @retval SHW_NOT_FOUND         there is no such operation or attribute
 * @retval SHW_INVALID_ARGUMENT  the operands or attributes do not fit; the graph is as before
 * @thread external: one thread at a time for each builder
 * @since 0.1
 */
SHW_API shw_status* shw_builder_add_node(shw_builder* builder, const char* op,
                                         const int32_t* operands, size_t num_operands,
                                         const shw_attr* attrs, size_t num_attrs,
                                         const shw_node_options* options,
                                         int32_t* out_node) SHW_MUST_USE;

/**
 * Adds an output. Their order is the plan's.
 * @param role      SHW_ROLE_RESULT to SHW_ROLE_UPDATE
 * @param node      a node with one result; SHW_NO_NODE: nothing is returned in this place
 * @param name      of a result; NULL: its place. NULL for gradients and updates
 * @param of_input  gradient, update: the number of the input's node; else SHW_NO_NODE
 * @retval SHW_INVALID_ARGUMENT  something makes no sense; the graph is as before
 * @thread external: one thread at a time for each builder
 * @since 0.1
 */
SHW_API shw_status* shw_builder_add_output(shw_builder* builder, shw_role role, int32_t node,
                                           const char* name, int32_t of_input) SHW_MUST_USE;

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_result_type_init(shw_result_type* type, size_t size);

/**
 * The type that was inferred for a node's result.
 * @param out_type  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such node or result
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread external: one thread at a time for each builder
 * @since 0.1
 */
SHW_API shw_status* shw_builder_get_type(const shw_builder* builder, int32_t node, size_t result,
                                         shw_result_type* out_type) SHW_MUST_USE;

/**
 * The graph so far, as bytes of schemas/graph.fbs.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the graph makes no sense as a whole
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread external: one thread at a time for each builder
 * @since 0.1
 */
SHW_API shw_status* shw_builder_finish(const shw_builder* builder,
                                       shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the builder; bytes that it gave stay. NULL is allowed.
 * @thread external: one thread at a time for each builder
 * @since 0.1
 */
SHW_API void shw_builder_destroy(shw_builder* builder);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_BUILDER_H_ */
