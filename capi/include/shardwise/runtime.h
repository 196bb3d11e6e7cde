/*
 * Runs plans. The path: a world of ranks, an executor for each rank of this process, input buffers
 * (shw_plan_shard_input cuts them out of whole tensors), shw_executor_enqueue on every rank,
 * shw_event_wait.
 *
 * Enqueueing returns at once. What goes wrong while a run is under way is told by its event and by
 * every later enqueue on that executor, until shw_executor_reset().
 */
#ifndef SHARDWISE_RUNTIME_H_
#define SHARDWISE_RUNTIME_H_

#include "shardwise/shardwise.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Handles --------------------------------------------------------------------------------- */

typedef struct shw_buffer shw_buffer;     /* a tensor, or one rank's piece of one, in its memory */
typedef struct shw_world shw_world;       /* the ranks that communicate with each other */
typedef struct shw_executor shw_executor; /* one rank's kernels, memory and streams for a plan */
typedef struct shw_event shw_event;       /* the end of a run: done well, failed, or cancelled */

/* ---- Enumerations ---------------------------------------------------------------------------- */

typedef int32_t shw_device_kind;
enum { SHW_DEVICE_CPU = 1 };

typedef int32_t shw_borrow;
enum {
  SHW_BORROW_COPY = 1,         /* the memory is copied before the call returns */
  SHW_BORROW_UNTIL_RELEASE = 2 /* it is used in place, until `release` is called */
};

/* ---- Frozen structs -------------------------------------------------------------------------- */

/* A tensor in somebody's memory. */
typedef struct shw_tensor {
  void* data;             /* element 0 */
  const int64_t* dims;    /* `rank` sizes */
  const int64_t* strides; /* `rank` distances in elements; NULL: row-major */
  int32_t rank;           /* at most 8; 0: a scalar */
  shw_dtype dtype;
  shw_device_kind device_kind; /* 0: SHW_DEVICE_CPU */
  int32_t device_index;        /* 0 on the CPU */
} shw_tensor;

/* Names a world while it is made. The bytes mean nothing. Frozen. */
typedef struct shw_world_id {
  uint8_t bytes[128];
} shw_world_id;

/* ---- Callbacks ------------------------------------------------------------------------------- */

/* Called once, from any thread, when the library no longer uses the memory. Must not call the
 * library. */
typedef void (*shw_release_fn)(void* user, void* data);

/* Called once when a run has ended: SHW_OK, or the code of its error. From a thread of the library,
 * which must not be kept long, or from within the call that registers it. Must not call the
 * library: wake a thread of your own instead. */
typedef void (*shw_done_fn)(void* user, shw_code code);

/* One execution of a manual region (op local_map) on one rank: what shw_region_fn is told. All that
 * it points to is lent for the call. */
typedef struct shw_region_call {
  size_t struct_size;       /* bytes that this library filled in */
  const char* region;       /* the region's name */
  const shw_tensor* inputs; /* this rank's pieces of the operands, as `in_placements` says; may be
                             * strided; `data` is NULL where an operand is absent. Read only */
  size_t num_inputs;
  const shw_tensor* outputs; /* to be filled: this rank's pieces of the results, row-major; `data`
                              * is NULL where there is none or nobody wants it */
  size_t num_outputs;
  const int64_t* coordinates; /* of the rank along the mesh axes */
  const int64_t* mesh;        /* sizes of the mesh axes */
  int32_t num_axes;
  int32_t rank;
} shw_region_call;

/* The body of a manual region, called whenever a run comes to it, on the thread of the rank's
 * compute stream: calls for different ranks overlap. Equal inputs must give equal outputs; equal
 * regions may be run once. It may exchange data with other ranks by means of its own, which an
 * abort does not interrupt; it must not call the library.
 * Returns SHW_OK, or a code with which the run fails. */
typedef shw_code (*shw_region_fn)(void* user, const shw_region_call* call);

/* The body for all regions of one name. Frozen. */
typedef struct shw_region {
  const char* name; /* attribute `region` of the nodes */
  shw_region_fn run;
  void* user; /* must stay valid until the executor is destroyed */
} shw_region;

/* ---- Extensible structs ---------------------------------------------------------------------- */

/* Options of shw_executor_create(). */
typedef struct shw_executor_options {
  size_t struct_size;        /* set by SHW_EXECUTOR_OPTIONS_INIT */
  uint64_t flags;            /* 0: none is defined yet */
  int32_t max_in_flight;     /* runs; enqueue blocks while that many are unfinished; 0: 4 */
  int32_t reserved;          /* 0 */
  const shw_region* regions; /* bodies of manual regions, distinct names; lent for the call */
  size_t num_regions;
  int64_t time_limit_ns; /* of a run, from the end of the one before it: then it and all that follow
                          * it end with SHW_DEADLINE_EXCEEDED, on this rank, and the other ranks are
                          * stopped; 0: none */
} shw_executor_options;
#define SHW_EXECUTOR_OPTIONS_INIT \
  { sizeof(shw_executor_options), 0, 0, 0, NULL, 0, 0 }

/* Options of shw_world_create_from_id() and shw_world_create_mpi(). */
typedef struct shw_world_options {
  size_t struct_size; /* set by SHW_WORLD_OPTIONS_INIT */
  uint64_t flags;     /* 0: none is defined yet */
  int64_t timeout_ns; /* of each wait for another rank; 0: 10 minutes; negative: no limit */
  const char*
      mpi_plugin; /* MPI only: path of libshardwise_mpi.so; NULL: beside this library, in ../lib
                   * from there, or where the system looks for libraries; lent for the call */
} shw_world_options;
#define SHW_WORLD_OPTIONS_INIT \
  { sizeof(shw_world_options), 0, 0, NULL }

/* ---- Buffer ---------------------------------------------------------------------------------- */

/**
 * A new buffer, row-major, filled with zeros.
 * @param dims        `rank` sizes; lent for the call; may be NULL if rank is 0
 * @param out_buffer  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the dtype is unknown, or the sizes make no sense
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_buffer_create(shw_context* context, shw_dtype dtype, const int64_t* dims,
                                      int32_t rank, shw_buffer** out_buffer) SHW_MUST_USE;

/**
 * Makes a buffer of the caller's memory, by copying it (to row-major) or in place, as `borrow`
 * says.
 * @param tensor        lent for the call; what it points to is, too, unless borrowed in place
 * @param release       called when memory borrowed in place is free again, not if this call fails;
 *                      NULL: the caller knows; must be NULL for SHW_BORROW_COPY
 * @param release_user  handed to `release`
 * @param out_buffer    receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the tensor makes no sense
 * @retval SHW_UNIMPLEMENTED       its memory is not the CPU's
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_buffer_import(shw_context* context, const shw_tensor* tensor,
                                      shw_borrow borrow, shw_release_fn release, void* release_user,
                                      shw_buffer** out_buffer) SHW_MUST_USE;

/**
 * Where the buffer lies, and what it is.
 * @param out_tensor  all that it points to is lent by `buffer`; zeros on failure
 * @retval SHW_INVALID_ARGUMENT  an argument is NULL
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_buffer_get_tensor(const shw_buffer* buffer,
                                          shw_tensor* out_tensor) SHW_MUST_USE;

/**
 * Copies the buffer to the host, row-major. Waits for no run: wait for the event of the run that
 * writes the buffer first.
 * @param size  bytes at `data`: exactly those of the tensor
 * @retval SHW_INVALID_ARGUMENT  the size is another one
 * @thread any, while no run writes the buffer
 * @since 0.1
 */
SHW_API shw_status* shw_buffer_read(const shw_buffer* buffer, void* data, size_t size) SHW_MUST_USE;

/**
 * Copies row-major data from the host to the buffer. Waits for no run.
 * @param size  bytes at `data`: exactly those of the tensor
 * @retval SHW_INVALID_ARGUMENT  the size is another one
 * @thread external: one thread at a time for each buffer, while no run uses it
 * @since 0.1
 */
SHW_API shw_status* shw_buffer_write(shw_buffer* buffer, const void* data,
                                     size_t size) SHW_MUST_USE;

/**
 * Drops the caller's reference; runs keep their buffers until they end. NULL is allowed.
 * @thread any
 * @since 0.1
 */
SHW_API void shw_buffer_destroy(shw_buffer* buffer);

/* ---- World -----------------------------------------------------------------------------------
 *
 * A world is the ranks that communicate with each other. Some of them, the local ranks, belong to
 * the holder of the handle, who makes their executors; in a world of one handle all are local.
 *
 * Every wait for another rank has a time-out. A run that waits longer fails with
 * SHW_DEADLINE_EXCEEDED on the rank that waited and with SHW_ABORTED on the others; the message
 * says which rank did not come, and which collectives the ranks dispatched last. */

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_world_options_init(shw_world_options* options, size_t size);

/**
 * A world whose ranks are all in this process, on the CPU: threads that exchange data through
 * memory. Results do not depend on the number of cores. The time-out is 10 minutes.
 * @param num_ranks  at least 1
 * @param out_world  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT  num_ranks makes no sense
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_world_create_virtual(shw_context* context, int32_t num_ranks,
                                             shw_world** out_world) SHW_MUST_USE;

/**
 * A new id, for shw_world_create_from_id().
 * @param out_id  written in any case; zeros on failure
 * @retval SHW_INVALID_ARGUMENT  an argument is NULL
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_world_make_id(shw_context* context, shw_world_id* out_id) SHW_MUST_USE;

/**
 * One part of a virtual world: that of a caller who brings some of its ranks. The callers, such as
 * threads that share no handle, agree on an id, and each makes the world with ranks of its own. No
 * caller waits for another one here; a rank that never comes shows as a time-out of the first run.
 * @param id           of shw_world_make_id() in the same context; lent for the call
 * @param num_ranks    of the whole world, the same in every part
 * @param local_ranks  this caller's, distinct, and no other part's; lent for the call
 * @param options      lent for the call; NULL: defaults. Those of the first part count
 * @param out_world    receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     the ranks or options make no sense
 * @retval SHW_OUT_OF_RANGE         there is no such rank
 * @retval SHW_ALREADY_EXISTS       another part has one of the ranks
 * @retval SHW_FAILED_PRECONDITION  the id is of another context or process, or another part says
 *                                  another num_ranks
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_world_create_from_id(shw_context* context, const shw_world_id* id,
                                             int32_t num_ranks, const int32_t* local_ranks,
                                             size_t num_local_ranks,
                                             const shw_world_options* options,
                                             shw_world** out_world) SHW_MUST_USE;

/**
 * A world of the processes of MPI_COMM_WORLD, one rank each, on the CPU. Collectives give the same
 * bits as in a virtual world. Every process makes it, and its communicator is private to it.
 *
 * MPI is initialised unless the process has done so, with MPI_THREAD_MULTIPLE, which is needed. If
 * the library initialised it, destroying the world finalises it, provided that all ranks do so
 * within the time-out and the world was not aborted. MPI can be initialised once in a process: a
 * process that makes several such worlds one after another initialises MPI itself.
 * @param options    lent for the call; NULL: defaults
 * @param out_world  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_UNAVAILABLE        there is no MPI here, or it does not start
 * @retval SHW_DEADLINE_EXCEEDED  not every process of the job has made its world in time
 * @retval SHW_INVALID_ARGUMENT   the options make no sense
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_world_create_mpi(shw_context* context, const shw_world_options* options,
                                         shw_world** out_world) SHW_MUST_USE;

/**
 * Number of ranks, in this process or not; 0 for NULL.
 * @thread any
 * @since 0.1
 */
SHW_API int32_t shw_world_num_ranks(const shw_world* world);

/**
 * Number of local ranks; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API int32_t shw_world_num_local_ranks(const shw_world* world);

/**
 * Local rank number `index`, ascending; -1 if there is none.
 * @thread any
 * @since 0.2
 */
SHW_API int32_t shw_world_local_rank(const shw_world* world, int32_t index);

/**
 * Whether the world still works: NULL, or why all its runs fail. Waits for nothing.
 * @retval SHW_CANCELLED         shw_world_abort() was called
 * @retval SHW_ABORTED           another process aborted the world
 * @retval SHW_INVALID_ARGUMENT  the world is NULL
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_world_status(const shw_world* world) SHW_MUST_USE;

/**
 * Stops what runs and what is queued on all ranks of the world, in all processes, for good, and
 * returns at once. Executors of this world can then only be destroyed. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_world_abort(shw_world* world);

/**
 * Drops the caller's reference; executors keep their world. A world of several processes waits here
 * for the others, up to the time-out, unless it was aborted. NULL is allowed.
 * @thread any
 * @since 0.1
 */
SHW_API void shw_world_destroy(shw_world* world);

/* ---- Executor -------------------------------------------------------------------------------- */

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.1
 */
SHW_API void shw_executor_options_init(shw_executor_options* options, size_t size);

/**
 * Makes one rank ready to run a plan: finds kernels, allocates memory, joins the rank to the
 * others.
 *
 * The n-th executor that a rank makes in a world communicates with the n-th that the other ranks
 * make. They must be of the same program: checksums of the plans, their hashes and the versions of
 * the libraries are compared. No local rank waits for another one here, so one thread may make the
 * executors of all local ranks in a loop. In a world of several processes a process waits, up to
 * the time-out, until the others make theirs.
 * @param world         of as many ranks as the plan
 * @param options       lent for the call; NULL: defaults
 * @param out_executor  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_FAILED_PRECONDITION  the plan is for another number of ranks, or another rank makes
 *                                  an executor of another program in this place
 * @retval SHW_OUT_OF_RANGE         there is no such local rank
 * @retval SHW_DEADLINE_EXCEEDED    another process did not make its executor in time
 * @retval SHW_ABORTED              the world was aborted by another process
 * @retval SHW_CANCELLED            the world was aborted by this process
 * @retval SHW_INVALID_ARGUMENT     the options make no sense
 * @retval SHW_UNIMPLEMENTED        a step of the plan has no kernel, or a manual region no body
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any; for each rank of a world, one thread at a time
 * @since 0.1
 */
SHW_API shw_status* shw_executor_create(const shw_plan* plan, shw_world* world, int32_t rank,
                                        const shw_executor_options* options,
                                        shw_executor** out_executor) SHW_MUST_USE;

/**
 * Puts one run of an entry on the executor's streams and returns at once, unless too many runs are
 * unfinished. Every rank must enqueue the same entries in the same order.
 * @param entry        its number, from shw_plan_find_entry()
 * @param inputs       this rank's pieces, in the plan's order; lent for the call, the library keeps
 *                     its own references until the run has ended. NULL for an input that is not
 *                     present. On every rank a piece has the shape of rank 0's: where a dim is not
 *                     divided evenly, what the last ranks lack is padding at its end, and may hold
 *                     anything, in outputs too
 * @param outputs      receives num_outputs new buffers that the caller destroys, filled when the
 * run has ended; NULL for an output that is not present, all NULL on failure
 * @param wait_for     events of other executors that must be done before the run begins; if one of
 *                     them failed, the run fails
 * @param out_done     receives an event that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT  a buffer is missing or is not what the port asks for
 * @retval SHW_OUT_OF_RANGE      there is no such entry
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread external: one thread at a time for each executor
 * @since 0.1
 */
SHW_API shw_status* shw_executor_enqueue(shw_executor* executor, size_t entry,
                                         const shw_buffer* const* inputs, size_t num_inputs,
                                         shw_buffer** outputs, size_t num_outputs,
                                         const shw_event* const* wait_for, size_t num_wait_for,
                                         shw_event** out_done) SHW_MUST_USE;

/**
 * Like shw_executor_enqueue(), into buffers that the caller has: the way to run step after step
 * without allocating. They must not overlap the inputs.
 * @param outputs   lent for the call, the library keeps its own references until the run has ended
 * @param out_done  receives an event that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT  a buffer is missing or is not what the port asks for
 * @retval SHW_OUT_OF_RANGE      there is no such entry
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread external: one thread at a time for each executor
 * @since 0.1
 */
SHW_API shw_status* shw_executor_enqueue_into(shw_executor* executor, size_t entry,
                                              const shw_buffer* const* inputs, size_t num_inputs,
                                              const shw_buffer* const* outputs, size_t num_outputs,
                                              const shw_event* const* wait_for, size_t num_wait_for,
                                              shw_event** out_done) SHW_MUST_USE;

/**
 * Stops what runs and what is queued, on this rank and on those that communicate with it: events
 * become ready with SHW_CANCELLED or SHW_ABORTED. The way out of a collective whose peer is gone.
 * NULL is allowed.
 * @thread any, also while another thread is inside shw_executor_enqueue()
 * @since 0.1
 */
SHW_API void shw_executor_abort(shw_executor* executor);

/**
 * Waits until everything has ended, then forgets the error. After a failure or an abort every rank
 * must do it, and equally often, before any of them runs again. NULL is allowed.
 * @thread external: one thread at a time for each executor
 * @since 0.1
 */
SHW_API void shw_executor_reset(shw_executor* executor);

/**
 * Stops what is unfinished, waits for it to end, and frees the executor. NULL is allowed.
 * @thread external: no other call on this executor may run
 * @since 0.1
 */
SHW_API void shw_executor_destroy(shw_executor* executor);

/* ---- Event ----------------------------------------------------------------------------------- */

/**
 * Waits until the run behind the event has ended, and says how.
 * @param timeout_ns  negative: no limit; 0: only looks
 * @retval SHW_DEADLINE_EXCEEDED  it has not ended yet
 * @retval SHW_CANCELLED          the run was stopped by shw_executor_abort()
 * @retval SHW_ABORTED            a rank that the run communicates with failed or was stopped
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_event_wait(const shw_event* event, int64_t timeout_ns) SHW_MUST_USE;

/**
 * Whether the run behind the event has ended, well or not: 1 or 0, and 1 for NULL. Waits for
 * nothing and allocates nothing.
 * @thread any
 * @since 0.2
 */
SHW_API int32_t shw_event_query(const shw_event* event);

/**
 * Has `done` called once when the run behind the event has ended, at once if it has. The event may
 * be destroyed before that; the call comes all the same.
 * @param user  handed to `done`
 * @retval SHW_INVALID_ARGUMENT    `event` or `done` is NULL
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory; `done` is not called
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_event_notify(const shw_event* event, shw_done_fn done,
                                     void* user) SHW_MUST_USE;

/**
 * Frees the event, not the run behind it. NULL is allowed.
 * @thread any
 * @since 0.1
 */
SHW_API void shw_event_destroy(shw_event* event);

/* ---- Whole tensors --------------------------------------------------------------------------- */

/**
 * Cuts one rank's piece of an input out of the whole tensor.
 * @param whole       in host memory, with the port's dims and dtype; lent for the call
 * @param out_buffer  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the tensor is not what the port asks for
 * @retval SHW_OUT_OF_RANGE        there is no such entry, input or rank
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.1
 */
SHW_API shw_status* shw_plan_shard_input(const shw_plan* plan, size_t entry, size_t input,
                                         int32_t rank, const shw_tensor* whole,
                                         shw_buffer** out_buffer) SHW_MUST_USE;

/**
 * Puts the whole tensor of an output together. Waits for no run.
 * @param pieces      one buffer a rank, in the order of ranks; lent for the call
 * @param num_pieces  number of ranks
 * @param out_buffer  receives a handle that the caller destroys, row-major; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a piece is missing or is not what the port asks for
 * @retval SHW_FAILED_PRECONDITION  the output is absent
 * @retval SHW_OUT_OF_RANGE         there is no such entry or output
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any, while no run writes the pieces
 * @since 0.1
 */
SHW_API shw_status* shw_plan_gather_output(const shw_plan* plan, size_t entry, size_t output,
                                           const shw_buffer* const* pieces, size_t num_pieces,
                                           shw_buffer** out_buffer) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_RUNTIME_H_ */
