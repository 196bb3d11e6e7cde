/*
 * Compares the optimal plan of a model with plans by well-known recipes, and with a plan by layouts
 * from elsewhere.
 */
#ifndef SHARDWISE_RECIPES_H_
#define SHARDWISE_RECIPES_H_

#include "shardwise/planner.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_recipes shw_recipes; /* plans of one model, compared; immutable */

/* Options of shw_planner_compare(). All pointers are lent for the call. */
typedef struct shw_recipes_options {
  size_t struct_size;         /* set by SHW_RECIPES_OPTIONS_INIT */
  uint64_t flags;             /* 0: none is defined yet */
  const char* const* recipes; /* names: "ddp", "fsdp", "hsdp", "tp", "tp-sp", "fsdp-tp", "cp" */
  size_t num_recipes;         /* 0: all */
  shw_bytes foreign;          /* JSON of layouts to score as well: of shw_plan_to_placements(), of
                                 shw_planner_export(), or an object of layouts by name of a node,
                                 input or output. Empty: none */
  const char* foreign_name;   /* of its row; NULL: "foreign" */
} shw_recipes_options;
#define SHW_RECIPES_OPTIONS_INIT \
  { sizeof(shw_recipes_options), 0, NULL, 0, {NULL, 0}, NULL }

/* Where the plan of a row comes from. */
typedef int32_t shw_recipes_kind;
enum {
  /* Of several placements within the memory limit, all rows among them, the one with the shortest
   * simulated step. If the planner was created with SHW_OVERLAP_NONE, _PREFETCH or _BOUNDED: the
   * cheapest of all placements. */
  SHW_RECIPES_OPTIMUM = 0,
  SHW_RECIPES_OPTIONS = 1, /* the plan under all options, including layouts and parameter budget:
                              the plan of shw_planner_compile() */
  SHW_RECIPES_RECIPE = 2,
  SHW_RECIPES_FOREIGN = 3
};

/* One plan. Strings are lent by the comparison. Figures are of one rank. They are sums over the
 * entries, weighted by how often each is called. All are 0 if there is no plan. */
typedef struct shw_recipes_row {
  size_t struct_size; /* set by SHW_RECIPES_ROW_INIT */
  const char* name;   /* "fsdp" */
  const char* title;
  const char* why_not;    /* why there is no plan; "": there is one */
  const char* difference; /* from the optimum, in a line; "": this is the optimum */
  shw_recipes_kind kind;
  int32_t proven;     /* 1: proven to be the cheapest of its kind */
  int32_t ahead;      /* 1: its simulated step is shorter than that of the optimum. Possible only if
                         the optimum is the cheapest placement: prices count communication that a
                         schedule hides */
  int32_t reserved;   /* 0 */
  double step_us;     /* simulated */
  double compute_us;  /* of kernels */
  double exposed_us;  /* communication that compute waits for */
  double price_us;    /* the objective: one operation after another */
  int64_t peak_bytes; /* of memory */
  int64_t wire_bytes; /* sent */
  uint64_t num_collectives;
  uint64_t num_free;    /* nodes that cannot follow the recipe; the planner chose their layouts */
  uint64_t num_unknown; /* nodes of the foreign plan that the graph does not have */
} shw_recipes_row;
#define SHW_RECIPES_ROW_INIT \
  { sizeof(shw_recipes_row), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0 }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_recipes_options_init(shw_recipes_options* options, size_t size);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_recipes_row_init(shw_recipes_row* row, size_t size);

/**
 * Plans the model by each recipe and compares these plans with the optimum. All plans go through
 * the same passes and the same simulator. No recipe has a shorter simulated step than the optimum,
 * unless the planner was created with SHW_OVERLAP_NONE, _PREFETCH or _BOUNDED. A recipe is a set of
 * constraints on layouts, which is derived from the graph. The planner chooses what the recipe
 * leaves open, at the lowest price. If the model or the mesh does not permit a recipe, its row says
 * why.
 * @param options      lent for the call; NULL: all recipes, no foreign plan
 * @param changes      lent for the call; NULL: none. Layouts, pins and the parameter budget bind
 *                     the row of kind SHW_RECIPES_OPTIONS alone; the memory limit binds all
 * @param out_recipes  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     an unknown recipe, a malformed foreign plan or change
 * @retval SHW_FAILED_PRECONDITION  no placement is within the memory limit
 * @retval SHW_CANCELLED            `cancel` was raised, or `progress` returned non-zero
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each planner
 * @since 0.2
 */
SHW_API shw_status* shw_planner_compare(shw_planner* planner, const shw_recipes_options* options,
                                        const shw_planner_changes* changes,
                                        shw_recipes** out_recipes) SHW_MUST_USE;

/**
 * Number of rows; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_recipes_num_rows(const shw_recipes* recipes);

/**
 * One row; number 0 is the optimum.
 * @param out_row  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such row
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_recipes_get_row(const shw_recipes* recipes, size_t index,
                                        shw_recipes_row* out_row) SHW_MUST_USE;

/**
 * The rows as one JSON object.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_recipes_to_json(const shw_recipes* recipes,
                                        shw_blob** out_blob) SHW_MUST_USE;

/**
 * The rows for a person.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_recipes_to_text(const shw_recipes* recipes,
                                        shw_blob** out_blob) SHW_MUST_USE;

/**
 * A chart, a bar for each plan, as an SVG document.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_recipes_to_svg(const shw_recipes* recipes,
                                       shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the comparison. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_recipes_destroy(shw_recipes* recipes);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_RECIPES_H_ */
