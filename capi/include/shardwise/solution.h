/*
 * Solves placement problems without a graph: the cheapest choice of one strategy for each node,
 * with proof.
 */
#ifndef SHARDWISE_SOLUTION_H_
#define SHARDWISE_SOLUTION_H_

#include "shardwise/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_solution shw_solution; /* of a placement problem; immutable */

/* The format of a problem: JSON, plain or gzipped. 0: SHW_PROBLEM_FORMAT_AP. */
typedef int32_t shw_problem_format;
enum {
  SHW_PROBLEM_FORMAT_AP = 1,    /* "ap-problem-1", as AutoParallel exports it */
  SHW_PROBLEM_FORMAT_IOPDDL = 2 /* an instance of the IOPDDL contest (ASPLOS/EuroSys 2025) */
};

/* Flags of shw_solution_options: nodes with the same root get one common strategy
 * (SHW_PROBLEM_FORMAT_AP only). */
#define SHW_SOLUTION_TIED ((uint64_t)1)

/* Options of shw_solution_create(). All pointers are lent for the call. */
typedef struct shw_solution_options {
  size_t struct_size; /* set by SHW_SOLUTION_OPTIONS_INIT */
  uint64_t flags;     /* SHW_SOLUTION_* */
  shw_problem_format format;
  int32_t num_threads; /* at most; 0: as many as cores. The solution does not depend on it, unless
                          time_limit_s ends the search */
  double time_limit_s; /* from the start of the call. After it the best solution found so far is
                          returned, unproven, with its bound. 0: no limit */
  const shw_cancel* cancel; /* NULL: none */
  shw_progress_fn progress; /* NULL: none */
  void* progress_user;
} shw_solution_options;
#define SHW_SOLUTION_OPTIONS_INIT \
  { sizeof(shw_solution_options), 0, 0, 0, 0.0, NULL, NULL, NULL }

/* Costs have the unit of the problem: modelled microseconds, where AutoParallel exported it. */
typedef struct shw_solution_summary {
  size_t struct_size;       /* set by SHW_SOLUTION_SUMMARY_INIT */
  double objective;         /* cost of the chosen strategies */
  double bound;             /* proven lower bound of all choices */
  double duration_s;        /* of the solve */
  int32_t proven;           /* 1: the objective equals the bound */
  int32_t lp_solve_missing; /* 1: lp_solve is not installed; it might have closed the gap */
  size_t num_variables;
  size_t num_edges;
  size_t num_strategies; /* summed over the variables */
  size_t num_variables_after_presolve;
  size_t num_sweeps;
  size_t num_strategies_after_presolve;
  size_t num_branch_nodes;
} shw_solution_summary;
#define SHW_SOLUTION_SUMMARY_INIT \
  { sizeof(shw_solution_summary), 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* A limit on what the chosen strategies use together, such as memory. */
typedef struct shw_solution_budget {
  size_t struct_size; /* set by SHW_SOLUTION_BUDGET_INIT */
  double limit;
  double peak; /* use at the fullest point */
} shw_solution_budget;
#define SHW_SOLUTION_BUDGET_INIT \
  { sizeof(shw_solution_budget), 0.0, 0.0 }

/* What a budget costs at one point: the amount by which the optimum of the relaxation would fall if
 * the limit at this point were one unit higher. */
typedef struct shw_solution_price {
  size_t struct_size; /* set by SHW_SOLUTION_PRICE_INIT */
  size_t budget;
  size_t point;
  double price;
} shw_solution_price;
#define SHW_SOLUTION_PRICE_INIT \
  { sizeof(shw_solution_price), 0, 0, 0.0 }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_solution_options_init(shw_solution_options* options, size_t size);

/**
 * Solves a problem exactly.
 * @param problem       as options.format says; lent for the call; any content
 * @param options       lent for the call; NULL: defaults
 * @param out_solution  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     the problem is malformed: the message gives the path in the
 *                                  JSON; or an option is out of range
 * @retval SHW_FAILED_PRECONDITION  no choice has finite cost within the budgets
 * @retval SHW_DATA_LOSS            the gzipped bytes are damaged
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_DEADLINE_EXCEEDED    time_limit_s passed before any solution was found
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory; the text exceeds
 *                                  shw_context_options::max_text_bytes; or the search reached its
 *                                  limit of work before it found a solution
 * @thread any; calls in one context run in parallel
 * @since 0.2
 */
SHW_API shw_status* shw_solution_create(shw_context* context, shw_bytes problem,
                                        const shw_solution_options* options,
                                        shw_solution** out_solution) SHW_MUST_USE;

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_solution_summary_init(shw_solution_summary* summary, size_t size);

/**
 * Cost, proof and effort.
 * @param out_summary  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_solution_get_summary(const shw_solution* solution,
                                             shw_solution_summary* out_summary) SHW_MUST_USE;

/**
 * Number of nodes of the problem; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_solution_num_nodes(const shw_solution* solution);

/**
 * The strategy that was chosen for a node, in the order of the problem.
 * @return its number; SHW_NONE: there is no such node, or it is an output, which has none
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_solution_strategy(const shw_solution* solution, size_t node);

/**
 * Number of budgets of the problem; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_solution_num_budgets(const shw_solution* solution);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_solution_budget_init(shw_solution_budget* budget, size_t size);

/**
 * One budget, and how much of it the solution uses.
 * @param out_budget  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such budget
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_solution_get_budget(const shw_solution* solution, size_t index,
                                            shw_solution_budget* out_budget) SHW_MUST_USE;

/**
 * Number of points at which a budget has a price; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_solution_num_prices(const shw_solution* solution);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_solution_price_init(shw_solution_price* price, size_t size);

/**
 * One price. All prices together are the certificate of the bound. To check it, drop the budgets
 * and charge each strategy these prices for what it uses.
 * @param out_price  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such price
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_solution_get_price(const shw_solution* solution, size_t index,
                                           shw_solution_price* out_price) SHW_MUST_USE;

/**
 * The solution as one JSON object: `objective`, `bound`, `proven`; with budgets `peak` (of the
 * first) and `prices` (budget, point, price); `seconds`; and `chosen`, one strategy for each node,
 * null for outputs.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_solution_to_json(const shw_solution* solution,
                                         shw_blob** out_blob) SHW_MUST_USE;

/**
 * Cost, proof and effort for a person.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_solution_to_text(const shw_solution* solution,
                                         shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the solution. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_solution_destroy(shw_solution* solution);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_SOLUTION_H_ */
