/*
 * From a graph to a plan. A plan is the program that every rank runs, with the cheapest placement
 * of every tensor on the mesh under the library's cost model, and the proof of it.
 *
 * The placement is the cheapest of those that the options allow. By default, every parameter is
 * divided over all ranks as far as possible: shw_compile_options::param_budget.
 */
#ifndef SHARDWISE_COMPILE_H_
#define SHARDWISE_COMPILE_H_

#include "shardwise/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_plan shw_plan; /* the compiled program; immutable */

/* ---- Layouts -----------------------------------------------------------------------------------
 *
 * A layout says how the ranks of a mesh hold a tensor. It is a text with one placement for each
 * mesh axis, the outermost axis first:
 *
 *   R         replicated: every rank along the axis holds the same
 *   S(d)      sharded: dim d of the tensor is divided along the axis
 *   P         partial: the ranks along the axis hold values whose sum is the tensor; "P(avg)",
 *             "P(max)", ... for other reductions
 *
 * On the mesh dp=2,tp=4, "S(0)R" divides dim 0 in two along dp, and each half is on the four ranks
 * along tp. "S(0)S(0)" divides dim 0 in eight. Where a dim is not divided evenly, the last pieces
 * are padded.
 *
 * Plans and messages have two more forms. "S(0)S(0)|1,0": the mesh axes cut dim 0 in another order,
 * here axis 1 first and then axis 0. "SS(0,4)": a strided shard; dim 0 is seen as 4 equal parts,
 * and each of them is divided along the axis (SHW_COMPILE_STRIDED). */

/* ---- Frozen structs -------------------------------------------------------------------------- */

/* One dim of the device mesh, outermost first: ranks are numbered row-major. Frozen. */
typedef struct shw_mesh_axis {
  const char* name; /* "dp" */
  int64_t size;
} shw_mesh_axis;

/* Constrains the layouts of the nodes that match.
 *
 * Pattern: terms joined by &, all of which must match. NAME matches the name of a node, of an input
 * or of an output ("param.<name>", "input.0", "output"); * and ? are wildcards. "module:PATH"
 * matches the nodes of a module and of the modules in it; "op:NAME" the nodes of an operation.
 * Layout, one placement for each mesh axis: "S(0)R"; "S(0)*", any placement on the second axis;
 * "S(0)R;RR", one of these; "!P*;*P", none of these; "same": the same layout for all nodes that
 * match.
 * If pins cannot hold together, the call fails with SHW_FAILED_PRECONDITION, and the status lists
 * them: shw_status_conflict(). Frozen. */
typedef struct shw_pin {
  const char* pattern; /* "param.layers.*.w1" */
  const char* layout;
} shw_pin;

/* Fixes the layout of the inputs or outputs that match. Frozen. */
typedef struct shw_port_layout {
  const char* port; /* name, with * and ? as wildcards: "input.0", "param.*.wq.weight", "grad.*" */
  const char* layout; /* one placement for each mesh axis, "S(0)R"; "free": the planner chooses */
} shw_port_layout;

/* Sizes of a symbol at which an entry is planned. Each is a bucket: the entry with tensors of that
 * size. An entry that depends on several symbols has a bucket for each combination. Frozen. */
typedef struct shw_bucket_sizes {
  const char* entry; /* "decode"; NULL: every entry that depends on the symbol */
  const char* symbol;
  const int64_t* sizes; /* `num_sizes` of them, in any order */
  size_t num_sizes;
} shw_bucket_sizes;

/* ---- Enumerations ---------------------------------------------------------------------------- */

/* Which strategies the planner chooses from. 0: full. */
typedef int32_t shw_rules;
enum {
  SHW_RULES_FULL = 1,  /* all strategies that are correct */
  SHW_RULES_COMPAT = 2 /* those of the reference planner, at its prices */
};

/* How much of the parameters a rank may hold. 0: SHW_PARAM_BUDGET_SMALLEST, so that parameters are
 * divided over all ranks wherever their dims allow it, and gathered before use. */
typedef int32_t shw_param_budget;
enum {
  SHW_PARAM_BUDGET_SMALLEST = 1, /* the smallest shard of every parameter */
  SHW_PARAM_BUDGET_NONE = 2,     /* no limit; recommended with memory_limit_bytes */
  SHW_PARAM_BUDGET_FACTOR = 3    /* on average at most the share param_budget_factor */
};

/* Which communication counts in the objective. 0: SHW_OVERLAP_NONE, except for the optimum of
 * shw_planner_compare(), which is then found with SHW_OVERLAP_SIMULATED. */
typedef int32_t shw_overlap;
enum {
  SHW_OVERLAP_NONE = 1, /* all communication counts in full */
  /* Communication that depends on parameters alone, or that only gradients depend on, counts with
   * the factor prefetch_scale. This is the discount of the reference planner, AutoParallel. */
  SHW_OVERLAP_PREFETCH = 2,
  /* Gathers of parameters and reductions of gradients run beside the compute next to them. Only
   * what exceeds that compute counts. */
  SHW_OVERLAP_BOUNDED = 3,
  /* Several placements are tried: the cheapest one, known recipes, and those that are the cheapest
   * if hidden communication costs less. The plan has the one with the shortest simulated step, so
   * this step is never longer than with SHW_OVERLAP_NONE. Objective and bound still count all
   * communication in full. */
  SHW_OVERLAP_SIMULATED = 4
};

/* ---- Callbacks ------------------------------------------------------------------------------- */

/* Argument of shw_progress_fn. */
typedef struct shw_progress {
  size_t struct_size; /* bytes that this library filled in */
  const char* phase;  /* "load", "rewrite", "strategies", "price", "solve", "lower", ... */
  double best_us;     /* cost of the best placement so far; infinity: none yet */
  double bound_us;    /* proven lower bound of all placements; -infinity: none yet */
  double elapsed_s;
} shw_progress;

/* Called by the thread that compiles. Returns non-zero to cancel. Must not throw, longjmp, or call
 * the library. */
typedef int32_t (*shw_progress_fn)(void* user, const shw_progress* progress);

/* ---- Options --------------------------------------------------------------------------------- */

/* Flags of shw_compile_options. */
#define SHW_COMPILE_NO_EINSUM ((uint64_t)1) /* do not turn view-mm-view into einsum */
#define SHW_COMPILE_NO_GRAPH ((uint64_t)2)  /* do not store the graph in the plan */
#define SHW_COMPILE_STRIDED ((uint64_t)4)   /* offer strided shards; SHW_RULES_FULL only */
/* The memory of an output may hold scratch until the output is written, so the arena is smaller.
 * From its start on, a run may write to any part of an output's memory. This memory must be aligned
 * to 256 bytes. */
#define SHW_COMPILE_LEND_OUTPUTS ((uint64_t)8)

/* Options of shw_plan_compile(). All pointers are lent for the call. */
typedef struct shw_compile_options {
  size_t struct_size; /* set by SHW_COMPILE_OPTIONS_INIT */
  uint64_t flags;     /* SHW_COMPILE_* */

  /* The machine. */
  const shw_mesh_axis* mesh_axes; /* at most 6 */
  size_t num_mesh_axes;           /* 0: one device */
  const char* hardware;           /* a name of shw_hardware_name(): "h100"; NULL: "h100" */
  shw_bytes hardware_description; /* JSON (HARDWARE.md), in place of `hardware`; empty: none */

  /* What to plan. */
  const char* const* entries; /* entries to plan in place of those of the graph. "step" computes all
                                 outputs; "forward" and "infer" the results and the updates of
                                 buffers and inputs; "backward" the gradients and the other updates.
                                 "backward" runs after "forward", if that is listed */
  size_t num_entries;         /* 0: the entries of the graph */
  const shw_bucket_sizes*
      buckets; /* for graphs with symbols. Buckets share parameters, state and
                  their layouts, and divide the weight of their entry. If no
                  sizes are given for a symbol, it has one bucket, at its hint */
  size_t num_buckets;

  /* Constraints. */
  const char* input_layout;  /* of every input that is not a parameter, buffer or state, one
                                placement for each mesh axis: "S(0)R"; NULL, "free": the planner
                                chooses */
  const char* output_layout; /* of every result, likewise */
  const shw_port_layout* input_layouts; /* of single inputs, in place of input_layout; if several
                                           match an input, the last one counts */
  size_t num_input_layouts;
  const shw_port_layout* output_layouts; /* of single outputs, likewise */
  size_t num_output_layouts;
  const shw_pin* pins;
  size_t num_pins;
  const char* const* without; /* constraints to leave out, of these options or built-in ones, by
                                 their names (shw_status_conflict()); * and ? are wildcards */
  size_t num_without;
  shw_rules rules;
  shw_dtype grad_reduce_dtype; /* gradients are cast to it before they are reduced; 0: no cast */

  /* Memory. */
  int64_t memory_limit_bytes; /* of a rank at every point of a step; 0: none */
  double optimizer_factor;    /* bytes of optimizer state for each byte of a parameter; they count
                                 in the limit */
  double param_budget_factor; /* for SHW_PARAM_BUDGET_FACTOR; in (0, 1] */
  /* What the backward pass of an entry computes again instead of keeping it from the forward pass.
   * "none": nothing. "cheap": what costs little for the memory that it frees; no matrix products.
   * "selective": in each block, everything but every second product, attention and reductions.
   * "full": all of each block. "every:2": the same in every second block. With "+first-add"
   * appended, the first sum in each block that adds the block's input is kept. Parameters are
   * gathered again; with "+gathered" appended they stay gathered.
   * "auto": as much as memory_limit_bytes requires, chosen block by block for the shortest
   * simulated step. The plan's JSON has a bound on how far this choice is from the best one. Blocks
   * are the activation checkpointing regions of the nodes, or else numbered modules. Tags of nodes
   * (shw_node_options::recompute) take precedence. Placements do not depend on this option, with
   * one exception: under "auto", the memory limit restricts placements only as far as recomputation
   * alone does not meet it. NULL: "none" */
  const char* recompute;
  /* Collectives start before their results are needed, so that other steps hide them. Results then
   * take memory for longer: at most prefetch_bytes more than if no collective started early, and
   * within the memory limit. At most prefetch_depth compute steps lie between a collective and the
   * first step that reads its result. */
  int64_t prefetch_bytes; /* 0: 512 MiB */
  int64_t prefetch_depth; /* 0: 256 */
  /* Products that compute gradients of weights may be moved to a later point, where compute would
   * wait for a collective. This option limits the number of products between two reductions of
   * gradients, unless the graph itself has more. 0: 8 */
  int64_t products_between_reductions;
  /* Gathers of parameters, and all-reduces of gradients, in one group of ranks are fused into
   * collectives on buffers of at most this many bytes, if that makes the simulated step shorter. A
   * fused collective pays the latency of the network once. Results have the same bits. 0: nothing
   * is fused. */
  int64_t fuse_bytes;
  /* Host memory of a rank in which results of the forward pass may wait for the backward pass. It
   * is used under recompute "auto", if a memory limit requires it, and for no more results than the
   * link can transfer beside compute. The hardware description must have the rate of the link
   * (HARDWARE.md). 0: none. */
  int64_t host_memory_bytes;
  shw_param_budget param_budget; /* 0: SHW_PARAM_BUDGET_SMALLEST */

  /* The objective. */
  shw_overlap overlap;
  double prefetch_scale; /* for SHW_OVERLAP_PREFETCH: from 0 (this communication is free) to 1 (it
                            counts in full) */
  double bounded_share;  /* for SHW_OVERLAP_BOUNDED: the share of compute time beside which
                            communication can run, in (0, 1]; 0: all of it */

  /* The call. */
  double time_limit_s; /* from the start of the call. After it the plan gets the best placement
                          found so far, unproven, with its bound. Lowering and writing the plan are
                          not cut short. 0: no limit */
  double gap;          /* the search ends at a placement that is proven to cost at most this share
                          more than the optimum, such as 1e-4; at most 1. 0: 1e-9 */
  const shw_cancel* cancel; /* NULL: none */
  shw_progress_fn progress; /* NULL: none */
  void* progress_user;
  int32_t num_threads; /* at most; 0: as many as cores. The plan does not depend on it, unless
                          time_limit_s ends the search */
  int32_t reserved;    /* 0 */
} shw_compile_options;
#define SHW_COMPILE_OPTIONS_INIT                                                                   \
  {                                                                                                \
    sizeof(shw_compile_options), 0, NULL, 0, NULL, {NULL, 0}, NULL, 0, NULL, 0, NULL, NULL, NULL,  \
        0, NULL, 0, NULL, 0, NULL, 0, 0, 0, 0, 0.0, 0.0, NULL, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, \
        0.0, NULL, NULL, NULL, 0, 0                                                                \
  }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_compile_options_init(shw_compile_options* options, size_t size);

/**
 * Verifies a graph, rewrites it, chooses the cheapest placement of every tensor on the mesh, and
 * lowers the graph to the program that one rank runs.
 * @param graph     FlatBuffer of graph.fbs, or text (.swt); lent for the call; any alignment and
 *                  content
 * @param options   lent for the call; NULL: defaults
 * @param out_plan  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     the graph is malformed, or an option is out of range
 * @retval SHW_OUT_OF_RANGE         a bucket's size is not between its symbol's minimum and maximum
 * @retval SHW_FAILED_PRECONDITION  no placement satisfies the options
 * @retval SHW_UNIMPLEMENTED        the graph or an option needs what the library does not have yet
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before any placement was found; never
 *                                  without a time limit
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory; or the search reached its limit of work before it
 *                                  found a placement within memory_limit_bytes
 * @thread any; calls in one context run in parallel
 * @since 0.2
 */
SHW_API shw_status* shw_plan_compile(shw_context* context, shw_bytes graph,
                                     const shw_compile_options* options,
                                     shw_plan** out_plan) SHW_MUST_USE;

/**
 * Finds the cheapest way from one layout of a tensor to another, without a graph. The plan has one
 * input, "input.0", and one output, "output". shw_plan_get_step() and shw_plan_to_steps() give its
 * steps, and executors run it.
 * @param type      of the whole tensor: "f32[8192,8192]"
 * @param from      layout of the input: "S(0)S(1)"
 * @param to        layout of the output: "S(1)S(0)"
 * @param options   lent for the call. Mesh and hardware are used; layouts, pins, placements and
 *                  SHW_RULES_COMPAT are refused
 * @param out_plan  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     type or layouts are malformed, the tensor cannot have a layout,
 *                                  or an option is out of range
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any; calls in one context run in parallel
 * @since 0.2
 */
SHW_API shw_status* shw_plan_compile_reshard(shw_context* context, const char* type,
                                             const char* from, const char* to,
                                             const shw_compile_options* options,
                                             shw_plan** out_plan) SHW_MUST_USE;

/**
 * Reads a plan that shw_plan_save() made.
 * @param bytes     lent for the call; any alignment, any content
 * @param out_plan  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_DATA_LOSS            the bytes are damaged
 * @retval SHW_FAILED_PRECONDITION  they have another version of the format
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_load(shw_context* context, shw_bytes bytes,
                                  shw_plan** out_plan) SHW_MUST_USE;

/**
 * The plan as bytes. Equal graphs, options and library versions give equal bytes.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_save(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * Drops the caller's reference; executors keep their plan. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_destroy(shw_plan* plan);

/* ---- Hardware -------------------------------------------------------------------------------- */

/**
 * Number of machines that the library has cost tables for.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_hardware_count(void);

/**
 * Name of machine number `index`, as shw_compile_options::hardware takes it; "" if there is none.
 * @return a string that lives as long as the library
 * @thread any
 * @since 0.2
 */
SHW_API const char* shw_hardware_name(size_t index);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_COMPILE_H_ */
