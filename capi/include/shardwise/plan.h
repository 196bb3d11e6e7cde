/*
 * What a caller needs to run a plan: its costs and proof, ports, entries, symbols; and reports. All
 * strings and arrays are lent by the plan.
 */
#ifndef SHARDWISE_PLAN_H_
#define SHARDWISE_PLAN_H_

#include "shardwise/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The plan as a whole --------------------------------------------------------------------- */

typedef struct shw_plan_summary {
  size_t struct_size;  /* set by SHW_PLAN_SUMMARY_INIT */
  double objective_us; /* modelled cost of a step: the sum of the next three */
  double compute_us;
  double communication_us; /* of redistributing operands: collectives and the copies around them */
  double transition_us;    /* 1 for each operand whose layout changes: breaks ties */
  double bound_us;         /* proven lower bound of all placements */
  int32_t proven;          /* 1: the objective equals the bound */
  int32_t num_ranks;
  size_t num_nodes; /* nodes of the rewritten graph that were placed. This graph has an additional
                       alias after each value with several uses and before each output, at which
                       layouts can change */
  size_t num_strategies; /* summed over the nodes */
  size_t num_steps;      /* of the program, collectives included */
  const char* hardware;
  const char* rules;   /* "full", "compat" */
  const char* overlap; /* "bounded", "prefetch 0.25", "simulated"; "": none */
  uint64_t graph_hash;
  uint64_t options_hash;
  uint64_t mesh_hash;
  int64_t arena_bytes;            /* scratch memory of one rank */
  int64_t session_bytes;          /* memory of one session of one rank */
  int64_t host_bytes;             /* host memory of one rank and one session, where results wait */
  int64_t live_peak_bytes;        /* lower bound of arena_bytes: the largest sum of live buffers */
  int64_t memory_limit_bytes;     /* of the options; 0: none */
  int64_t memory_peak_bytes;      /* of one rank at the fullest point of a step, as the planner
                                     counts it */
  int64_t memory_program_bytes;   /* of one rank, to run the program: the ports of each entry in its
                                     largest bucket, optimizer state, the arena and one session.
                                     Memory limits apply to this number */
  const char* memory_peak_node;   /* where the peak is; shw_plan_get_memory_share() says of what */
  double memory_price_us_per_gib; /* time saved if the limit were one GiB higher, at the margin */
  size_t memory_binding_points;   /* nodes at which the limit has a price */
  size_t num_fused_groups;        /* groups of steps that run together, slice by slice */
  size_t num_fused_steps;         /* in all groups */
  int64_t group_bytes;            /* additional memory for a device that runs the groups' steps one
                                     by one. An executor allocates the part that its device needs */
} shw_plan_summary;
#define SHW_PLAN_SUMMARY_INIT                                                                    \
  {                                                                                              \
    sizeof(shw_plan_summary), 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, \
        0, 0, 0, 0, 0, 0, 0, NULL, 0.0, 0, 0, 0, 0                                               \
  }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_summary_init(shw_plan_summary* summary, size_t size);

/**
 * Costs, proof, size and memory of the plan.
 * @param out_summary  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_summary(const shw_plan* plan,
                                         shw_plan_summary* out_summary) SHW_MUST_USE;

/**
 * Number of ranks that the plan runs on; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API int32_t shw_plan_num_ranks(const shw_plan* plan);

/**
 * Number of axes of the plan's mesh; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_num_mesh_axes(const shw_plan* plan);

/* Collectives may also run along a part of a mesh axis. For example, the axis "dp" of eight ranks,
 * seen as 4 * 2, has an outer part, "dp.0", of 4 ranks that are two apart, and an inner part,
 * "dp.1", of 2 neighbours. Parts have numbers from SHW_FIRST_MESH_PART on. The parts of all axes
 * are numbered in a row, in the order of the axes; of one axis, the outermost part first. */
#define SHW_FIRST_MESH_PART 16

/**
 * One axis of the mesh, the outermost has number 0, or a part of one.
 * @param index     below shw_plan_num_mesh_axes(), or the number of a part that a step names
 * @param out_axis  zeros on failure
 * @retval SHW_OUT_OF_RANGE  there is no such axis
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_mesh_axis(const shw_plan* plan, size_t index,
                                           shw_mesh_axis* out_axis) SHW_MUST_USE;

/* ---- Ports: the tensors that go in, come out, or stay ------------------------------------------
 *
 * A port is a tensor in memory of its own: an input, an output, state that the executor holds, or a
 * constant of the plan. Entries can share a port, and then also its layout. */

typedef struct shw_plan_port {
  size_t struct_size; /* set by SHW_PLAN_PORT_INIT */
  /* "param.<name>", "buffer.<name>", "constant.<name>", "input.<name or position>",
     "tangent.<output>"; "output" or "output.<name or position>" of a result; "grad.<name>" and
     "update.<name>" of a parameter, "grad.input.<name>", "update.buffer.<name>" of other inputs */
  const char* name;
  shw_role role;
  shw_storage storage;
  shw_dtype dtype;
  int32_t present;              /* 0: an output that is never computed (no gradient) */
  size_t updates;               /* the input whose memory this output overwrites; SHW_NONE: none */
  int32_t rank;                 /* number of dims */
  int32_t reserved;             /* 0 */
  const int64_t* dims;          /* of the whole tensor; of a bucket: at its sizes */
  const int64_t* local_dims;    /* of one rank's piece; NULL if not present */
  const int64_t* local_strides; /* in elements; NULL if not present */
  const char* layout;           /* one placement for each mesh axis: "S(0)R" */
  const char* symbolic_dims;    /* of a bucket: `dims` as expressions of symbols, "[1,2*cache]";
                                   NULL: they depend on no symbol */
} shw_plan_port;
#define SHW_PLAN_PORT_INIT \
  { sizeof(shw_plan_port), NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL }

/**
 * Number of ports; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_num_ports(const shw_plan* plan);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_port_init(shw_plan_port* port, size_t size);

/**
 * One port.
 * @param out_port  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such port
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_port(const shw_plan* plan, size_t index,
                                      shw_plan_port* out_port) SHW_MUST_USE;

/**
 * The number of a port, from its name. Ports of different buckets can have the same name; within an
 * entry names are unique.
 * @param entry      an entry that has the port as input or output. State, constants and updates of
 *                   state are found from every entry. SHW_NONE: any entry
 * @param out_index  SHW_NONE on failure
 * @retval SHW_NOT_FOUND            there is none; the message offers names like it
 * @retval SHW_FAILED_PRECONDITION  `entry` is SHW_NONE, and several ports have this name
 * @retval SHW_OUT_OF_RANGE         there is no such entry
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_find_port(const shw_plan* plan, size_t entry, const char* name,
                                       size_t* out_index) SHW_MUST_USE;

/* ---- Entries: the ways to run the plan ------------------------------------------------------- */

typedef struct shw_plan_entry {
  size_t struct_size;   /* set by SHW_PLAN_ENTRY_INIT */
  const char* name;     /* "step": forward and backward; where an entry has several buckets, with
                           the sizes of each: "decode@cache=16" */
  double weight;        /* in the objective: how often it is called, compared with the others */
  const size_t* inputs; /* ports, in the order of shw_run::inputs; state and constants are not
                           among them */
  size_t num_inputs;
  const size_t* outputs; /* ports, in the order of shw_run::outputs; updates of state are not among
                            them */
  size_t num_outputs;
  const size_t* after; /* entries that must have run before it in the same session */
  size_t num_after;
  size_t num_steps;
  int64_t parameter_bytes;     /* of one rank; a part of input_bytes */
  int64_t input_bytes;         /* of one rank */
  int64_t output_bytes;        /* of one rank; outputs that overwrite inputs do not count */
  const char* bucket_of;       /* the entry of the graph that this is a bucket of; "": none */
  const int64_t* symbol_sizes; /* of a bucket: the size of each symbol of the plan, in their order;
                                  -1: the entry does not depend on it. NULL: no bucket */
} shw_plan_entry;
#define SHW_PLAN_ENTRY_INIT \
  { sizeof(shw_plan_entry), NULL, 0.0, NULL, 0, NULL, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL }

/**
 * Number of entries; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_num_entries(const shw_plan* plan);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_entry_init(shw_plan_entry* entry, size_t size);

/**
 * One entry.
 * @param out_entry  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such entry
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_entry(const shw_plan* plan, size_t index,
                                       shw_plan_entry* out_entry) SHW_MUST_USE;

/**
 * The number of an entry, from its name.
 * @param out_index  SHW_NONE on failure
 * @retval SHW_NOT_FOUND  there is none; the message lists those that there are
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_find_entry(const shw_plan* plan, const char* name,
                                        size_t* out_index) SHW_MUST_USE;

/**
 * The position of an input of an entry in shw_plan_entry::inputs and shw_run::inputs.
 * @param name       of the port: "input.x"
 * @param out_index  SHW_NONE on failure
 * @retval SHW_NOT_FOUND     the entry has no such input; the message offers names like it
 * @retval SHW_OUT_OF_RANGE  there is no such entry
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_find_input(const shw_plan* plan, size_t entry, const char* name,
                                        size_t* out_index) SHW_MUST_USE;

/**
 * The position of an output of an entry in shw_plan_entry::outputs and shw_run::outputs.
 * @param name       of the port: "output.loss"
 * @param out_index  SHW_NONE on failure
 * @retval SHW_NOT_FOUND     the entry has no such output; the message offers names like it
 * @retval SHW_OUT_OF_RANGE  there is no such entry
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_find_output(const shw_plan* plan, size_t entry, const char* name,
                                         size_t* out_index) SHW_MUST_USE;

/* Simulated time and memory of one run of an entry. The steps take the times of the cost model and
 * run on the queues of a rank, with communication beside computation. */
typedef struct shw_plan_entry_time {
  size_t struct_size;        /* set by SHW_PLAN_ENTRY_TIME_INIT */
  double us;                 /* from the first step to the end of the last */
  double exposed_us;         /* of that: communication with no computation beside it */
  double unavoidable_us;     /* of exposed_us: the part that no order of the steps hides */
  double lower_bound_us;     /* no order of the steps is faster */
  double longest_chain_us;   /* of steps that wait for each other */
  int64_t device_peak_bytes; /* of one rank: ports, state, session, scratch */
} shw_plan_entry_time;
#define SHW_PLAN_ENTRY_TIME_INIT \
  { sizeof(shw_plan_entry_time), 0.0, 0.0, 0.0, 0.0, 0.0, 0 }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_plan_entry_time_init(shw_plan_entry_time* time, size_t size);

/**
 * The simulated time of an entry. Each call computes it anew.
 * @param out_time  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such entry
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_entry_time(const shw_plan* plan, size_t index,
                                            shw_plan_entry_time* out_time) SHW_MUST_USE;

/* ---- Symbols: sizes that are known at run time ------------------------------------------------
 *
 * An entry that depends on symbols is in the plan once for each chosen set of sizes: its buckets.
 * Ranks always compute at the sizes of a bucket. For a smaller run, the caller chooses the smallest
 * bucket into which it fits, and pads the inputs. Masks and positions, which are inputs too, must
 * make the padding harmless. */

/* A size of a symbol. Frozen. */
typedef struct shw_symbol_size {
  const char* symbol; /* its name */
  int64_t size;
} shw_symbol_size;

/**
 * Number of symbols of the graph that the plan was made of; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_plan_num_symbols(const shw_plan* plan);

/**
 * One symbol.
 * @param out_symbol  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such symbol
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_get_symbol(const shw_plan* plan, size_t index,
                                        shw_symbol* out_symbol) SHW_MUST_USE;

/**
 * The smallest bucket of an entry of the graph into which a run of these sizes fits. An entry that
 * depends on no symbol is its own only bucket.
 * @param entry      its name in the graph: "decode"; shw_plan_entry::bucket_of
 * @param sizes      one for each symbol that the entry depends on, in any order; lent for the call
 * @param out_entry  number of the bucket among the entries; SHW_NONE on failure
 * @retval SHW_NOT_FOUND         there is no such entry
 * @retval SHW_OUT_OF_RANGE      a size is below the symbol's minimum, or larger than the largest
 *                               bucket; the message names the symbol, its size and that bucket
 * @retval SHW_INVALID_ARGUMENT  a size is no multiple of the symbol's divisor, is missing, is given
 *                               twice, or is of a symbol that the entry does not depend on
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_choose_bucket(const shw_plan* plan, const char* entry,
                                           const shw_symbol_size* sizes, size_t num_sizes,
                                           size_t* out_entry) SHW_MUST_USE;

/* ---- Reports --------------------------------------------------------------------------------- */

/**
 * Everything above as one JSON object. Costs are in us, memory in bytes of one rank.
 *
 *   objective, bound, proven, compute, comm, transition   of the summary
 *   nodes, strategies, mesh, ranks, hardware, rules, overlap
 *   collectives          by kind: `count`, `wire_bytes_per_rank`
 *   memory_per_rank      of the program: `parameters`, `gradients`, `arena`, `live_peak`, `host`;
 *                        `in_outputs`: scratch in the memory of outputs until they are written;
 *                        `groups`: `group_bytes` of the summary
 *   memory               as planned: `limit_bytes`, `peak_bytes`, `at` (a node),
 *                        `price_us_per_gib`, `points`, `program_bytes` (what the program needs);
 *                        the peak `by_kind` and `by_module`: `module` (numbers as *), `count` of
 *                        such modules, `bytes`, `by_kind`
 *   program              `us`: all steps one after another; `collectives`: those among them;
 *                        `by_basis`: where these prices come from (`measured`, `interpolated`,
 *                        `analytical`, `fallback`); `steps`.
 *                        `simulated`, by entry: `us` with overlap, `exposed` collectives,
 *                        `unavoidable` (exposed in every order of steps), `lower_bound`,
 *                        `longest_chain`,
 *                        `device_peak_bytes`, and of each of its `queues` the `name`, `steps`,
 *                        `busy`, `exposed`
 *   symbols              by name: `min`, `max`, `divisor`, `hint`; absent if there are none
 *   entries              by name: `inputs` and `outputs` with `name`, `type`, `layout`, `present`
 *                        and, where dims depend on symbols, `sizes`, "[1,2*cache]"; of a bucket
 *                        `bucket_of`, an entry of the graph, and `bucket`: sizes by symbol
 *   decisions            of each node `name`, `op`, `phase`, `module_path`, `operands`, `result`,
 *                        `compute`, `comm`, `transition`
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_json(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * A table for a person: costs and proof, layouts of parameters, collectives, memory, simulated
 * time.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_text(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * When each step would run on a rank, as Chrome trace events in JSON, which ui.perfetto.dev opens:
 * a track for each stream, a counter of live bytes, and arrows from the step that makes a
 * collective's operand to the step that reads its result.
 * @param entry     its name; NULL: all entries, one after another
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_NOT_FOUND           there is no such entry
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_trace(const shw_plan* plan, const char* entry,
                                      shw_blob** out_blob) SHW_MUST_USE;

/**
 * The modules that the graph was traced from as a tree, in JSON: each with its `parameters` and
 * their layouts, and its cost and its share of the memory peak, submodules included. Numbered
 * modules that are alike appear once, with their `count`.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_module_tree(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * The same tree for a person.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_module_tree_text(const shw_plan* plan,
                                                 shw_blob** out_blob) SHW_MUST_USE;

/**
 * The program of a rank for a person: its values, and a line for each step.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_program_text(const shw_plan* plan,
                                             shw_blob** out_blob) SHW_MUST_USE;

/**
 * The steps of a rank's program, as JSON: `steps`, each with `entry`, `kernel`, `inputs` and
 * `outputs` (types of the pieces), of collectives `axes`, `to_axes` (names of mesh axes), `reduce`
 * and `wire_bytes`, and `cost_us`, `basis`, `node`; `wire_bytes` and `cost_us` of all.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_steps(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * The same steps for a person: a line for each, and their sum.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_steps_text(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

/**
 * The placement of every node, as JSON that shw_planner_changes::placements takes: mesh (`shape`,
 * `dim_names`), and `nodes` with `name`, `output` and `inputs`. If you delete a node from it, the
 * planner chooses the node's placement.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_to_placements(const shw_plan* plan, shw_blob** out_blob) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_PLAN_H_ */
