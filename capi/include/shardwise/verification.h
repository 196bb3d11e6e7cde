/*
 * Checks whether the results of a run are right. Sharded and unsharded runs round differently, so
 * results are judged by the rounding error of their own computation, which is measured in f64. A
 * verification takes about a dozen runs of the entry on the CPU of this process. Use it for models
 * of small to moderate size, and not for every step.
 */
#ifndef SHARDWISE_VERIFICATION_H_
#define SHARDWISE_VERIFICATION_H_

#include "shardwise/plan.h"
#include "shardwise/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_verification shw_verification; /* of one run; immutable */

/* What is wrong with a result, if anything. */
typedef int32_t shw_verdict;
enum {
  SHW_VERDICT_RIGHT = 1,
  SHW_VERDICT_TOO_FAR = 2,   /* further from the run in f64 than rounding explains */
  SHW_VERDICT_SCALED = 3,    /* within rounding, but the whole tensor is scaled */
  SHW_VERDICT_DIFFERENT = 4, /* integers, truth values, infinities or NaN differ from the unsharded
                                run */
  SHW_VERDICT_WRONG_PLAN = 5 /* the plan computes something else, in any dtype */
};

/* State that executors keep, before the run and after it. Whole tensors, in host memory. Frozen. */
typedef struct shw_verification_state {
  size_t port; /* its number: shw_plan_find_port(); an input of SHW_STORAGE_STATE */
  shw_tensor before;
  shw_tensor after;
} shw_verification_state;

/* Options of shw_verification_create(). All pointers are lent for the call, with all that they
 * point to. Tensors are whole, in host memory, with the dims and dtypes of their ports. */
typedef struct shw_verification_options {
  size_t struct_size;       /* set by SHW_VERIFICATION_OPTIONS_INIT */
  uint64_t flags;           /* 0: none is defined yet */
  size_t entry;             /* the entry that was run; its number: shw_plan_find_entry() */
  const shw_tensor* inputs; /* of the run, in the order of shw_plan_entry::inputs */
  size_t num_inputs;
  const shw_tensor* outputs; /* of the run, in the order of shw_plan_entry::outputs. `data` may be
                                NULL where a port is not present */
  size_t num_outputs;
  const shw_tensor* expected; /* results of another program for the same inputs, in the order of
                                 outputs; `data` is NULL where there is none. NULL: none at all */
  size_t num_expected;        /* 0, or as many as outputs */
  const shw_region* regions;  /* bodies of manual regions. They must also work in f64 and on whole
                                 tensors */
  size_t num_regions;
  const shw_cancel* cancel;            /* NULL: none */
  const shw_verification_state* state; /* all state of the plan, in any order */
  size_t num_state;
} shw_verification_options;
#define SHW_VERIFICATION_OPTIONS_INIT \
  { sizeof(shw_verification_options), 0, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, 0 }

typedef struct shw_verification_summary {
  size_t struct_size;        /* set by SHW_VERIFICATION_SUMMARY_INIT */
  size_t num_wrong;          /* results of the run that are not right */
  size_t num_expected_wrong; /* expected tensors that are not right */
  size_t worst;              /* the tensor of the run with the largest error relative to its limit;
                                SHW_NONE: none was judged */
  size_t worst_expected;     /* likewise of the expected tensors */
  size_t num_samples;        /* runs at inputs that differ by rounding, to measure its effect */
} shw_verification_summary;
#define SHW_VERIFICATION_SUMMARY_INIT \
  { sizeof(shw_verification_summary), 0, 0, 0, 0, 0 }

/* How one result was judged. Distances are relative to `scale`. Strings are lent by the
 * verification. */
typedef struct shw_verification_tensor {
  size_t struct_size;     /* set by SHW_VERIFICATION_TENSOR_INIT */
  const char* name;       /* of the output */
  double scale;           /* norm of the result in f64, or the noise if that is larger */
  double unsharded_error; /* distance of the unsharded run from that in f64 */
  double noise;           /* the largest such distance of all samples */
  double plan_error;      /* distance of the plan, run in f64 */
  size_t num_undecided;   /* elements that are not compared, because rounding decides them */
  double error;           /* distance of the run */
  double limit;           /* the largest `error` that rounding explains */
  double gain;            /* the part of `error` that scales the whole tensor */
  double gain_limit;
  size_t num_different; /* elements: SHW_VERDICT_DIFFERENT */
  shw_verdict verdict;
  shw_verdict expected_verdict; /* 0: no tensor was expected, and the rest is 0 */
  double expected_error;
  double expected_limit;
  double expected_gain;
  double expected_gain_limit;
  size_t num_expected_different;
} shw_verification_tensor;
#define SHW_VERIFICATION_TENSOR_INIT                                                           \
  {                                                                                            \
    sizeof(shw_verification_tensor), NULL, 0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, \
        0.0, 0.0, 0.0, 0.0, 0                                                                  \
  }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_verification_options_init(shw_verification_options* options, size_t size);

/**
 * Judges the results of one run of an entry. A wrong result is not an error of this call: see
 * num_wrong of the summary.
 * @param plan              the plan that was run; it must contain its graph
 * @param options           lent for the call
 * @param out_verification  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a tensor is missing or does not have its port's type
 * @retval SHW_OUT_OF_RANGE         there is no such entry or port
 * @retval SHW_FAILED_PRECONDITION  the plan was made with SHW_COMPILE_NO_GRAPH
 * @retval SHW_UNIMPLEMENTED        the entry runs after another one, or an operation has no form in
 *                                  f64
 * @retval SHW_CANCELLED            `cancel` was raised
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_verification_create(const shw_plan* plan,
                                            const shw_verification_options* options,
                                            shw_verification** out_verification) SHW_MUST_USE;

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_verification_summary_init(shw_verification_summary* summary, size_t size);

/**
 * How many results are wrong.
 * @param out_summary  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_verification_get_summary(
    const shw_verification* verification, shw_verification_summary* out_summary) SHW_MUST_USE;

/**
 * Number of results that were judged: the outputs that are present, then the state; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_verification_num_tensors(const shw_verification* verification);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_verification_tensor_init(shw_verification_tensor* tensor, size_t size);

/**
 * One result, in the order of the outputs, then of the state.
 * @param out_tensor  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such tensor
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_verification_get_tensor(const shw_verification* verification, size_t index,
                                                shw_verification_tensor* out_tensor) SHW_MUST_USE;

/**
 * The verification as one JSON object: `samples`, `wrong`, `expected_wrong`, `worst`,
 * `worst_expected` (names), and `tensors` with `name`, `type`, `scale`, `unsharded_error`, `noise`,
 * `plan_error`, `undecided_elements`, `sharded` and `expected` (each `verdict`, `error`, `limit`,
 * `gain`, `gain_limit`, `different_elements`).
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_verification_to_json(const shw_verification* verification,
                                             shw_blob** out_blob) SHW_MUST_USE;

/**
 * The verification for a person.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_verification_to_text(const shw_verification* verification,
                                             shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the verification. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_verification_destroy(shw_verification* verification);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_VERIFICATION_H_ */
