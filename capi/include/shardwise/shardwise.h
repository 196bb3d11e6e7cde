/*
 * Shardwise: a tensor graph and a device mesh in, an executable plan out that is the cheapest under
 * the library's cost model, with the proof of it.
 *
 * The path: shw_context_create, shw_plan_compile, then shw_plan_save and shw_plan_load wherever the
 * plan is to run, and from there on shardwise/runtime.h. Graphs come as bytes (schemas/graph.fbs);
 * who has no FlatBuffers writer uses shardwise/builder.h.
 *
 * Every rule of this interface (who owns what, what zero means, which thread may call) is in
 * capi/ABI.md. In short: a call that can fail returns a status, NULL is success; what a function
 * gives through `out_*` is always written, NULL or 0 on failure; a getter lends for the life of its
 * owner. Strings are NUL-terminated UTF-8. Units stand in names: `_us` modelled microseconds, `_s`
 * seconds of the wall clock, `_bytes`.
 */
#ifndef SHARDWISE_SHARDWISE_H_
#define SHARDWISE_SHARDWISE_H_

#include <stddef.h>
#include <stdint.h>

#define SHW_VERSION_MAJOR 0
#define SHW_VERSION_MINOR 1
#define SHW_VERSION_PATCH 0
#define SHW_MAKE_VERSION(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define SHW_API_VERSION SHW_MAKE_VERSION(SHW_VERSION_MAJOR, SHW_VERSION_MINOR)

#if defined(__GNUC__) && !defined(SWIG)
#define SHW_API __attribute__((visibility("default")))
#define SHW_MUST_USE __attribute__((warn_unused_result))
#else
#define SHW_API
#define SHW_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Handles: opaque, made and destroyed by the library -------------------------------------- */

typedef struct shw_status shw_status;   /* what went wrong; NULL means nothing did */
typedef struct shw_context shw_context; /* allocator and log sink; immutable */
typedef struct shw_cancel shw_cancel;   /* a flag that any thread may raise */
typedef struct shw_blob shw_blob;       /* bytes that the library owns; immutable */
typedef struct shw_plan shw_plan;       /* the compiled program; immutable */

/* ---- Frozen structs: their layout never changes, so arrays of them are allowed --------------- */

typedef struct shw_bytes {
  const void* data;
  size_t size;
} shw_bytes;

/* One dim of the device mesh, the outermost first: ranks are numbered row-major. */
typedef struct shw_mesh_axis {
  const char* name; /* "dp" */
  int64_t size;
} shw_mesh_axis;

/* Which nodes must, may or must not lie how.
 *
 * The pattern: terms joined by &, which must all hold. NAME is that of a node, or of an input or
 * output ("param.<name>", "input.0", "output"), with * and ? as in file names; "module:PATH" are
 * the nodes of a module and of those inside it; "op:NAME" those of an op.
 * The layout, one place a mesh axis: "S(0)R"; "S(0)*", anything along the second; "S(0)R;RR", one
 * of these; "!P*;*P", none of these; "same": whatever it is, alike for all nodes that match.
 * Pins that cannot hold together are named by SHW_FAILED_PRECONDITION, and no others. */
typedef struct shw_pin {
  const char* pattern; /* "param.layers.*.w1" */
  const char* layout;
} shw_pin;

/* What one kind of collective comes to in a whole program. */
typedef struct shw_plan_collective {
  const char* kind;    /* "all_gather", "reduce_scatter", "all_reduce", "all_to_all" */
  uint64_t count;      /* steps of the program */
  uint64_t wire_bytes; /* that one rank sends, by ring counts */
} shw_plan_collective;

/* What one module holds of one kind of memory at the highest point of a step. */
typedef struct shw_plan_memory_share {
  const char* kind;        /* "parameters", "optimizer_state", "gradients", "inputs" (also buffers),
                              "results", "activations" (from the forward to the backward half),
                              "temporaries" */
  const char* module_path; /* "layers.0.attention.wq"; "": none */
  int64_t bytes;           /* of one rank */
} shw_plan_memory_share;

/* Wall clock of one part of a compilation. */
typedef struct shw_plan_phase {
  const char* name; /* "load", "rewrite", "strategies", "price", "solve", "lower", "passes",
                       "write", "read" */
  double duration_s;
} shw_plan_phase;

/* ---- Enumerations: fixed width; 0 is "unset"; an unknown number is refused, never cast ------- */

/* gRPC's numbers. Callers must expect codes that are not listed here. */
typedef int32_t shw_code;
enum {
  SHW_OK = 0,
  SHW_CANCELLED = 1,
  SHW_UNKNOWN = 2,
  SHW_INVALID_ARGUMENT = 3,
  SHW_DEADLINE_EXCEEDED = 4,
  SHW_NOT_FOUND = 5,
  SHW_ALREADY_EXISTS = 6,
  SHW_PERMISSION_DENIED = 7,
  SHW_RESOURCE_EXHAUSTED = 8,
  SHW_FAILED_PRECONDITION = 9,
  SHW_ABORTED = 10,
  SHW_OUT_OF_RANGE = 11,
  SHW_UNIMPLEMENTED = 12,
  SHW_INTERNAL = 13,
  SHW_UNAVAILABLE = 14,
  SHW_DATA_LOSS = 15
};

typedef int32_t shw_dtype;
enum {
  SHW_DTYPE_F32 = 1,
  SHW_DTYPE_F64 = 2,
  SHW_DTYPE_F16 = 3,
  SHW_DTYPE_BF16 = 4,
  SHW_DTYPE_I8 = 5,
  SHW_DTYPE_I16 = 6,
  SHW_DTYPE_I32 = 7,
  SHW_DTYPE_I64 = 8,
  SHW_DTYPE_U8 = 9,
  SHW_DTYPE_BOOL = 10, /* one byte, 0 or 1 */
  SHW_DTYPE_C64 = 11   /* two f32: real, imaginary */
};

/* What an input or an output of a graph is for. */
typedef int32_t shw_role;
enum {
  SHW_ROLE_PARAMETER = 1,
  SHW_ROLE_BUFFER = 2,
  SHW_ROLE_INPUT = 3,
  SHW_ROLE_TANGENT = 4,         /* gradient of a result, given by the caller */
  SHW_ROLE_SEED = 5,            /* of a random generator */
  SHW_ROLE_OPTIMIZER_STATE = 6, /* what an optimizer keeps beside a parameter */
  SHW_ROLE_CONSTANT = 7,        /* a small tensor that the graph carries with it */
  SHW_ROLE_RESULT = 11,
  SHW_ROLE_GRADIENT = 12, /* of an input */
  SHW_ROLE_UPDATE = 13    /* new value of an input */
};

typedef int32_t shw_phase;
enum { SHW_PHASE_FORWARD = 1, SHW_PHASE_BACKWARD = 2 };

/* Which strategies the planner may choose from. 0: full. */
typedef int32_t shw_rules;
enum {
  SHW_RULES_FULL = 1,  /* what is right */
  SHW_RULES_COMPAT = 2 /* what the reference planner would consider, at its prices */
};

/* How much of the parameters a rank may hold. 0: smallest. */
typedef int32_t shw_param_budget;
enum {
  SHW_PARAM_BUDGET_SMALLEST = 1, /* every parameter at its smallest share */
  SHW_PARAM_BUDGET_NONE = 2,     /* no limit */
  SHW_PARAM_BUDGET_FACTOR = 3    /* the mean share is at most param_budget_factor */
};

/* Which communication is charged; the plan is the same program either way. 0: all. */
typedef int32_t shw_overlap;
enum {
  SHW_OVERLAP_NONE = 1,     /* all of it */
  SHW_OVERLAP_PREFETCH = 2, /* of what comes from parameters alone, or goes to gradients alone: only
                               the share overlap_scale, as the reference planner discounts it */
  SHW_OVERLAP_BOUNDED = 3   /* gathers of parameters and reductions of gradients hide behind the
                               compute next to them, the rest is charged */
};

typedef int32_t shw_log_level;
enum { SHW_LOG_DEBUG = 1, SHW_LOG_INFO = 2, SHW_LOG_WARNING = 3, SHW_LOG_ERROR = 4 };

/* ---- Callbacks: none may throw, longjmp, or call the library --------------------------------- */

/* Returns `size` bytes at a multiple of `alignment` (a power of two), or NULL. Any thread. */
typedef void* (*shw_alloc_fn)(void* user, size_t size, size_t alignment);
/* Takes back what shw_alloc_fn gave, with the same size and alignment. Any thread. */
typedef void (*shw_free_fn)(void* user, void* memory, size_t size, size_t alignment);

/* Calls of one context never overlap; they may come from any thread. `message` and `file` are lent
 * for the call. */
typedef void (*shw_log_fn)(void* user, shw_log_level level, const char* message, const char* file,
                           int32_t line);

/* What shw_progress_fn is told. */
typedef struct shw_progress {
  size_t struct_size; /* bytes that this library filled in */
  const char* phase;  /* "load", "rewrite", "strategies", "price", "solve", "lower", ... */
  double best_us;     /* cost of the best solution so far; infinity: none yet */
  double bound_us;    /* proven: no solution is cheaper; -infinity: none yet */
  double elapsed_s;
} shw_progress;

/* Called by the thread that compiles. Returns non-zero to cancel. */
typedef int32_t (*shw_progress_fn)(void* user, const shw_progress* progress);

/* ---- Extensible structs: struct_size first, zero is the default, fields are only appended ---- */

/* Options of shw_context_create(). */
typedef struct shw_context_options {
  size_t struct_size;      /* set by SHW_CONTEXT_OPTIONS_INIT or shw_context_options_init() */
  uint64_t flags;          /* 0: none is defined yet */
  shw_alloc_fn alloc;      /* for tensors, executors' memory and blobs; NULL: the C++ heap */
  shw_free_fn free;        /* NULL if and only if alloc is */
  void* alloc_user;        /* must stay valid until the last object made in the context is gone */
  shw_log_fn log;          /* NULL: nothing is logged */
  void* log_user;          /* as alloc_user */
  shw_log_level log_level; /* the lowest that is passed on; 0: SHW_LOG_INFO */
  int32_t reserved;        /* 0 */
} shw_context_options;
#define SHW_CONTEXT_OPTIONS_INIT \
  { sizeof(shw_context_options), 0, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/* Flags of shw_compile_options. */
#define SHW_COMPILE_NO_EINSUM ((uint64_t)1) /* keep view-mm-view; do not make it an einsum */
#define SHW_COMPILE_NO_GRAPH ((uint64_t)2)  /* do not keep the graph's bytes in the plan */
#define SHW_COMPILE_STRIDED ((uint64_t)4)   /* offer strided shards; SHW_RULES_FULL only */

/* Options of shw_plan_compile(). */
typedef struct shw_compile_options {
  size_t struct_size;             /* set by SHW_COMPILE_OPTIONS_INIT */
  uint64_t flags;                 /* SHW_COMPILE_* */
  const shw_mesh_axis* mesh_axes; /* at most 6; lent for the call */
  size_t num_mesh_axes;           /* 0: one device */
  /* A name ("a100", "h100", "h200", "b200", "gb200", "mi300x", "l4", "cpu", ...) or, if it starts
     with '{', a description in JSON (src/cost/README.md). NULL: "h100" */
  const char* hardware;
  const char* input_layout;  /* of every plain input, one place a mesh axis: "S(0)R"; NULL or
                                "free": left to the planner */
  const char* output_layout; /* of every result, likewise */
  const shw_pin* pins;       /* lent for the call */
  size_t num_pins;
  shw_rules rules;
  shw_param_budget param_budget;
  double param_budget_factor;  /* for SHW_PARAM_BUDGET_FACTOR; in (0, 1] */
  shw_dtype grad_reduce_dtype; /* gradients are reduced after the cast to it; 0: as they come */
  int32_t num_threads;         /* at most this many; 0: as many as cores. Never changes the plan,
                                  unless time_limit_s ends the search */
  double time_limit_s;         /* wall clock, from the start of the call; then the best placement so
                                  far is taken, unproven, with its bound. Lowering and writing it
                                  are not cut short. 0: none */
  const shw_cancel* cancel;    /* lent for the call; NULL: none */
  shw_progress_fn progress;    /* NULL: none */
  void* progress_user;
  int64_t memory_limit_bytes; /* of what a rank holds at any point of a step; 0: none */
  double optimizer_factor;    /* bytes of optimizer state per byte of parameter, that count too */
  shw_overlap overlap;
  int32_t reserved;     /* 0 */
  double overlap_scale; /* 0 to 1; for SHW_OVERLAP_BOUNDED the share of compute that communication
                           can run beside, 0: all of it */
  const char* const* without; /* constraints to leave out, those above or what always holds, by the
                                 names that reports of conflicts give them; * and ? stand for
                                 anything; lent for the call */
  size_t num_without;
  /* Layouts of single inputs and outputs, in the place of input_layout and output_layout: pattern
     "input.0", "param.*.wq.weight", "output.1", "grad.*" (* and ? as in file names; the last that
     matches counts), layout "S(0)R", or "free". Lent for the call */
  const shw_pin* input_layouts;
  size_t num_input_layouts;
  const shw_pin* output_layouts;
  size_t num_output_layouts;
} shw_compile_options;
#define SHW_COMPILE_OPTIONS_INIT                                                              \
  {                                                                                           \
    sizeof(shw_compile_options), 0, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0.0, 0, 0, 0.0, \
        NULL, NULL, NULL, 0, 0.0, 0, 0, 0.0, NULL, 0, NULL, 0, NULL, 0                        \
  }

/* What is known of a plan as a whole. Strings are lent by the plan. */
typedef struct shw_plan_summary {
  size_t struct_size;  /* set by SHW_PLAN_SUMMARY_INIT */
  double objective_us; /* modelled cost of one step of the program, the sum of the next three */
  double compute_us;
  double communication_us; /* of redistributing operands: collectives and the copies around them */
  double transition_us;    /* 1 for each operand whose layout changes: breaks ties */
  double bound_us;         /* no placement is cheaper */
  int32_t proven;          /* 1: objective and bound meet */
  int32_t num_ranks;
  uint64_t num_nodes;      /* that were placed */
  uint64_t num_strategies; /* summed over them */
  uint64_t num_steps;      /* of the program, collectives included */
  int64_t arena_bytes;     /* scratch memory of one rank */
  int64_t live_peak_bytes; /* what a perfect packing of it would need */
  const char* hardware;
  const char* rules; /* "full", "compat" */
  uint64_t graph_hash;
  uint64_t options_hash;
  uint64_t mesh_hash;
  int64_t memory_limit_bytes;     /* that was asked for; 0: none */
  int64_t memory_peak_bytes;      /* of one rank at the highest point of a step, as planned with */
  const char* memory_peak_node;   /* where that is; of what: shw_plan_get_memory_share() */
  double memory_price_us_per_gib; /* saved if the limit were one GiB higher, at the margin */
  uint64_t memory_binding_points; /* nodes at which the limit has a price */
} shw_plan_summary;
#define SHW_PLAN_SUMMARY_INIT                                                                    \
  {                                                                                              \
    sizeof(shw_plan_summary), 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, \
        0, 0, NULL, 0.0, 0                                                                       \
  }

/* A way to run the plan. Strings are lent by the plan. */
typedef struct shw_plan_entry {
  size_t struct_size; /* set by SHW_PLAN_ENTRY_INIT */
  const char* name;   /* "step": forward and backward */
  uint64_t num_inputs;
  uint64_t num_outputs;
  uint64_t num_steps;
  int64_t parameter_bytes; /* that one rank holds; a part of input_bytes */
  int64_t input_bytes;     /* of one rank */
  int64_t output_bytes;    /* of one rank */
} shw_plan_entry;
#define SHW_PLAN_ENTRY_INIT \
  { sizeof(shw_plan_entry), NULL, 0, 0, 0, 0, 0, 0 }

/* An input or an output of an entry. Strings and arrays are lent by the plan. */
typedef struct shw_plan_port {
  size_t struct_size; /* set by SHW_PLAN_PORT_INIT */
  const char* name;   /* "param.<name>", "buffer.<name>", "input.<name>", "tangent.<name>",
                         "output", "grad.<name>" */
  shw_role role;
  shw_dtype dtype;
  int32_t present;              /* 0: an output that is never made (no gradient) */
  int32_t rank;                 /* number of dims, of the tensor */
  const int64_t* dims;          /* of the whole tensor */
  const int64_t* local_dims;    /* of one rank's piece; NULL if not present */
  const int64_t* local_strides; /* in elements; NULL if not present */
  const char* layout;           /* how the ranks hold it, one place a mesh axis: "S(0)R" */
} shw_plan_port;
#define SHW_PLAN_PORT_INIT \
  { sizeof(shw_plan_port), NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/* What was decided for one node of the graph. Strings are lent by the plan. */
typedef struct shw_plan_node {
  size_t struct_size; /* set by SHW_PLAN_NODE_INIT */
  const char* name;
  const char* op;
  const char* module_path; /* "layers.0.attention.wq"; "": none */
  shw_phase phase;
  int32_t reserved;
  const char* operand_layouts; /* "S(0)R, RS(1)" */
  const char* result_layout;   /* "S(0)S(2)"; of several results in parentheses */
  double compute_us;
  double communication_us;
  double transition_us; /* of the layout changes of its operands */
} shw_plan_node;
#define SHW_PLAN_NODE_INIT \
  { sizeof(shw_plan_node), NULL, NULL, NULL, 0, 0, NULL, NULL, 0.0, 0.0, 0.0 }

/* ---- Versions -------------------------------------------------------------------------------- */

/**
 * Version of the library that is loaded, as SHW_MAKE_VERSION packs it.
 * @thread any
 * @since 0.1
 */
SHW_API uint32_t shw_api_version(void);

/**
 * The same with the patch number, "0.1.0".
 * @return a string that lives as long as the library
 * @thread any
 * @since 0.1
 */
SHW_API const char* shw_version_string(void);

/* ---- Status ---------------------------------------------------------------------------------- */

/**
 * Code of a status; SHW_OK for NULL.
 * @thread any
 * @since 0.1
 */
SHW_API shw_code shw_status_code(const shw_status* status);

/**
 * Name of a code, "INVALID_ARGUMENT"; "UNRECOGNISED" for a number that is none.
 * @return a string that lives as long as the library
 * @thread any
 * @since 0.1
 */
SHW_API const char* shw_status_code_name(shw_code code);

/**
 * What went wrong, for a person: the cause, then the node of the graph if there is one.
 * @return lent by `status`; "" for NULL
 * @thread any
 * @since 0.1
 */
SHW_API const char* shw_status_message(const shw_status* status);

/**
 * Index of the node of the caller's graph that is at fault, as the graph was before any rewrite;
 * -1: none.
 * @thread any
 * @since 0.1
 */
SHW_API int64_t shw_status_node_index(const shw_status* status);

/**
 * Name of that node; of an error while a plan runs, its kernel.
 * @return lent by `status`; "": none
 * @thread any
 * @since 0.1
 */
SHW_API const char* shw_status_node_name(const shw_status* status);

/**
 * The library's source file that refused, for reports to its authors.
 * @return lent by `status`; "" for NULL
 * @thread any
 * @since 0.1
 */
SHW_API const char* shw_status_source_file(const shw_status* status);

/**
 * The line in that file; 0 for NULL.
 * @thread any
 * @since 0.1
 */
SHW_API int32_t shw_status_source_line(const shw_status* status);

/**
 * Frees a status. NULL is allowed.
 * @thread any
 * @since 0.1
 */
SHW_API void shw_status_destroy(shw_status* status);

/* ---- Context --------------------------------------------------------------------------------- */

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_context_options_init(shw_context_options* options, size_t size);

/**
 * Creates a context.
 * @param api_version  SHW_API_VERSION
 * @param options      lent for the call; NULL: defaults
 * @param out_context  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_FAILED_PRECONDITION  the caller was built for another major version, or a newer minor
 * @retval SHW_INVALID_ARGUMENT     an option is unknown or makes no sense
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_context_create(uint32_t api_version, const shw_context_options* options,
                                       shw_context** out_context) SHW_MUST_USE;

/**
 * Drops the caller's reference. What was made in the context stays valid. NULL is allowed.
 * @thread any
 * @since 0.1
 */
SHW_API void shw_context_destroy(shw_context* context);

/* ---- Cancel ---------------------------------------------------------------------------------- */

/**
 * Creates a flag that is not raised.
 * @param out_cancel  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT  out_cancel is NULL
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_cancel_create(shw_cancel** out_cancel) SHW_MUST_USE;

/**
 * Raises the flag, for good: one atomic store. Calls that were given it end within 10 ms.
 * @thread any, also callbacks and signal handlers
 * @since 0.1
 */
SHW_API void shw_cancel_raise(shw_cancel* cancel);

/**
 * Frees the flag. No call that was given it may still run. NULL is allowed.
 * @thread external: one thread at a time for each flag
 * @since 0.1
 */
SHW_API void shw_cancel_destroy(shw_cancel* cancel);

/* ---- Blob ------------------------------------------------------------------------------------ */

/**
 * The bytes; a zero byte, not counted, follows them. Aligned to 64.
 * @return lent by `blob`; NULL for NULL
 * @thread any
 * @since 0.1
 */
SHW_API const void* shw_blob_data(const shw_blob* blob);

/**
 * Number of bytes; 0 for NULL.
 * @thread any
 * @since 0.1
 */
SHW_API size_t shw_blob_size(const shw_blob* blob);

/**
 * Frees the bytes. NULL is allowed.
 * @thread any
 * @since 0.1
 */
SHW_API void shw_blob_destroy(shw_blob* blob);

/* ---- Plan: compile, load, save --------------------------------------------------------------- */

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_compile_options_init(shw_compile_options* options, size_t size);

/**
 * Verifies a graph, rewrites it, chooses the cheapest placement of every tensor on the mesh, and
 * lowers the graph to the program that one rank runs.
 * @param graph     FlatBuffer of schemas/graph.fbs; lent for the call; any alignment, any content
 * @param options   lent for the call; NULL: defaults
 * @param out_plan  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     the bytes are no sound graph, or an option makes no sense
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options
 * @retval SHW_UNIMPLEMENTED        the graph or an option asks for what the library cannot do yet
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before any placement was found; never
 *                                  without a time limit
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory; or the search came to the end of the work that it
 *                                  may take and found no placement within memory_limit_bytes
 * @thread any; calls in one context run in parallel
 * @since 0.1
 */
SHW_API shw_status* shw_plan_compile(shw_context* context, shw_bytes graph,
                                     const shw_compile_options* options,
                                     shw_plan** out_plan) SHW_MUST_USE;

/**
 * Reads a plan that shw_plan_save() made.
 * @param bytes     lent for the call; any alignment, any content
 * @param out_plan  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_DATA_LOSS            the bytes are damaged
 * @retval SHW_FAILED_PRECONDITION  another version of the format wrote them
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_load(shw_context* context, shw_bytes bytes,
                                  shw_plan** out_plan) SHW_MUST_USE;

/**
 * The plan as bytes. Equal graphs, options and library versions give equal bytes.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_save(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * Drops the caller's reference; executors keep their plan. NULL is allowed.
 * @thread any
 * @since 0.1
 */
SHW_API void shw_plan_destroy(shw_plan* plan);

/* ---- Plan: what it says ---------------------------------------------------------------------- */

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_plan_summary_init(shw_plan_summary* summary, size_t size);

/**
 * Costs, proof, size and memory of the plan.
 * @param out_summary  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_get_summary(const shw_plan* plan,
                                         shw_plan_summary* out_summary) SHW_MUST_USE;

/**
 * Number of ranks that the plan runs on; 0 for NULL.
 * @thread any
 * @since 0.1
 */
SHW_API int32_t shw_plan_num_ranks(const shw_plan* plan);

/**
 * Number of axes of the plan's mesh; 0 for NULL.
 * @thread any
 * @since 0.1
 */
SHW_API size_t shw_plan_num_mesh_axes(const shw_plan* plan);

/**
 * One axis of the mesh, the outermost is number 0.
 * @param out_axis  its name is lent by the plan; zeros on failure
 * @retval SHW_OUT_OF_RANGE  there is no such axis
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_get_mesh_axis(const shw_plan* plan, size_t index,
                                           shw_mesh_axis* out_axis) SHW_MUST_USE;

/**
 * Number of entries; 0 for NULL.
 * @thread any
 * @since 0.1
 */
SHW_API size_t shw_plan_num_entries(const shw_plan* plan);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_plan_entry_init(shw_plan_entry* entry, size_t size);

/**
 * One entry of the plan.
 * @param out_entry  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such entry
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_get_entry(const shw_plan* plan, size_t index,
                                       shw_plan_entry* out_entry) SHW_MUST_USE;

/**
 * The number of an entry, from its name.
 * @param out_index  0 on failure
 * @retval SHW_NOT_FOUND  there is none; the message names those that there are
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_find_entry(const shw_plan* plan, const char* name,
                                        size_t* out_index) SHW_MUST_USE;

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_plan_port_init(shw_plan_port* port, size_t size);

/**
 * One input of an entry.
 * @param out_port  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such entry or input
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_get_input(const shw_plan* plan, size_t entry, size_t index,
                                       shw_plan_port* out_port) SHW_MUST_USE;

/**
 * One output of an entry.
 * @param out_port  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such entry or output
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_get_output(const shw_plan* plan, size_t entry, size_t index,
                                        shw_plan_port* out_port) SHW_MUST_USE;

/**
 * Number of nodes whose placement is known; 0 for NULL.
 * @thread any
 * @since 0.1
 */
SHW_API size_t shw_plan_num_nodes(const shw_plan* plan);

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_plan_node_init(shw_plan_node* node, size_t size);

/**
 * What was decided for one node, in the order of the rewritten graph.
 * @param out_node  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such node
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_get_node(const shw_plan* plan, size_t index,
                                      shw_plan_node* out_node) SHW_MUST_USE;

/**
 * Number of kinds of collectives that the program uses; 0 for NULL.
 * @thread any
 * @since 0.1
 */
SHW_API size_t shw_plan_num_collectives(const shw_plan* plan);

/**
 * How often one kind of collective runs, and what it sends.
 * @param out_collective  its name is lent by the plan; zeros on failure
 * @retval SHW_OUT_OF_RANGE  there is no such kind
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_get_collective(const shw_plan* plan, size_t index,
                                            shw_plan_collective* out_collective) SHW_MUST_USE;

/**
 * Number of shares of the memory peak; 0 for NULL, and where no peak is known.
 * @thread any
 * @since 0.1
 */
SHW_API size_t shw_plan_num_memory_shares(const shw_plan* plan);

/**
 * One share of the peak, the largest is number 0. Together they are memory_peak_bytes of the
 * summary.
 * @param out_share  its strings are lent by the plan; zeros on failure
 * @retval SHW_OUT_OF_RANGE  there is no such share
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_get_memory_share(const shw_plan* plan, size_t index,
                                              shw_plan_memory_share* out_share) SHW_MUST_USE;

/**
 * Number of phases of the compilation; 0 for NULL, and for a plan that was loaded.
 * @thread any
 * @since 0.1
 */
SHW_API size_t shw_plan_num_phases(const shw_plan* plan);

/**
 * How long one phase of the compilation took.
 * @param out_phase  its name is lent by the plan; zeros on failure
 * @retval SHW_OUT_OF_RANGE  there is no such phase
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_get_phase(const shw_plan* plan, size_t index,
                                       shw_plan_phase* out_phase) SHW_MUST_USE;

/**
 * Everything above as one JSON object, for machines. Costs are in us, memory in bytes of one rank.
 *
 *   objective, bound, proven, compute, comm, transition   of the summary
 *   nodes, strategies, mesh, ranks, hardware, rules, overlap
 *   collectives          by kind: `count`, `wire_bytes_per_rank`
 *   memory_per_rank      of the program: `parameters`, `gradients`, `arena`, `live_peak`
 *   memory               as planned: `limit_bytes`, `peak_bytes`, `at` (a node),
 * `price_us_per_gib`, `points`, `program_bytes` (what the program takes); the peak `by_kind`, and
 *                        `by_module`: `module` (numbers as *), `count` of such, `bytes`, `by_kind`
 *   program              `us` of its steps one after another, of that `collectives`; and `steps`
 *   entries              by name: `inputs` and `outputs` with `name`, `type`, `layout`, `present`
 *   decisions            of each node `name`, `op`, `phase`, `module_path`, `operands`, `result`,
 *                        `compute`, `comm`, `transition`
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_to_json(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * A table for a person: costs and proof, where parameters ended up, collectives, memory.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_to_text(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_SHARDWISE_H_ */
