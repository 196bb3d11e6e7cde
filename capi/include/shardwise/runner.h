/*
 * A runner uses all ranks of a plan, in this process, as one. Whole tensors in host memory go in
 * and come out, by the names of the ports. A runner cuts inputs into the ranks' pieces, runs every
 * rank, and puts outputs together. For anything else, such as one process for each rank, sessions,
 * or pieces that stay on their ranks, use executors (runtime.h).
 *
 * shw_runner_run() does one run from start to end. To have several runs in flight, call
 * shw_runner_start(): it returns a pending run at once, which you wait for later.
 *
 * After the first runs of an entry, further runs allocate no memory for tensors: they use the
 * buffers of runs whose handles were destroyed.
 */
#ifndef SHARDWISE_RUNNER_H_
#define SHARDWISE_RUNNER_H_

#include "shardwise/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Handles --------------------------------------------------------------------------------- */

typedef struct shw_runner shw_runner;   /* a world, and an executor for each of its ranks */
typedef struct shw_pending shw_pending; /* a run that was started */

/* A port by name ("input.x"), and the whole tensor for it. Frozen. */
typedef struct shw_named_tensor {
  const char* name;
  shw_tensor tensor; /* in host memory, with the port's dims and dtype */
} shw_named_tensor;

/* ---- Runner ---------------------------------------------------------------------------------- */

/**
 * Prepares all ranks to run a plan. State is filled with zeros. Destroy the runner before the
 * process ends, as shw_executor_create() says.
 * @param world       a world whose ranks are all in this process; lent for the call. NULL: a new
 *                    world of virtual ranks
 * @param options     of every rank's executor; lent for the call. NULL: defaults
 * @param out_runner  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_FAILED_PRECONDITION  the plan is for another number of ranks, or a rank of the world
 *                                  belongs to another process
 * @retval SHW_INVALID_ARGUMENT     an option is out of range
 * @retval SHW_UNIMPLEMENTED        a step has no kernel, or a manual region has no body
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_runner_create(const shw_plan* plan, shw_world* world,
                                      const shw_executor_options* options,
                                      shw_runner** out_runner) SHW_MUST_USE;

/**
 * Writes a tensor that the executors keep (SHW_STORAGE_STATE).
 * @param name   of the port: "param.w"
 * @param whole  in host memory, with the port's dims and dtype; lent for the call
 * @retval SHW_NOT_FOUND            there is no such port; the message offers names like it
 * @retval SHW_INVALID_ARGUMENT     the port is not state, or the tensor does not have its type
 * @retval SHW_FAILED_PRECONDITION  a run has not ended
 * @thread external: one thread at a time for each runner
 * @since 0.2
 */
SHW_API shw_status* shw_runner_set_state(shw_runner* runner, const char* name,
                                         const shw_tensor* whole) SHW_MUST_USE;

/**
 * Returns a tensor that the executors keep, put together from their pieces.
 * @param name        of the port: "param.w"
 * @param out_buffer  receives a handle that the caller destroys, row-major, in the CPU's memory: a
 *                    copy; NULL on failure
 * @retval SHW_NOT_FOUND            there is no such port; the message offers names like it
 * @retval SHW_INVALID_ARGUMENT     the port is not state
 * @retval SHW_FAILED_PRECONDITION  a run has not ended
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each runner
 * @since 0.2
 */
SHW_API shw_status* shw_runner_gather_state(shw_runner* runner, const char* name,
                                            shw_buffer** out_buffer) SHW_MUST_USE;

/**
 * One run of an entry on all ranks, from start to end. After a failure the runner can be used
 * again.
 * @param entry    its name; NULL: the first. For an entry with buckets, the name of a bucket:
 *                 shw_plan_choose_bucket()
 * @param inputs   all inputs of the entry that are present, in any order; lent for the call
 * @param outputs  those that are wanted, row-major: the call writes the elements at `data`. After a
 *                 failure their values are unspecified
 * @retval SHW_NOT_FOUND            there is no such entry, input or output; the message offers
 *                                  names like it
 * @retval SHW_INVALID_ARGUMENT     an input is missing or given twice, or a tensor does not have
 *                                  its port's type
 * @retval SHW_FAILED_PRECONDITION  an output is not present, or an entry that must run before this
 *                                  one has not run
 * @retval SHW_DEADLINE_EXCEEDED    the run exceeded the time limit of the options
 * @retval SHW_CANCELLED            shw_runner_abort() stopped the run
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each runner
 * @since 0.2
 */
SHW_API shw_status* shw_runner_run(shw_runner* runner, const char* entry,
                                   const shw_named_tensor* inputs, size_t num_inputs,
                                   const shw_named_tensor* outputs,
                                   size_t num_outputs) SHW_MUST_USE;

/**
 * Starts a run of an entry on all ranks. Returns without waiting for its end. If max_in_flight runs
 * are unfinished, it first waits for one of them. Runs take place in the order in which they are
 * started. If a run fails, the runs started after it fail too. The next start then waits for all of
 * them, and the runner can be used again.
 * @param entry        its name; NULL: the first
 * @param inputs       all inputs of the entry that are present, in any order; copied
 * @param out_pending  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_NOT_FOUND            there is no such entry or input; the message offers names like
 *                                  it
 * @retval SHW_INVALID_ARGUMENT     an input is missing or given twice, or does not have its port's
 *                                  type
 * @retval SHW_FAILED_PRECONDITION  an entry that must run before this one has not run
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each runner
 * @since 0.2
 */
SHW_API shw_status* shw_runner_start(shw_runner* runner, const char* entry,
                                     const shw_named_tensor* inputs, size_t num_inputs,
                                     shw_pending** out_pending) SHW_MUST_USE;

/**
 * Stops all runs: they end with SHW_CANCELLED, and the runner can be used again. NULL is allowed.
 * @thread any, also while another thread is inside shw_runner_run()
 * @since 0.2
 */
SHW_API void shw_runner_abort(shw_runner* runner);

/**
 * Stops unfinished runs, waits for their end, and frees the ranks. Pending runs keep their outputs.
 * NULL is allowed.
 * @thread external: no other call on this runner may run
 * @since 0.2
 */
SHW_API void shw_runner_destroy(shw_runner* runner);

/* ---- Pending runs ---------------------------------------------------------------------------- */

/**
 * Waits until the run has ended on all ranks, and returns its result. If several ranks failed,
 * this is the error that names the cause.
 * @param timeout_ns  negative: no limit
 * @retval SHW_DEADLINE_EXCEEDED  it has not ended yet (shw_pending_query() tells), or it ended
 *                                because of its time limit
 * @retval SHW_CANCELLED          shw_runner_abort() stopped the run
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_pending_wait(const shw_pending* pending, int64_t timeout_ns) SHW_MUST_USE;

/**
 * 1 if the run has ended, with success or not, and for NULL; otherwise 0. Does not wait.
 * @thread any
 * @since 0.2
 */
SHW_API int32_t shw_pending_query(const shw_pending* pending);

/**
 * Registers a callback for the end of the run on all ranks; if it has ended, `done` is called at
 * once. `done` gets the code of what shw_pending_wait() returns. It is called even if the handle is
 * destroyed earlier.
 * @param user  handed to `done`
 * @retval SHW_INVALID_ARGUMENT    `pending` or `done` is NULL
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory; `done` is not called
 * @thread any; `done` is called once, as shw_done_fn says
 * @since 0.2
 */
SHW_API shw_status* shw_pending_notify(const shw_pending* pending, shw_done_fn done,
                                       void* user) SHW_MUST_USE;

/**
 * Waits for the run, and returns an output, put together from the ranks' pieces.
 * @param output      name of the port: "output.y"
 * @param out_buffer  receives a handle that the caller destroys, row-major, in the CPU's memory;
 *                    NULL on failure
 * @retval SHW_NOT_FOUND            the entry has no such output; the message offers names like it
 * @retval SHW_FAILED_PRECONDITION  the output is not present
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any; returns the errors of shw_pending_wait(), too
 * @since 0.2
 */
SHW_API shw_status* shw_pending_gather(const shw_pending* pending, const char* output,
                                       shw_buffer** out_buffer) SHW_MUST_USE;

/**
 * Frees the handle, not the run. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_pending_destroy(shw_pending* pending);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_RUNNER_H_ */
