/*
 * Finds the best mesh: plans every mesh of a number of devices, and lists them, best first.
 */
#ifndef SHARDWISE_SEARCH_H_
#define SHARDWISE_SEARCH_H_

#include "shardwise/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_search shw_search; /* meshes, best first; immutable */

/* Flags of shw_search_options: plan each mesh for every set of mesh axes that could shard the first
 * dim of the inputs, instead of with the options' input_layout. */
#define SHW_SEARCH_EACH_BATCH ((uint64_t)1)

/* Options of shw_search_create(). */
typedef struct shw_search_options {
  size_t struct_size;   /* set by SHW_SEARCH_OPTIONS_INIT */
  uint64_t flags;       /* SHW_SEARCH_* */
  int64_t num_devices;  /* 1 to 2^20 */
  size_t max_mesh_dims; /* 1 to 6; 0: 3 */
  size_t num_best;      /* how many of the best meshes are needed. Another mesh is given up as soon
                           as its bound shows that it is not one of them; how soon depends on
                           threads. With SHW_OVERLAP_SIMULATED no mesh is given up. 0: all */
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
  const char* input_layout; /* as requested; "": free */
  const char* batch;        /* mesh axes that shard the first dim of every input: "d0,d2" */
  const char* error;        /* why there is no plan; "": there is one */
  shw_code code;            /* of that error; SHW_OK: none */
  int32_t given_up;         /* 1: it is not among the best; only bound_us is known */
  int32_t proven;
  int32_t reserved;    /* 0 */
  double objective_us; /* counts a change of layout once for each use of a value. A plan for this
                          mesh may share some of the changes and cost less */
  double bound_us;
  double compute_us;
  double communication_us;
  double program_us;         /* of the steps of the lowered program */
  double step_us;            /* simulated, of all entries by their weights */
  int64_t memory_peak_bytes; /* of one rank, as the planner counts it */
  double duration_s;
} shw_search_candidate;
#define SHW_SEARCH_CANDIDATE_INIT                                                              \
  {                                                                                            \
    sizeof(shw_search_candidate), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, \
        0.0, 0, 0.0                                                                            \
  }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
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
 * "batch", "objective", "bound", "proven", "compute", "comm", "program", "step" (us),
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
#endif /* SHARDWISE_SEARCH_H_ */
