/*
 * The contents of a plan: the placement of every node, the steps of the program that a rank runs,
 * their memory, and how long planning took. All strings and arrays are lent by the plan.
 */
#ifndef SHARDWISE_PROGRAM_H_
#define SHARDWISE_PROGRAM_H_

#include "shardwise/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Nodes: the decisions -------------------------------------------------------------------- */

/* The placement of one node of the graph. */
typedef struct shw_plan_node {
  size_t struct_size; /* set by SHW_PLAN_NODE_INIT */
  const char* name;
  const char* op;          /* "mm"; "local_map tp": a region, and which of its bodies was picked */
  const char* module_path; /* "layers.0.attention.wq"; "": none */
  shw_phase phase;
  int32_t reserved;            /* 0 */
  const char* operand_layouts; /* "S(0)R, RS(1)" */
  const char* result_layout;   /* "S(0)S(2)"; of several results in parentheses */
  double compute_us;
  double communication_us;
  double transition_us; /* of the layout changes of its operands */
} shw_plan_node;
#define SHW_PLAN_NODE_INIT \
  { sizeof(shw_plan_node), NULL, NULL, NULL, 0, 0, NULL, NULL, 0.0, 0.0, 0.0 }

/**
 * Number of nodes whose placement is known; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_num_nodes(const shw_plan* plan);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_node_init(shw_plan_node* node, size_t size);

/**
 * The placement of one node, in the order of the rewritten graph.
 * @param out_node  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such node
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_node(const shw_plan* plan, size_t index,
                                      shw_plan_node* out_node) SHW_MUST_USE;

/* ---- Steps: the program of a rank ------------------------------------------------------------ */

/* One step: a kernel, or a collective. */
typedef struct shw_plan_step {
  size_t struct_size; /* set by SHW_PLAN_STEP_INIT */
  const char* kernel; /* "mm", "local_slice", "all_gather" */
  size_t entry;
  shw_phase phase;
  int32_t stream;      /* 0: computes; each other stream: the collectives of one communicator */
  size_t node_index;   /* node of the caller's graph that it belongs to; SHW_NONE: none */
  const uint8_t* axes; /* collective: mesh axes of the group, or parts of them from
                          SHW_FIRST_MESH_PART on, outermost first; NULL: none */
  size_t num_axes;
  const char* reduce; /* reduce-scatter, all-reduce: "sum", "avg", "max", "min", "product"; "" */
  int64_t wire_bytes; /* bytes that one rank sends, counted for a ring */
  double cost_us;     /* modelled */
  /* collective_permute: the axes in another order, num_axes of them; NULL: none. The member with
     number i in this order receives the data of the member with number i in the order of `axes`. */
  const uint8_t* to_axes;
} shw_plan_step;
#define SHW_PLAN_STEP_INIT \
  { sizeof(shw_plan_step), NULL, 0, 0, 0, 0, NULL, 0, NULL, 0, 0.0, NULL }

/**
 * Number of steps; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_num_steps(const shw_plan* plan);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_step_init(shw_plan_step* step, size_t size);

/**
 * One step, in the order of the program.
 * @param out_step  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such step
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_step(const shw_plan* plan, size_t index,
                                      shw_plan_step* out_step) SHW_MUST_USE;

/* All steps of one kind of collective. */
typedef struct shw_plan_collective {
  size_t struct_size; /* set by SHW_PLAN_COLLECTIVE_INIT */
  const char* kind;   /* "all_gather", "reduce_scatter", "all_reduce", "all_to_all",
                         "collective_permute" */
  size_t count;       /* steps of the program */
  int64_t wire_bytes; /* bytes that one rank sends, counted for rings */
} shw_plan_collective;
#define SHW_PLAN_COLLECTIVE_INIT \
  { sizeof(shw_plan_collective), NULL, 0, 0 }

/**
 * Number of kinds of collectives in the program; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_num_collectives(const shw_plan* plan);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_collective_init(shw_plan_collective* collective, size_t size);

/**
 * How often one kind of collective runs, and what it sends.
 * @param out_collective  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such kind
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_collective(const shw_plan* plan, size_t index,
                                            shw_plan_collective* out_collective) SHW_MUST_USE;

/* ---- Memory and time ------------------------------------------------------------------------- */

/* Memory of one kind that one module holds when a step needs the most memory. */
typedef struct shw_plan_memory_share {
  size_t struct_size;      /* set by SHW_PLAN_MEMORY_SHARE_INIT */
  const char* kind;        /* "parameters", "optimizer_state", "gradients", "inputs" (also buffers),
                              "results", "activations" (kept from forward to backward),
                              "temporaries" */
  const char* module_path; /* "layers.0.attention.wq"; "": none */
  int64_t bytes;           /* of one rank */
} shw_plan_memory_share;
#define SHW_PLAN_MEMORY_SHARE_INIT \
  { sizeof(shw_plan_memory_share), NULL, NULL, 0 }

/**
 * Number of shares of the memory peak; 0 for NULL, and where no peak is known.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_num_memory_shares(const shw_plan* plan);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_memory_share_init(shw_plan_memory_share* share, size_t size);

/**
 * One share of the peak; the largest has number 0. They add up to memory_peak_bytes of the summary.
 * @param out_share  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such share
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_memory_share(const shw_plan* plan, size_t index,
                                              shw_plan_memory_share* out_share) SHW_MUST_USE;

/* Wall clock of one part of a compilation. */
typedef struct shw_plan_phase {
  size_t struct_size; /* set by SHW_PLAN_PHASE_INIT */
  const char* name;   /* "load", "rewrite", "strategies", "price", "solve", "lower", "passes",
                         "write", "read" */
  double duration_s;
} shw_plan_phase;
#define SHW_PLAN_PHASE_INIT \
  { sizeof(shw_plan_phase), NULL, 0.0 }

/**
 * Number of phases of the compilation; 0 for NULL, and for a plan that was loaded.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_num_phases(const shw_plan* plan);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_phase_init(shw_plan_phase* phase, size_t size);

/**
 * How long one phase of the compilation took.
 * @param out_phase  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such phase
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_phase(const shw_plan* plan, size_t index,
                                       shw_plan_phase* out_phase) SHW_MUST_USE;

/* The work of the solver. */
typedef struct shw_plan_effort {
  size_t struct_size; /* set by SHW_PLAN_EFFORT_INIT */
  size_t num_variables;
  size_t num_edges;
  size_t num_strategies; /* summed over the variables */
  size_t num_sweeps;
  size_t num_branch_nodes;
} shw_plan_effort;
#define SHW_PLAN_EFFORT_INIT \
  { sizeof(shw_plan_effort), 0, 0, 0, 0, 0 }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_effort_init(shw_plan_effort* effort, size_t size);

/**
 * The size of the placement problem, and the work of its solve. Zeros for a plan that was loaded.
 * @param out_effort  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_effort(const shw_plan* plan,
                                        shw_plan_effort* out_effort) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_PROGRAM_H_ */
