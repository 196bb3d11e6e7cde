/*
 * Worlds: the ranks that communicate with each other, in one process or in several.
 */
#ifndef SHARDWISE_WORLD_H_
#define SHARDWISE_WORLD_H_

#include "shardwise/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_world shw_world; /* the ranks that communicate with each other */

/* Identifies a world while its parts are made. Opaque. Frozen. */
typedef struct shw_world_id {
  uint8_t bytes[128];
} shw_world_id;

/* Options of all functions that create worlds. */
typedef struct shw_world_options {
  size_t struct_size;     /* set by SHW_WORLD_OPTIONS_INIT */
  uint64_t flags;         /* 0: none is defined yet */
  int64_t timeout_ns;     /* of each wait for another rank; 0: 10 minutes; negative: no limit */
  const char* mpi_plugin; /* MPI only: path of libshardwise_mpi.so; NULL: beside this library, in
                             ../lib from there, or where the system looks for libraries; lent for
                             the call */
} shw_world_options;
#define SHW_WORLD_OPTIONS_INIT \
  { sizeof(shw_world_options), 0, 0, NULL }

/* The process that holds the handle of a world makes executors for the local ranks of that handle.
 * If a virtual world has a single handle, all ranks are local.
 *
 * Every wait for another rank has a time-out. A run that waits longer fails with
 * SHW_DEADLINE_EXCEEDED on the rank that waited and with SHW_ABORTED on the others. The message
 * names the rank that did not arrive and the last collectives that each rank dispatched. */

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_world_options_init(shw_world_options* options, size_t size);

/**
 * A world whose ranks are all in this process, on the CPU: threads that exchange data through
 * memory. Results do not depend on the number of cores.
 * @param num_ranks  at least 1
 * @param options    lent for the call; NULL: defaults
 * @param out_world  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT  num_ranks is less than 1, or an option is out of range
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_world_create_virtual(shw_context* context, int32_t num_ranks,
                                             const shw_world_options* options,
                                             shw_world** out_world) SHW_MUST_USE;

/**
 * A new id, for shw_world_create_from_id().
 * @param out_id  zeros on failure
 * @retval SHW_INVALID_ARGUMENT  an argument is NULL
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_world_make_id(shw_context* context, shw_world_id* out_id) SHW_MUST_USE;

/**
 * One part of a virtual world, with some of its ranks. Callers that share no handle, such as
 * threads, agree on an id, and each creates the world with its own ranks. No caller waits for
 * another one here. If a rank never joins, the first run ends with a time-out.
 * @param id           of shw_world_make_id() in the same context; lent for the call
 * @param num_ranks    of the whole world, the same in every part
 * @param local_ranks  of this part; distinct, and in no other part; lent for the call
 * @param options      lent for the call; NULL: defaults. Those of the first part count
 * @param out_world    receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT     the ranks or options are out of range
 * @retval SHW_OUT_OF_RANGE         there is no such rank
 * @retval SHW_ALREADY_EXISTS       another part has one of the ranks
 * @retval SHW_FAILED_PRECONDITION  the id is of another context or process, or another part has
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
 * bits as in a virtual world. Every process creates it. Its communicator is private.
 *
 * If the process has not initialised MPI, this call does. Destroying the world then finalises MPI,
 * provided that all ranks destroy theirs within the time-out and the world was not aborted. A
 * process that initialises MPI itself must ask for MPI_THREAD_MULTIPLE. MPI can be initialised only
 * once in a process, so a process that creates several such worlds one after another must
 * initialise MPI itself. Before this call initialises OpenMPI, it sets
 * OMPI_MCA_btl_vader_single_copy_mechanism to "none" in the environment, unless it is set. Without
 * that, OpenMPI 4 ends a rank that reads the memory of a dying rank.
 * @param options    lent for the call; NULL: defaults
 * @param out_world  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_UNAVAILABLE        there is no MPI on this machine, or it does not start
 * @retval SHW_DEADLINE_EXCEEDED  not every process of the job created its world in time
 * @retval SHW_INVALID_ARGUMENT   an option is out of range
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_world_create_mpi(shw_context* context, const shw_world_options* options,
                                         shw_world** out_world) SHW_MUST_USE;

/**
 * Number of ranks, in this process or not; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API int32_t shw_world_num_ranks(const shw_world* world);

/**
 * Number of local ranks; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_world_num_local_ranks(const shw_world* world);

/**
 * Local rank number `index`, in ascending order; -1 if there is none.
 * @thread any
 * @since 0.2
 */
SHW_API int32_t shw_world_local_rank(const shw_world* world, size_t index);

/**
 * NULL while the world works; otherwise the reason why all its runs fail. Does not wait.
 * @retval SHW_CANCELLED         shw_world_abort() was called
 * @retval SHW_ABORTED           another process aborted the world
 * @retval SHW_INVALID_ARGUMENT  the world is NULL
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_world_status(const shw_world* world) SHW_MUST_USE;

/**
 * Stops all runs, also queued ones, on all ranks of the world, in all processes, and returns at
 * once. The world cannot be used again: its executors can then only be destroyed. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_world_abort(shw_world* world);

/**
 * Drops the caller's reference; executors keep their world. A world of several processes waits here
 * for the others, up to the time-out, unless it was aborted. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_world_destroy(shw_world* world);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_WORLD_H_ */
