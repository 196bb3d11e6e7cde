/*
 * Step time against memory.
 */
#ifndef SHARDWISE_PARETO_H_
#define SHARDWISE_PARETO_H_

#include "shardwise/planner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_pareto shw_pareto; /* immutable */

/* Options of shw_planner_pareto(). */
typedef struct shw_pareto_options {
  size_t struct_size;        /* set by SHW_PARETO_OPTIONS_INIT */
  uint64_t flags;            /* 0: none is defined yet */
  size_t num_points;         /* to find, if so many exist: 2 to 1000; 0: 12 */
  uint64_t max_branch_nodes; /* of branch and bound, for each memory limit. When they are used up,
                                the best placement found so far is reported, unproven, with its
                                bound. 0: by the size of the graph */
} shw_pareto_options;
#define SHW_PARETO_OPTIONS_INIT \
  { sizeof(shw_pareto_options), 0, 0, 0 }

/* The cheapest placement under one memory limit; with SHW_OVERLAP_SIMULATED, the fastest found. */
typedef struct shw_pareto_point {
  size_t struct_size;    /* set by SHW_PARETO_POINT_INIT */
  int64_t limit_bytes;   /* 0: none */
  int64_t peak_bytes;    /* of one rank, as the planner counts it */
  int64_t program_bytes; /* memory that the lowered program needs; 0: not known */
  double objective_us;
  double bound_us; /* proven lower bound under this limit */
  int32_t proven;
  int32_t reserved;        /* 0 */
  double price_us_per_gib; /* time saved if the limit were one GiB higher, at the margin */
  double step_us;          /* simulated, with SHW_OVERLAP_SIMULATED; else 0 */
} shw_pareto_point;
#define SHW_PARETO_POINT_INIT \
  { sizeof(shw_pareto_point), 0, 0, 0, 0.0, 0.0, 0, 0, 0.0, 0.0 }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_pareto_options_init(shw_pareto_options* options, size_t size);

/**
 * The cheapest placements under a series of memory limits, from no limit to the lowest peak.
 * Objectives strictly rise and peaks strictly fall. Work for each limit is bounded by a count, so
 * every machine finds the same points. With SHW_OVERLAP_SIMULATED, each point is the fastest
 * placement found under its limit. Then step_us strictly rises, program_bytes strictly falls, and
 * bounds are bounds of the objective. The first point is never slower than a plan without a limit.
 * It can be faster, if a limit leads to a faster placement.
 * @param options     lent for the call; NULL: defaults. Fewer points than num_points are found if
 *                    there are no more, or time_limit_s passes
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
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
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

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_PARETO_H_ */
