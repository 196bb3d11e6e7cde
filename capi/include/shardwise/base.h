/*
 * What every part of the interface uses: status, context, cancel flag, blob, tensors in memory.
 *
 * The rules of the whole interface (ownership, zero as default, threads) are in ABI.md, which lies
 * with OPS.md, HARDWARE.md and examples in share/doc/shardwise of an installation. In short:
 *   - A call that can fail returns a status. NULL is success. The caller destroys the status.
 *   - Every `out_*` parameter is written, also on failure: then with NULL or 0.
 *   - `create`, `compile`, `load` and `to_…` give a handle that the caller destroys. What a getter
 *     returns is lent: it stays valid as long as its owner.
 *   - Destroying NULL does nothing. So initialise handles with NULL, and destroy all of them in one
 *     place at the end.
 *   - Strings are NUL-terminated UTF-8.
 *   - Indices and counts are size_t, and SHW_NONE stands for no index. Numbers of ranks and devices
 *     are int32_t, as in MPI and NCCL. Sizes of tensors, and bytes of device memory, are int64_t.
 *   - Units are in names: `_us` is modelled microseconds, `_s` seconds of wall clock, `_ns`
 *     nanoseconds, `_bytes`.
 */
#ifndef SHARDWISE_BASE_H_
#define SHARDWISE_BASE_H_

#include <stddef.h>
#include <stdint.h>

#define SHW_VERSION_MAJOR 0
#define SHW_VERSION_MINOR 2
#define SHW_VERSION_PATCH 0
#define SHW_MAKE_VERSION(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define SHW_API_VERSION SHW_MAKE_VERSION(SHW_VERSION_MAJOR, SHW_VERSION_MINOR)

#if defined(__GNUC__) && !defined(SWIG)
#define SHW_API __attribute__((visibility("default")))
#define SHW_MUST_USE __attribute__((warn_unused_result))
#else
#define SHW_API
#define SHW_MUST_USE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* No index. */
#define SHW_NONE ((size_t)-1)

/* ---- Handles --------------------------------------------------------------------------------- */

typedef struct shw_status shw_status;   /* an error; NULL: none */
typedef struct shw_context shw_context; /* the host's allocator, log and threads; immutable */
typedef struct shw_cancel shw_cancel;   /* a flag that any thread may raise */
typedef struct shw_blob shw_blob;       /* bytes that the library owns; immutable */

/* ---- Enumerations: fixed width; 0 is "unset"; an unknown number is refused ------------------- */

/* gRPC's numbers. Callers must expect codes that are not listed here. */
typedef int32_t shw_code;
enum {
  SHW_OK = 0,
  SHW_CANCELLED = 1,
  SHW_UNKNOWN = 2,
  SHW_INVALID_ARGUMENT = 3,
  SHW_DEADLINE_EXCEEDED = 4,
  SHW_NOT_FOUND = 5,
  SHW_ALREADY_EXISTS = 6,
  SHW_PERMISSION_DENIED = 7,
  SHW_RESOURCE_EXHAUSTED = 8,
  SHW_FAILED_PRECONDITION = 9,
  SHW_ABORTED = 10,
  SHW_OUT_OF_RANGE = 11,
  SHW_UNIMPLEMENTED = 12,
  SHW_INTERNAL = 13,
  SHW_UNAVAILABLE = 14,
  SHW_DATA_LOSS = 15
};

typedef int32_t shw_dtype;
enum {
  SHW_DTYPE_F32 = 1,
  SHW_DTYPE_F64 = 2,
  SHW_DTYPE_F16 = 3,
  SHW_DTYPE_BF16 = 4,
  SHW_DTYPE_I8 = 5,
  SHW_DTYPE_I16 = 6,
  SHW_DTYPE_I32 = 7,
  SHW_DTYPE_I64 = 8,
  SHW_DTYPE_U8 = 9,
  SHW_DTYPE_BOOL = 10,     /* one byte, 0 or 1 */
  SHW_DTYPE_C64 = 11,      /* two f32: real, imaginary */
  SHW_DTYPE_F8E4M3FN = 12, /* 8-bit float of OCP: no infinity, 448 at most */
  SHW_DTYPE_F8E5M2 = 13    /* 8-bit float of OCP: with infinity, 57344 at most */
};

/* What an input or an output of a graph is for. */
typedef int32_t shw_role;
enum {
  SHW_ROLE_PARAMETER = 1,
  SHW_ROLE_BUFFER = 2, /* a tensor of the model that is not trained */
  SHW_ROLE_INPUT = 3,
  SHW_ROLE_TANGENT = 4,         /* gradient of a result, given by the caller */
  SHW_ROLE_SEED = 5,            /* seed of a random generator */
  SHW_ROLE_OPTIMIZER_STATE = 6, /* what an optimizer keeps beside a parameter */
  SHW_ROLE_CONSTANT = 7,        /* a small tensor that the graph carries with it */
  SHW_ROLE_RESULT = 11,
  SHW_ROLE_GRADIENT = 12, /* of an input. A gradient that only an update reads is no output */
  SHW_ROLE_UPDATE = 13    /* new value of an input: of a parameter, an optimizer's state, a cache */
};

/* Who holds the memory of an input between runs. 0: the caller. */
typedef int32_t shw_storage;
enum {
  SHW_STORAGE_PORT = 1,    /* the caller, who hands the tensor over for every run */
  SHW_STORAGE_STATE = 2,   /* the executor, as long as it lives */
  SHW_STORAGE_CONSTANT = 3 /* the plan; read only */
};

typedef int32_t shw_phase;
enum { SHW_PHASE_FORWARD = 1, SHW_PHASE_BACKWARD = 2 };

typedef int32_t shw_device_kind;
enum {
  SHW_DEVICE_CPU = 1,
  SHW_DEVICE_CUDA = 2, /* an NVIDIA GPU, by libshardwise_cuda.so */
  SHW_DEVICE_NULL = 3  /* computes nothing: for dry runs */
};

typedef int32_t shw_log_level;
enum { SHW_LOG_DEBUG = 1, SHW_LOG_INFO = 2, SHW_LOG_WARNING = 3, SHW_LOG_ERROR = 4 };

/* ---- Frozen structs: their layout never changes, so arrays of them are allowed --------------- */

typedef struct shw_bytes {
  const void* data;
  size_t size;
} shw_bytes;

/* A tensor in memory that the struct does not own. If a function only reads the tensor, the memory
 * may be const: cast `data`. */
typedef struct shw_tensor {
  void* data;             /* element 0 */
  const int64_t* dims;    /* `rank` sizes */
  const int64_t* strides; /* `rank` distances in elements; NULL: row-major */
  int32_t rank;           /* at most 8; 0: a scalar */
  shw_dtype dtype;
  shw_device_kind device_kind; /* 0: SHW_DEVICE_CPU */
  int32_t device_index;        /* 0 on the CPU */
} shw_tensor;

/* ---- Callbacks: none may throw, longjmp, or call the library --------------------------------- */

/* Returns `size` bytes at a multiple of `alignment` (a power of two), or NULL. Any thread. */
typedef void* (*shw_alloc_fn)(void* user, size_t size, size_t alignment);
/* Takes back what shw_alloc_fn gave, with the same size and alignment. Any thread. */
typedef void (*shw_free_fn)(void* user, void* memory, size_t size, size_t alignment);

/* Calls of one context never overlap. They may come from any thread. `message` and `file` are lent
 * for the call. */
typedef void (*shw_log_fn)(void* user, shw_log_level level, const char* message, const char* file,
                           int32_t line);

/* A piece of work of the library, to be called once with the `task` that came with it. It returns
 * when the piece is done, and throws nothing. */
typedef void (*shw_task_fn)(void* task);
/* Takes a task, which the host runs once, on any thread and in any order: within this call, or
 * later, even after the library's call that submitted the task has returned. Several threads may
 * call this function at the same time. Returns 0 if the host will run the task. If it returns any
 * other number, the host must not run the task, and the library does the work without it.
 *
 * No call of the library waits for a task that has not begun: the calling thread does the work
 * instead, and the task returns at once when it is run later. So a thread pool that has one thread,
 * or is busy with other things, never blocks a call. A task that is accepted and never run leaks
 * some hundred bytes. */
typedef int32_t (*shw_submit_fn)(void* user, shw_task_fn run, void* task);

/* ---- Extensible structs: struct_size first, zero is the default, fields are only appended ---- */

/* Results on CUDA devices have the same bits in each run. Without this flag, a kernel of cuDNN may
 * compute the gradients of attention. Its order of additions differs from run to run, and it takes
 * less than half of the time. Results of other backends always have the same bits. */
#define SHW_CONTEXT_DETERMINISTIC ((uint64_t)1)

/* Options of shw_context_create(). */
typedef struct shw_context_options {
  size_t struct_size;      /* set by SHW_CONTEXT_OPTIONS_INIT or shw_context_options_init() */
  uint64_t flags;          /* SHW_CONTEXT_DETERMINISTIC */
  shw_alloc_fn alloc;      /* for tensors, executors' memory and blobs; NULL: the C++ heap */
  shw_free_fn free;        /* NULL if and only if alloc is */
  void* alloc_user;        /* must stay valid until the last object made in the context is gone */
  shw_log_fn log;          /* NULL: nothing is logged */
  void* log_user;          /* as alloc_user */
  shw_log_level log_level; /* the lowest that is passed on; 0: SHW_LOG_INFO */
  int32_t reserved;        /* 0 */
  /* Runs tasks on the host's threads, for the parallel parts of planning: pricing, solving large
   * problems, searches under memory limits, verifying a plan while it is written,
   * shw_search_create(). The num_threads of a call determines how many tasks it submits; results do
   * not depend on them. NULL: such calls start threads and join them before they return.
   * Running a plan never uses the host's threads, because collectives block until all ranks have
   * come. The library starts a thread for each stream of a local rank. */
  shw_submit_fn submit;
  void* submit_user; /* as alloc_user, and until the last task has been run */
  /* Limit on the bytes of text that shw_graph_import() and shw_solution_create() read, counted
   * after decompression, because a small gzipped file can expand to any size. 0: 512 MiB. */
  uint64_t max_text_bytes;
  /* Path of a folder where CUDA devices keep compiled kernels for later processes; copied. The
   * folder is created if it does not exist. Any number of processes may use it at once. Damaged and
   * foreign files are ignored, and so are errors of writing. The library never removes a file.
   * The GPU runs what the files contain, so nobody else should be able to write to the folder.
   * NULL: every process compiles what it needs. */
  const char* kernel_cache;
} shw_context_options;
#define SHW_CONTEXT_OPTIONS_INIT \
  { sizeof(shw_context_options), 0, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, NULL }

/* A size of a graph that is known only at run time, such as the length of a sequence. */
typedef struct shw_symbol {
  size_t struct_size; /* set by SHW_SYMBOL_INIT */
  const char* name;   /* "cache": a letter or _, then letters, digits or _; at most 64 */
  int64_t minimum;    /* smallest size at run time, 0 or more */
  int64_t maximum;    /* largest size */
  int64_t divisor;    /* every size is a multiple of it; 0: 1 */
  int64_t hint;       /* a typical size. The graph is planned at this size if no buckets are given.
                         0: `maximum` */
} shw_symbol;
#define SHW_SYMBOL_INIT \
  { sizeof(shw_symbol), NULL, 0, 0, 0, 0 }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_symbol_init(shw_symbol* symbol, size_t size);

/* ---- Versions -------------------------------------------------------------------------------- */

/**
 * Version of the library that is loaded, as SHW_MAKE_VERSION packs it.
 * @thread any
 * @since 0.2
 */
SHW_API uint32_t shw_api_version(void);

/**
 * The same with the patch number, "0.2.0".
 * @return a string that lives as long as the library
 * @thread any
 * @since 0.2
 */
SHW_API const char* shw_version_string(void);

/* ---- Status ---------------------------------------------------------------------------------- */

/**
 * Code of a status; SHW_OK for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API shw_code shw_status_code(const shw_status* status);

/**
 * Name of a code, "INVALID_ARGUMENT"; "UNRECOGNISED" for a number that is not a code.
 * @return a string that lives as long as the library
 * @thread any
 * @since 0.2
 */
SHW_API const char* shw_status_code_name(shw_code code);

/**
 * What went wrong, for a person: the cause, then number and name of the node if there is one.
 * @return lent by `status`; "" for NULL
 * @thread any
 * @since 0.2
 */
SHW_API const char* shw_status_message(const shw_status* status);

/**
 * Index of the node at fault in the graph that the caller gave; SHW_NONE: no node is at fault. For
 * an error of shw_builder_add_node(): the number that the node would have had.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_status_node_index(const shw_status* status);

/**
 * Name of that node. For an error of a run: name of the kernel.
 * @return lent by `status`; "": none
 * @thread any
 * @since 0.2
 */
SHW_API const char* shw_status_node_name(const shw_status* status);

/**
 * Number of constraints in the conflict. If no placement satisfies all options, the status lists
 * a minimal set of constraints that cannot hold together. 0 for every other status.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_status_num_conflicts(const shw_status* status);

/**
 * Name of constraint number `index` of the conflict, in the form that shw_compile_options::without
 * takes.
 * @return lent by `status`; "" if there is no such constraint
 * @thread any
 * @since 0.2
 */
SHW_API const char* shw_status_conflict(const shw_status* status, size_t index);

/**
 * The library's source file that returned the error, for bug reports.
 * @return lent by `status`; "" for NULL
 * @thread any
 * @since 0.2
 */
SHW_API const char* shw_status_source_file(const shw_status* status);

/**
 * The line in that file; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API int32_t shw_status_source_line(const shw_status* status);

/**
 * Frees a status. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_status_destroy(shw_status* status);

/* ---- Context --------------------------------------------------------------------------------- */

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_context_options_init(shw_context_options* options, size_t size);

/**
 * Creates a context.
 * @param api_version  SHW_API_VERSION
 * @param options      lent for the call; NULL: defaults
 * @param out_context  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_FAILED_PRECONDITION  the caller was built for another major version, or a newer minor
 * @retval SHW_INVALID_ARGUMENT     an option is unknown or out of range
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_context_create(uint32_t api_version, const shw_context_options* options,
                                       shw_context** out_context) SHW_MUST_USE;

/**
 * Drops the caller's reference. Objects made in the context stay valid. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_context_destroy(shw_context* context);

/* ---- Cancel ---------------------------------------------------------------------------------- */

/**
 * Creates a flag that is not raised.
 * @param out_cancel  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT  out_cancel is NULL
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_cancel_create(shw_cancel** out_cancel) SHW_MUST_USE;

/**
 * Raises the flag, which stays raised: one atomic store. Calls that were given the flag end within
 * 10 ms.
 * @thread any, also callbacks and signal handlers
 * @since 0.2
 */
SHW_API void shw_cancel_raise(shw_cancel* cancel);

/**
 * Frees the flag. No call that was given the flag may still run. NULL is allowed.
 * @thread external: one thread at a time for each flag
 * @since 0.2
 */
SHW_API void shw_cancel_destroy(shw_cancel* cancel);

/* ---- Blob ------------------------------------------------------------------------------------ */

/**
 * The bytes, aligned to 64. A zero byte, not counted, follows them, so that text is a C string.
 * @return lent by `blob`; NULL for NULL
 * @thread any
 * @since 0.2
 */
SHW_API const void* shw_blob_data(const shw_blob* blob);

/**
 * Number of bytes; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_blob_size(const shw_blob* blob);

/**
 * Frees the bytes. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_blob_destroy(shw_blob* blob);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_BASE_H_ */
