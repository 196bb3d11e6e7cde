/*
 * Builds a graph by calls, for languages without a FlatBuffers writer. Add inputs, operations and
 * outputs, then entries if there is to be more than one way to run the graph. shw_builder_finish()
 * returns the bytes that shw_plan_compile() takes. In a file they are a .swgraph, which the tool
 * shows (`shardwise show`) and plans.
 *
 * Nodes, outputs and entries are numbered in the order in which they are added. Result types are
 * inferred. OPS.md describes all operations; shw_op_get_param() lists their operands and
 * attributes.
 *
 * A size that is known only at run time is a symbol: shw_builder_add_symbol(). Sizes of inputs and
 * integer attributes can be expressions of symbols: sums of integers, symbols and integers times
 * symbols, such as "cache", "2*cache+-1", "batch+prefix". A list of expressions stands in brackets:
 * "[1,2*cache]". Sizes of results are inferred. An entry that depends on symbols is planned at
 * chosen sizes. Each choice is a bucket: shw_compile_options::buckets, shw_plan_choose_bucket().
 */
#ifndef SHARDWISE_BUILDER_H_
#define SHARDWISE_BUILDER_H_

#include "shardwise/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_builder shw_builder; /* a graph under construction */

typedef int32_t shw_attr_kind;
enum {
  SHW_ATTR_KIND_INT = 1,
  SHW_ATTR_KIND_FLOAT = 2,
  SHW_ATTR_KIND_BOOL = 3,
  SHW_ATTR_KIND_DTYPE = 4,
  SHW_ATTR_KIND_INTS = 5,
  SHW_ATTR_KIND_STRING = 6,
  SHW_ATTR_KIND_EXPR = 7
};

/* What activation checkpointing asks for a node's result: to save it, or to compute it again in the
 * backward pass. 0: nothing. */
typedef int32_t shw_recompute;
enum {
  SHW_RECOMPUTE_MUST_SAVE = 1,
  SHW_RECOMPUTE_PREFER_SAVE = 2,
  SHW_RECOMPUTE_PREFER_RECOMPUTE = 3,
  SHW_RECOMPUTE_MUST_RECOMPUTE = 4
};

/* An argument of an operation that is not a tensor. Frozen. Use the macros below. */
typedef struct shw_attr {
  const char* name;
  shw_attr_kind kind;  /* which of the following fields holds the value */
  int32_t reserved;    /* 0 */
  int64_t int_value;   /* INT; BOOL: 0 or 1; DTYPE: SHW_DTYPE_* */
  double float_value;  /* FLOAT */
  const int64_t* ints; /* INTS: num_ints numbers */
  size_t num_ints;
  const char* string; /* STRING; EXPR: an expression or a list, "cache" or "[1,2*cache]" */
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
#define SHW_ATTR_EXPR(name, value) \
  { (name), SHW_ATTR_KIND_EXPR, 0, 0, 0.0, NULL, 0, (value) }

/* Flags of shw_node_options: the field is set, and may be 0. Without its flag it must be 0. */
#define SHW_NODE_HAS_SEQUENCE_NR ((uint64_t)1)
#define SHW_NODE_HAS_REGION ((uint64_t)2)

/* Properties of a node that the planner and its reports use in addition to its operation. */
typedef struct shw_node_options {
  size_t struct_size; /* set by SHW_NODE_OPTIONS_INIT */
  uint64_t flags;     /* SHW_NODE_* */
  const char* name;   /* for people and messages; NULL: "%" and the node's number */
  shw_phase phase;    /* 0: forward. What an optimizer computes is backward */
  shw_recompute recompute;
  const char* module_path; /* "layers.0.attention.wq"; NULL: none */
  const char* source;      /* file and line, for people; NULL: not known */
  int64_t sequence_nr;     /* of autograd: links a backward node to its forward node */
  int32_t region;          /* number of the activation checkpointing region */
  int32_t reserved;        /* 0 */
} shw_node_options;
#define SHW_NODE_OPTIONS_INIT \
  { sizeof(shw_node_options), 0, NULL, 0, 0, NULL, NULL, 0, 0, 0 }

/* Type of one result of a node. */
typedef struct shw_result_type {
  size_t struct_size; /* set by SHW_RESULT_TYPE_INIT */
  int32_t present;    /* 0: an element of a tuple that is absent */
  shw_dtype dtype;
  int32_t rank;
  int32_t reserved;   /* 0 */
  size_t num_results; /* of the node; more than one: operation "get_item" extracts one */
  int64_t dims[8];    /* the first `rank` are set; sizes that depend on symbols are at the hints */
} shw_result_type;
#define SHW_RESULT_TYPE_INIT                                           \
  {                                                                    \
    sizeof(shw_result_type), 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 0 } \
  }

/* An input of the graph: a tensor from outside. */
typedef struct shw_builder_input {
  size_t struct_size;  /* set by SHW_BUILDER_INPUT_INIT */
  shw_role role;       /* SHW_ROLE_PARAMETER to SHW_ROLE_OPTIMIZER_STATE */
  shw_storage storage; /* 0: the caller hands the tensor over for every run */
  const char* name;    /* required for parameters, buffers, optimizer state and everything that is
                          SHW_STORAGE_STATE; for others, NULL: the position serves as name. In the
                          plan the name has a prefix for the role, "param.<name>":
                          shw_plan_port::name */
  size_t position;     /* SHW_ROLE_INPUT: which argument of the model; SHW_ROLE_TANGENT: the number
                          of the output that it belongs to; others: not used */
  shw_dtype dtype;
  int32_t rank;
  const int64_t* dims;       /* `rank` sizes of the whole tensor; lent for the call */
  const char* symbolic_dims; /* if a size depends on symbols: all sizes as one text,
                                "[1,2*cache]", in place of `rank` and `dims`; NULL: no size does.
                                Not for parameters, optimizer state and SHW_STORAGE_STATE, because
                                buckets share them: give these the largest size, and take a slice */
} shw_builder_input;
#define SHW_BUILDER_INPUT_INIT \
  { sizeof(shw_builder_input), 0, 0, NULL, 0, 0, 0, NULL, NULL }

/* An output of the graph. SHW_BUILDER_OUTPUT_INIT sets `node` and `of_input` to SHW_NONE. */
typedef struct shw_builder_output {
  size_t struct_size; /* set by SHW_BUILDER_OUTPUT_INIT */
  shw_role role;      /* SHW_ROLE_RESULT to SHW_ROLE_UPDATE */
  int32_t in_place;   /* update: 1 if it overwrites the memory of the input. Updates of
                         SHW_STORAGE_STATE always overwrite it */
  size_t node;        /* a node with one result; SHW_NONE: a gradient that is absent */
  const char* name;   /* of a result; NULL: its position serves as name. NULL for gradients and
                         updates. In the plan the name has a prefix, as for inputs:
                         "output.<name>", "grad.…", "update.…" */
  size_t of_input;    /* gradient, update: the node of the input; not used for results */
} shw_builder_output;
#define SHW_BUILDER_OUTPUT_INIT \
  { sizeof(shw_builder_output), 0, 0, SHW_NONE, NULL, SHW_NONE }

/* One way to run the graph: it computes some outputs from the inputs that they need. */
typedef struct shw_builder_entry {
  size_t struct_size;    /* set by SHW_BUILDER_ENTRY_INIT */
  const char* name;      /* "step", "decode" */
  double weight;         /* in the objective: how often it is called, compared with other entries;
                            0: 1 */
  const size_t* outputs; /* numbers of outputs, ascending */
  size_t num_outputs;
  const size_t* after; /* numbers of entries that run before it in the same session. Values that
                          they have computed are not computed again */
  size_t num_after;
} shw_builder_entry;
#define SHW_BUILDER_ENTRY_INIT \
  { sizeof(shw_builder_entry), NULL, 0.0, NULL, 0, NULL, 0 }

/**
 * Starts an empty graph.
 * @param out_builder  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_builder_create(shw_context* context,
                                       shw_builder** out_builder) SHW_MUST_USE;

/**
 * Adds a symbol: a size that is known only at run time. Expressions can name it from now on.
 * @param symbol      lent for the call
 * @param out_symbol  the symbol's number; SHW_NONE on failure
 * @retval SHW_INVALID_ARGUMENT  the name is taken or malformed, no size is possible, the hint is no
 *                               possible size, or there are 64 symbols already; the graph is as
 *                               before
 * @thread external: one thread at a time for each builder
 * @since 0.2
 */
SHW_API shw_status* shw_builder_add_symbol(shw_builder* builder, const shw_symbol* symbol,
                                           size_t* out_symbol) SHW_MUST_USE;

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_node_options_init(shw_node_options* options, size_t size);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_builder_input_init(shw_builder_input* input, size_t size);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_builder_output_init(shw_builder_output* output, size_t size);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_builder_entry_init(shw_builder_entry* entry, size_t size);

/**
 * Adds an input.
 * @param input     lent for the call
 * @param options   lent for the call; NULL: defaults
 * @param out_node  the node's number; SHW_NONE on failure
 * @retval SHW_INVALID_ARGUMENT  the input or an option is malformed; the graph is as before
 * @thread external: one thread at a time for each builder
 * @since 0.2
 */
SHW_API shw_status* shw_builder_add_input(shw_builder* builder, const shw_builder_input* input,
                                          const shw_node_options* options,
                                          size_t* out_node) SHW_MUST_USE;

/**
 * Adds a small tensor that is known now, such as a mask or a table. The graph and its plans hold
 * its values.
 * @param name      unique among the constants
 * @param tensor    in host memory, at most 1 MiB; copied
 * @param options   lent for the call; NULL: defaults
 * @param out_node  the node's number; SHW_NONE on failure
 * @retval SHW_INVALID_ARGUMENT    the tensor or an option is malformed, or the tensor is too large;
 *                                 the graph is as before
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread external: one thread at a time for each builder
 * @since 0.2
 */
SHW_API shw_status* shw_builder_add_constant(shw_builder* builder, const char* name,
                                             const shw_tensor* tensor,
                                             const shw_node_options* options,
                                             size_t* out_node) SHW_MUST_USE;

/**
 * Adds an operation.
 * @param op        "mm", "einsum", "sdpa": shw_op_name()
 * @param operands  numbers of nodes, in the order of the op's tensor parameters; lent for the call.
 *                  SHW_NONE stands for an absent operand; absent operands at the end are left out.
 *                  A number for an operand of kind SHW_PARAM_TENSOR_OR_NUMBER is given as an
 *                  attribute of the operand's name, and the operand is absent: "mul" of x by 0.1
 *                  has the operand x and SHW_ATTR_FLOAT("other", 0.1)
 * @param attrs     in any order; required ones must be given, others have the default that
 *                  shw_op_get_param() reports; lent for the call
 * @param options   lent for the call; NULL: defaults
 * @param out_node  the node's number; SHW_NONE on failure
 * @retval SHW_NOT_FOUND         there is no such operation; the message says what to use instead
 * @retval SHW_INVALID_ARGUMENT  the operands or attributes do not fit the operation, a required
 *                               attribute is missing, or a size of a result is no expression of the
 *                               symbols; the graph is as before
 * @thread external: one thread at a time for each builder
 * @since 0.2
 */
SHW_API shw_status* shw_builder_add_node(shw_builder* builder, const char* op,
                                         const size_t* operands, size_t num_operands,
                                         const shw_attr* attrs, size_t num_attrs,
                                         const shw_node_options* options,
                                         size_t* out_node) SHW_MUST_USE;

/**
 * Adds an output. The plan has the outputs in the order in which they were added.
 * @param output      lent for the call
 * @param out_output  the output's number; SHW_NONE on failure
 * @retval SHW_INVALID_ARGUMENT  the output is malformed, or there is one of its name already; the
 *                               graph is as before
 * @thread external: one thread at a time for each builder
 * @since 0.2
 */
SHW_API shw_status* shw_builder_add_output(shw_builder* builder, const shw_builder_output* output,
                                           size_t* out_output) SHW_MUST_USE;

/**
 * Adds an entry. Its inputs are those that its outputs need, in the order of the graph's inputs. A
 * graph without entries gets one, "step", with all inputs and outputs.
 * @param entry      lent for the call
 * @param out_entry  the entry's number; SHW_NONE on failure
 * @retval SHW_INVALID_ARGUMENT  the entry is malformed; the graph is as before
 * @thread external: one thread at a time for each builder
 * @since 0.2
 */
SHW_API shw_status* shw_builder_add_entry(shw_builder* builder, const shw_builder_entry* entry,
                                          size_t* out_entry) SHW_MUST_USE;

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_result_type_init(shw_result_type* type, size_t size);

/**
 * The inferred type of a node's result.
 * @param out_type  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such node or result
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread external: one thread at a time for each builder
 * @since 0.2
 */
SHW_API shw_status* shw_builder_get_type(const shw_builder* builder, size_t node, size_t result,
                                         shw_result_type* out_type) SHW_MUST_USE;

/**
 * The graph so far, as FlatBuffers bytes (graph.fbs).
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the graph as a whole is malformed
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread external: one thread at a time for each builder
 * @since 0.2
 */
SHW_API shw_status* shw_builder_finish(const shw_builder* builder,
                                       shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the builder; bytes that shw_builder_finish() returned stay valid. NULL is allowed.
 * @thread external: one thread at a time for each builder
 * @since 0.2
 */
SHW_API void shw_builder_destroy(shw_builder* builder);

/* ---- Operations ------------------------------------------------------------------------------
 *
 * Most have the name, the operands and the meaning of the ATen core operator of PyTorch; reductions
 * have `dims` in place of PyTorch's `dim`. OPS.md says what each computes. `shardwise ops` prints
 * all of them with their attributes and defaults:
 *
 *   slice(self, dim: int = 0, start: int = 0, end: int?, step: int = 1)
 *
 * An attribute without = and ? must be given. */

/* What a parameter of an operation takes. For attributes, the comment names the macros that make
 * them. */
typedef int32_t shw_param_kind;
enum {
  SHW_PARAM_TENSOR = 1,           /* an operand */
  SHW_PARAM_OPTIONAL_TENSOR = 2,  /* an operand that may be absent */
  SHW_PARAM_TENSOR_OR_NUMBER = 3, /* an operand; or absent, and an attribute of this name */
  SHW_PARAM_TENSORS = 4,          /* all further operands */
  SHW_PARAM_OPTIONAL_TENSORS = 5, /* all further operands, some of which may be absent */
  SHW_PARAM_INT = 6,              /* this and those below are attributes: SHW_ATTR_INT, _EXPR */
  SHW_PARAM_FLOAT = 7,            /* SHW_ATTR_FLOAT */
  SHW_PARAM_NUMBER = 8,           /* SHW_ATTR_INT or SHW_ATTR_FLOAT */
  SHW_PARAM_BOOL = 9,             /* SHW_ATTR_BOOL */
  SHW_PARAM_INTS = 10,            /* SHW_ATTR_INTS, SHW_ATTR_EXPR */
  SHW_PARAM_DTYPE = 11,           /* SHW_ATTR_DTYPE */
  SHW_PARAM_STRING = 12           /* SHW_ATTR_STRING */
};

/* A parameter of an operation. */
typedef struct shw_op_param {
  size_t struct_size; /* set by SHW_OP_PARAM_INIT */
  const char* name;   /* of the attribute, if it is one; lives as long as the library */
  shw_param_kind kind;
  int32_t required;          /* 1: it must be given; a node without it is refused */
  const char* default_value; /* the value of an attribute that is absent, as text: "-1", "false",
                                "[]", "none"; lives as long as the library. NULL: the attribute is
                                required, or its absence means something that no value expresses,
                                such as no upper bound for clamp's `max` */
} shw_op_param;
#define SHW_OP_PARAM_INIT \
  { sizeof(shw_op_param), NULL, 0, 0, NULL }

/**
 * Number of operations that graphs may have.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_op_count(void);

/**
 * Name of operation number `op`, as shw_builder_add_node() takes it; "" if there is none.
 * @return a string that lives as long as the library
 * @thread any
 * @since 0.2
 */
SHW_API const char* shw_op_name(size_t op);

/**
 * The number of an operation, from its name.
 * @param out_op  SHW_NONE on failure
 * @retval SHW_NOT_FOUND  there is no such operation; the message suggests similar names
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_op_find(const char* name, size_t* out_op) SHW_MUST_USE;

/**
 * Number of parameters of an operation; 0 if there is no such operation.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_op_num_params(size_t op);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_op_param_init(shw_op_param* param, size_t size);

/**
 * One parameter of an operation. Operands come first, in the order of shw_builder_add_node().
 * @param out_param  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such operation or parameter
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_op_get_param(size_t op, size_t index, shw_op_param* out_param) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_BUILDER_H_ */
