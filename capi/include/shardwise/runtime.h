/*
 * Running plans. Create a world of ranks, an executor for each local rank, and input buffers
 * (shw_plan_shard() cuts one rank's piece out of a whole tensor). Then call shw_executor_enqueue()
 * on every rank, and after that shw_event_wait(): ranks wait for each other, so enqueue on all
 * local ranks before you wait for any of them.
 *
 * State (SHW_STORAGE_STATE) is no input of a run: each executor holds its rank's pieces. To fill
 * it, get the buffer of each executor (shw_executor_get_state()) and write the piece into it
 * (shw_plan_shard_into()). To read it, give the buffers of all executors to shw_plan_gather().
 *
 * Enqueueing returns at once. An error during a run is reported by its event and by every later
 * enqueue on that executor, until shw_executor_reset().
 */
#ifndef SHARDWISE_RUNTIME_H_
#define SHARDWISE_RUNTIME_H_

#include "shardwise/compile.h"
#include "shardwise/device.h"
#include "shardwise/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Handles --------------------------------------------------------------------------------- */

typedef struct shw_executor shw_executor; /* one rank's kernels, memory and streams for a plan */
typedef struct shw_session shw_session;   /* values that entries leave for later entries */
typedef struct shw_event shw_event;       /* the end of a run: success, error, or cancelled */
typedef struct shw_group shw_group;       /* ranks that the body of a manual region talks to */

/* ---- Callbacks ------------------------------------------------------------------------------- */

/* Called once when a run has ended: SHW_OK, or the code of its error. Called from a thread of the
 * library, which must not be blocked, or from within the call that registers it. Must not call the
 * library: wake a thread of your own instead. */
typedef void (*shw_done_fn)(void* user, shw_code code);

/* One execution of a manual region (op local_map) on one rank. All that it points to is lent for
 * the call. */
typedef struct shw_region_call {
  size_t struct_size;       /* bytes that this library filled in */
  const char* region;       /* the region's name */
  const shw_tensor* inputs; /* this rank's pieces of the operands, as `in_placements` says; may be
                               strided; `data` is NULL where an operand is absent. Read only */
  size_t num_inputs;
  const shw_tensor* outputs; /* to be filled: this rank's pieces of the results, row-major; `data`
                                is NULL where a result is absent or not needed */
  size_t num_outputs;
  const int64_t* coordinates; /* of the rank along the mesh axes */
  const int64_t* mesh;        /* sizes of the mesh axes */
  int32_t num_axes;
  int32_t rank;
  shw_group* const* groups; /* attribute `groups` of the node, in its order */
  size_t num_groups;
} shw_region_call;

/* The body of a manual region. It runs at its place in the rank's compute stream, on the stream's
 * thread, so calls for different ranks overlap. Equal inputs must give equal outputs, because equal
 * regions may be merged. The body exchanges data with other ranks through its groups. It may call
 * no functions of the library but shw_group_…. An abort cannot interrupt anything else that it
 * does. Returns SHW_OK, or the code with which the run fails. */
typedef shw_code (*shw_region_fn)(void* user, const shw_region_call* call);

/* The body of all regions of one name. Frozen. */
typedef struct shw_region {
  const char* name; /* attribute `region` of the nodes */
  shw_region_fn run;
  void* user; /* must stay valid until the executor is destroyed */
} shw_region;

/* ---- Groups of a manual region ---------------------------------------------------------------
 *
 * A body calls these collectives; each returns when it is done. Buffers are dense and in host
 * memory. Counts are in elements. Blocks of several members lie in the order of the members'
 * numbers. The buffers of a call must not overlap, but those of shw_group_all_reduce() may be the
 * same.
 *
 * All members of a group call the same collectives with the same counts, types and reductions in
 * the same order. A call that fails ends the run on every rank with its status, and the body
 * returns the code. An abort, a time-out and the death of a rank end it in the same way. A group is
 * lent for the call of the body. */

/**
 * Number of members; 0 for NULL.
 * @thread any, while the body runs
 * @since 0.2
 */
SHW_API int32_t shw_group_size(const shw_group* group);

/**
 * This rank's number among the members; 0 for NULL. Members are numbered along the mesh axes of the
 * group, the last axis fastest.
 * @thread any, while the body runs
 * @since 0.2
 */
SHW_API int32_t shw_group_member(const shw_group* group);

/**
 * All members receive what each sends.
 * @param send     `count` elements
 * @param receive  `count` elements of each member
 * @retval SHW_INVALID_ARGUMENT     a buffer is missing, a count is negative, or the type is unknown
 * @retval SHW_FAILED_PRECONDITION  another member called something else
 * @retval SHW_ABORTED              another rank failed, was aborted, or is gone
 * @retval SHW_DEADLINE_EXCEEDED    another member did not come in time
 * @thread external: one thread at a time for each group, while the body runs
 * @since 0.2
 */
SHW_API shw_status* shw_group_all_gather(shw_group* group, const void* send, void* receive,
                                         int64_t count, shw_dtype dtype) SHW_MUST_USE;

/**
 * Each member sends a block to each, and receives one from each.
 * @param send     `count` elements for each member
 * @param receive  `count` elements of each member
 * @retval SHW_INVALID_ARGUMENT     a buffer is missing, a count is negative, or the type is unknown
 * @retval SHW_FAILED_PRECONDITION  another member called something else
 * @retval SHW_ABORTED              another rank failed, was aborted, or is gone
 * @retval SHW_DEADLINE_EXCEEDED    another member did not come in time
 * @thread external: one thread at a time for each group, while the body runs
 * @since 0.2
 */
SHW_API shw_status* shw_group_all_to_all(shw_group* group, const void* send, void* receive,
                                         int64_t count, shw_dtype dtype) SHW_MUST_USE;

/**
 * All-to-all with blocks of different sizes, which may be 0. Each member must know how much it
 * receives, for instance from a shw_group_all_to_all() of the counts.
 * @param send            blocks of send_counts[m] elements for member m, one after another
 * @param send_counts     as many as members
 * @param receive         blocks of receive_counts[m] elements from member m, one after another
 * @param receive_counts  as many as members; for this member itself the number in send_counts
 * @retval SHW_INVALID_ARGUMENT     a buffer is missing, a count is negative, or the type is unknown
 * @retval SHW_FAILED_PRECONDITION  another member called something else, or two members disagree
 *                                  on how much one sends to the other
 * @retval SHW_ABORTED              another rank failed, was aborted, or is gone
 * @retval SHW_DEADLINE_EXCEEDED    another member did not come in time
 * @thread external: one thread at a time for each group, while the body runs
 * @since 0.2
 */
SHW_API shw_status* shw_group_all_to_all_v(shw_group* group, const void* send,
                                           const int64_t* send_counts, void* receive,
                                           const int64_t* receive_counts,
                                           shw_dtype dtype) SHW_MUST_USE;

/**
 * Each member receives its block, reduced over what all members send for it.
 * @param send       `count` elements for each member
 * @param receive    `count` elements
 * @param reduction  "sum", "avg", "max", "min", "product"; NULL: "sum"
 * @retval SHW_INVALID_ARGUMENT     a buffer is missing, a count is negative, or the type or the
 *                                  reduction is unknown, or they do not go together
 * @retval SHW_FAILED_PRECONDITION  another member called something else
 * @retval SHW_ABORTED              another rank failed, was aborted, or is gone
 * @retval SHW_DEADLINE_EXCEEDED    another member did not come in time
 * @thread external: one thread at a time for each group, while the body runs
 * @since 0.2
 */
SHW_API shw_status* shw_group_reduce_scatter(shw_group* group, const void* send, void* receive,
                                             int64_t count, shw_dtype dtype,
                                             const char* reduction) SHW_MUST_USE;

/**
 * All members receive the reduction of what each sends: the same bits on every member.
 * @param send       `count` elements
 * @param receive    `count` elements; may be `send`
 * @param reduction  "sum", "avg", "max", "min", "product"; NULL: "sum"
 * @retval SHW_INVALID_ARGUMENT     a buffer is missing, a count is negative, or the type or the
 *                                  reduction is unknown, or they do not go together
 * @retval SHW_FAILED_PRECONDITION  another member called something else
 * @retval SHW_ABORTED              another rank failed, was aborted, or is gone
 * @retval SHW_DEADLINE_EXCEEDED    another member did not come in time
 * @thread external: one thread at a time for each group, while the body runs
 * @since 0.2
 */
SHW_API shw_status* shw_group_all_reduce(shw_group* group, const void* send, void* receive,
                                         int64_t count, shw_dtype dtype,
                                         const char* reduction) SHW_MUST_USE;

/* ---- Whole tensors and pieces ---------------------------------------------------------------- */

/**
 * Cuts one rank's piece of a port out of the whole tensor.
 * @param port        its number: shw_plan_find_port(), or shw_plan_entry::inputs
 * @param whole       in host memory, with the port's dims and dtype; lent for the call
 * @param device      for the memory of the piece; NULL: the CPU's
 * @param out_buffer  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     the tensor does not have the port's type
 * @retval SHW_OUT_OF_RANGE         there is no such port or rank
 * @retval SHW_FAILED_PRECONDITION  the port is not present
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_shard(const shw_plan* plan, size_t port, int32_t rank,
                                   const shw_tensor* whole, shw_device* device,
                                   shw_buffer** out_buffer) SHW_MUST_USE;

/**
 * Writes one rank's piece of a port into an existing buffer, such as one of
 * shw_executor_get_state(). Does not wait for runs.
 * @param port    its number: shw_plan_find_port(), or shw_plan_entry::inputs
 * @param whole   in host memory, with the port's dims and dtype; lent for the call
 * @param buffer  a piece of the port
 * @retval SHW_INVALID_ARGUMENT     the tensor or the buffer does not have the port's type
 * @retval SHW_OUT_OF_RANGE         there is no such port or rank
 * @retval SHW_FAILED_PRECONDITION  the port is not present, or a run that writes the buffer has not
 *                                  ended
 * @thread external: one thread at a time for each buffer, while no run uses it
 * @since 0.2
 */
SHW_API shw_status* shw_plan_shard_into(const shw_plan* plan, size_t port, int32_t rank,
                                        const shw_tensor* whole, shw_buffer* buffer) SHW_MUST_USE;

/**
 * Puts the whole tensor of a port together: outputs of runs, or state. Does not wait for runs.
 * @param port        its number: shw_plan_find_port(), or shw_plan_entry::outputs
 * @param pieces      one buffer for each rank, in the order of ranks; lent for the call
 * @param num_pieces  number of ranks
 * @param out_buffer  receives a handle that the caller destroys, row-major, in the CPU's memory;
 *                    NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a piece is missing, does not have the port's type, or is known
 *                                  to be another rank's
 * @retval SHW_FAILED_PRECONDITION  the port is not present, or a run that writes a piece has not
 *                                  ended: wait for its event
 * @retval SHW_OUT_OF_RANGE         there is no such port
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any, while no run writes the pieces
 * @since 0.2
 */
SHW_API shw_status* shw_plan_gather(const shw_plan* plan, size_t port, shw_buffer* const* pieces,
                                    size_t num_pieces, shw_buffer** out_buffer) SHW_MUST_USE;

/* ---- Executor -------------------------------------------------------------------------------- */

/* Launches an entry as CUDA graphs. The whole entry is one graph. If a part of the entry cannot be
 * captured, each sequence of launches between events is a graph. Every run in flight has graphs of
 * its own. They are captured again when inputs, outputs or the session lie at other addresses than
 * before. Results equal those without graphs. Their bits are equal too if results have the same
 * bits in each run (SHW_CONTEXT_DETERMINISTIC). */
#define SHW_EXECUTOR_GRAPHS ((uint64_t)1)

/* Options of shw_executor_create(). */
typedef struct shw_executor_options {
  size_t struct_size;        /* set by SHW_EXECUTOR_OPTIONS_INIT */
  uint64_t flags;            /* SHW_EXECUTOR_GRAPHS */
  shw_device* device;        /* to run on; NULL: the CPU, with memory of the world's context. Runs
                                on SHW_DEVICE_NULL do not wait for other ranks */
  void* native_stream;       /* to compute on, such as a cudaStream_t; NULL: a stream of its own */
  const shw_region* regions; /* bodies of manual regions, distinct names; lent for the call */
  size_t num_regions;
  int64_t time_limit_ns; /* of a run, from the end of the run before it. If it passes, this run and
                            all that follow end with SHW_DEADLINE_EXCEEDED on this rank, and the
                            other ranks are aborted. 0: none */
  int32_t max_in_flight; /* runs; enqueue blocks while so many are unfinished; 0: 4 */
  int32_t reserved;      /* 0 */
} shw_executor_options;
#define SHW_EXECUTOR_OPTIONS_INIT \
  { sizeof(shw_executor_options), 0, NULL, NULL, NULL, 0, 0, 0, 0 }

/* One run of an entry on one rank. All arrays are lent for the call; the struct can be used again.
 */
typedef struct shw_run {
  size_t struct_size; /* set by SHW_RUN_INIT */
  uint64_t flags;     /* 0: none is defined yet */
  size_t entry;       /* its number: shw_plan_find_entry() */

  /* This rank's pieces, in the order of shw_plan_entry::inputs; NULL where a port is not present.
   * A piece has the same shape on every rank. If a dim is not divided evenly, the end of the last
   * ranks' pieces is padding. Padding may have any values, also in outputs. */
  shw_buffer* const* inputs;
  size_t num_inputs;

  /* In the order of shw_plan_entry::outputs. Set each element before the call:
   *   a buffer   receives the output. Nothing is allocated: use this to run step after step
   *   NULL       becomes a new handle, which the caller destroys
   *   NULL, and the port is not present   stays NULL
   * A buffer must be aligned to its elements. If the plan was made with SHW_COMPILE_LEND_OUTPUTS,
   * the buffer of an output must be aligned to 256 bytes.
   * For an output that overwrites an input (shw_plan_port::updates), give that input's buffer, or
   * NULL, which becomes another handle of the same memory. No other output may overlap an input. If
   * the call fails, all elements stay as they were. */
  shw_buffer** outputs;
  size_t num_outputs;

  /* Runs of other executors that must end before this one begins. If one failed, this run fails. */
  shw_event* const* wait_for;
  size_t num_wait_for;

  shw_session* session; /* of this executor; NULL: the executor's own */
} shw_run;
#define SHW_RUN_INIT \
  { sizeof(shw_run), 0, 0, NULL, 0, NULL, 0, NULL, 0, NULL }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_executor_options_init(shw_executor_options* options, size_t size);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_run_init(shw_run* run, size_t size);

/**
 * Prepares one rank to run a plan: finds kernels, allocates memory, connects the rank to the
 * others. State is filled with zeros.
 *
 * Destroy executors before the process ends by exit() or by returning from main(). Their ranks are
 * threads, which may be in the middle of a run while exit() takes down the libraries that they use.
 * To leave at once after an error, call _Exit().
 *
 * The n-th executor that a rank creates in a world communicates with the n-th executor of each
 * other rank. They must run the same program: the checksums and hashes of the plans and the
 * versions of the libraries are compared. No local rank waits for another local rank here, so one
 * thread may create the executors of all local ranks in a loop. In a world of several processes,
 * the call waits until the other processes create theirs, up to the time-out.
 * @param world         with as many ranks as the plan
 * @param options       lent for the call; NULL: defaults
 * @param out_executor  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_FAILED_PRECONDITION  the plan is for another number of ranks, or another rank has an
 *                                  executor of another program in this place
 * @retval SHW_OUT_OF_RANGE         there is no such local rank
 * @retval SHW_DEADLINE_EXCEEDED    another process did not create its executor in time
 * @retval SHW_ABORTED              the world was aborted by another process
 * @retval SHW_CANCELLED            the world was aborted by this process
 * @retval SHW_INVALID_ARGUMENT     an option is out of range
 * @retval SHW_UNIMPLEMENTED        a step has no kernel, a manual region has no body, or the device
 *                                  knows no native streams or captures no graphs
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any; for each rank of a world, one thread at a time
 * @since 0.2
 */
SHW_API shw_status* shw_executor_create(const shw_plan* plan, shw_world* world, int32_t rank,
                                        const shw_executor_options* options,
                                        shw_executor** out_executor) SHW_MUST_USE;

/**
 * Puts one run of an entry on the executor's streams. Returns at once, unless max_in_flight runs
 * are unfinished. Every rank must enqueue the same entries in the same order.
 * @param run       lent for the call. The library keeps references to the buffers until the run has
 *                  ended
 * @param out_done  receives an event that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     a buffer is missing, does not have its port's type, or is known
 *                                  to hold another rank's piece (shw_plan_shard(), or the output of
 *                                  a run); or the session is of another executor
 * @retval SHW_OUT_OF_RANGE         there is no such entry
 * @retval SHW_FAILED_PRECONDITION  an entry that must run before this one has not run in the
 *                                  session
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread external: one thread at a time for each executor
 * @since 0.2
 */
SHW_API shw_status* shw_executor_enqueue(shw_executor* executor, const shw_run* run,
                                         shw_event** out_done) SHW_MUST_USE;

/**
 * The memory of a port that the executor holds (SHW_STORAGE_STATE), to read and write between runs.
 * @param port        its number: shw_plan_find_port()
 * @param out_buffer  receives a handle that the caller destroys, of the executor's memory, not a
 *                    copy; NULL on failure
 * @retval SHW_OUT_OF_RANGE      there is no such port
 * @retval SHW_INVALID_ARGUMENT  the port is not state
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_executor_get_state(shw_executor* executor, size_t port,
                                           shw_buffer** out_buffer) SHW_MUST_USE;

/**
 * Aborts the runs that are under way or queued, on this rank and on those that communicate with it.
 * Their events end with SHW_CANCELLED or SHW_ABORTED. This also ends a collective that waits for a
 * rank that is gone. NULL is allowed.
 * @thread any, also while another thread is inside shw_executor_enqueue()
 * @since 0.2
 */
SHW_API void shw_executor_abort(shw_executor* executor);

/**
 * Waits until all runs have ended, then clears the error. After a failure or an abort every rank
 * must call it, equally often, before any of them runs again. NULL is allowed.
 * @thread external: one thread at a time for each executor
 * @since 0.2
 */
SHW_API void shw_executor_reset(shw_executor* executor);

/**
 * Aborts unfinished runs, waits for their end, and frees the executor. NULL is allowed.
 * @thread external: no other call on this executor may run
 * @since 0.2
 */
SHW_API void shw_executor_destroy(shw_executor* executor);

/* ---- Session ---------------------------------------------------------------------------------
 *
 * A session keeps values that one entry leaves for later entries, such as the activations of a
 * forward pass. Each session has memory of its own (session_bytes of the plan's summary), so
 * several may be under way at once: forward, forward, backward, backward. */

/**
 * Creates an additional session. An executor has one of its own, for runs that name none.
 * @param out_session  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread external: one thread at a time for each executor
 * @since 0.2
 */
SHW_API shw_status* shw_session_create(shw_executor* executor,
                                       shw_session** out_session) SHW_MUST_USE;

/**
 * Drops the caller's reference; runs keep their session until they end. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_session_destroy(shw_session* session);

/* ---- Event ----------------------------------------------------------------------------------- */

/**
 * Waits until the run has ended, and returns its result. After shw_event_query() has returned 1,
 * this call returns the result whatever the time-out is.
 * @param timeout_ns  negative: no limit
 * @retval SHW_DEADLINE_EXCEEDED  it has not ended yet, or it ended because of its time limit
 * @retval SHW_CANCELLED          shw_executor_abort() stopped the run
 * @retval SHW_ABORTED            a rank that the run communicates with failed or was aborted
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_event_wait(const shw_event* event, int64_t timeout_ns) SHW_MUST_USE;

/**
 * 1 if the run has ended, with success or not, and for NULL; otherwise 0. Does not wait or
 * allocate.
 * @thread any
 * @since 0.2
 */
SHW_API int32_t shw_event_query(const shw_event* event);

/**
 * Registers a callback for the end of the run; if it has ended, `done` is called at once. `done` is
 * called even if the event is destroyed earlier.
 * @param user  handed to `done`
 * @retval SHW_INVALID_ARGUMENT    `event` or `done` is NULL
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory; `done` is not called
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_event_notify(const shw_event* event, shw_done_fn done,
                                     void* user) SHW_MUST_USE;

/**
 * Frees the event, not the run. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_event_destroy(shw_event* event);

/* ---- Benchmark ------------------------------------------------------------------------------- */

/* Flags of shw_plan_bench(). */
#define SHW_BENCH_TEXT ((uint64_t)1) /* a table for a person, in place of JSON */
/* Gives only a timeline, as JSON for ui.perfetto.dev: when each launch of the last run began and
   ended on each rank, by its device's clock. Not with SHW_BENCH_TEXT. */
#define SHW_BENCH_TRACE ((uint64_t)2)
/* Times only runs as a whole. Timing inside a run costs a GPU a little time. The result then has no
   times of kernels, nor of products alone. Not with SHW_BENCH_TRACE. */
#define SHW_BENCH_WHOLE ((uint64_t)4)
#define SHW_BENCH_GRAPHS ((uint64_t)8) /* runs as CUDA graphs, timed as with SHW_BENCH_WHOLE */

/* Options of shw_plan_bench(). All pointers are lent for the call. */
typedef struct shw_bench_options {
  size_t struct_size;     /* set by SHW_BENCH_OPTIONS_INIT */
  uint64_t flags;         /* SHW_BENCH_… */
  const char* entry;      /* its name; NULL: the first */
  shw_device_kind device; /* 0: SHW_DEVICE_CPU. SHW_DEVICE_CUDA: each rank on a device of its own.
                             SHW_DEVICE_NULL computes nothing: the times are those of launches */
  int32_t warm_up;        /* runs before those that are timed; 0: 2; negative: none */
  int32_t repeats;        /* runs that are timed; 0: 10 */
  int32_t reserved;       /* 0 */
} shw_bench_options;
#define SHW_BENCH_OPTIONS_INIT \
  { sizeof(shw_bench_options), 0, NULL, 0, 0, 0, 0 }

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_bench_options_init(shw_bench_options* options, size_t size);

/**
 * Times an entry on virtual ranks in this process, on made-up inputs. The result has the time of a
 * whole run (median and quartiles), and for each rank and kernel: its time, the time that the plan
 * predicts for the plan's hardware (`planned_seconds`), its share, FLOP/s and bytes/s. Matrix
 * products are timed on their own as well. `over_floor` is the time of a run divided by the time of
 * its matrix products at the best measured rate. If the CPU multiplies f32 on a matrix unit,
 * `cpu_over_vector_floor` is the CPU time of a run divided by that of its products with vector
 * instructions alone, as other libraries multiply.
 * @param options   NULL: defaults
 * @param out_blob  receives a handle that the caller destroys: JSON, or text; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     an option is out of range, or there are fewer devices than ranks
 * @retval SHW_NOT_FOUND            there is no such entry
 * @retval SHW_FAILED_PRECONDITION  another entry must run before this one
 * @retval SHW_UNIMPLEMENTED        a step has no kernel, or a manual region has no body
 * @retval SHW_UNAVAILABLE          this machine, or this build, has no device of this kind
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_plan_bench(const shw_plan* plan, const shw_bench_options* options,
                                   shw_blob** out_blob) SHW_MUST_USE;

/* Options of shw_bench_collectives(). All pointers are lent for the call. */
typedef struct shw_collective_bench_options {
  size_t struct_size;             /* set by SHW_COLLECTIVE_BENCH_OPTIONS_INIT */
  uint64_t flags;                 /* SHW_BENCH_TEXT: the tables that nccl-tests prints */
  const shw_mesh_axis* mesh_axes; /* of the ranks; at most 6 */
  size_t num_mesh_axes;           /* 0: one rank */
  const char* const* group;       /* names of the axes along which ranks communicate */
  size_t num_group;               /* 0: all of them */
  int64_t min_bytes;              /* the smallest size; 0: 1 KiB */
  int64_t max_bytes;              /* the largest; 0: 4 MiB */
  int64_t factor;                 /* from one size to the next, 2 or more; 0: 4 */
  shw_dtype dtype;                /* F32, F64, F16, BF16, I32 or I64; 0: F32 */
  shw_device_kind device; /* 0: SHW_DEVICE_CPU. SHW_DEVICE_CUDA: each rank on a device of its
                             own */
  int32_t warm_up;        /* launches before those that are timed; 0: 5; negative: none */
  int32_t repeats;        /* launches that are timed; 0: 20 */
} shw_collective_bench_options;
#define SHW_COLLECTIVE_BENCH_OPTIONS_INIT \
  { sizeof(shw_collective_bench_options), 0, NULL, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Zeroes `size` bytes and sets struct_size, for languages that cannot use the INIT macro.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_collective_bench_options_init(shw_collective_bench_options* options, size_t size);

/**
 * Times each collective between ranks in this process, by size. Sizes and bandwidths are those of
 * nccl-tests. Each element of the results is compared with its correct value.
 * shw_calibration_create() reads the text.
 * @param options   NULL: defaults
 * @param out_blob  receives a handle that the caller destroys: JSON, or text; `wrong` is the number
 *                  of elements that are not correct. NULL on failure
 * @retval SHW_INVALID_ARGUMENT     an option is out of range, or there are fewer devices than ranks
 * @retval SHW_FAILED_PRECONDITION  the device computes nothing
 * @retval SHW_UNAVAILABLE          this machine, or this build, has no device of this kind
 * @retval SHW_RESOURCE_EXHAUSTED   out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_bench_collectives(shw_context* context,
                                          const shw_collective_bench_options* options,
                                          shw_blob** out_blob) SHW_MUST_USE;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_RUNTIME_H_ */
