/*
 * Devices, and tensors in their memory.
 */
#ifndef SHARDWISE_DEVICE_H_
#define SHARDWISE_DEVICE_H_

#include "shardwise/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_device shw_device; /* memory and streams of one accelerator; immutable */
typedef struct shw_buffer shw_buffer; /* a tensor, or one rank's piece of one, in device memory */

/* ---- Device ---------------------------------------------------------------------------------- */

typedef struct shw_device_info {
  size_t struct_size; /* set by SHW_DEVICE_INFO_INIT */
  const char* name;   /* "cpu"; lives as long as the library */
  shw_device_kind kind;
  int32_t index;
  int32_t computes;       /* 0: a dry run; the values of outputs are unspecified */
  int32_t host_access;    /* 1: the host can read and write its memory */
  int32_t native_streams; /* 1: shw_executor_options::native_stream can be given */
  int32_t reserved;       /* 0 */
  /* Of SHW_DEVICE_NULL, since the device was created; 0 for others. */
  int64_t num_launches;      /* of kernels */
  int64_t num_collectives;   /* of one rank */
  int64_t memory_bytes;      /* allocated now */
  int64_t peak_memory_bytes; /* allocated at most */
} shw_device_info;
#define SHW_DEVICE_INFO_INIT \
  { sizeof(shw_device_info), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * A device of this process. If its memory is host memory, the context's allocator provides it.
 * @param index       0 for the CPU; of a CUDA device, as the driver counts
 * @param out_device  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT  there is no such kind or index; CUDA: the context's kernel_cache is
 *                               no folder
 * @retval SHW_UNAVAILABLE       CUDA: the plug-in, the driver or one of NVIDIA's libraries is
 *                               missing or too old; the message says what to do
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_device_create(shw_context* context, shw_device_kind kind, int32_t index,
                                      shw_device** out_device) SHW_MUST_USE;

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_device_info_init(shw_device_info* info, size_t size);

/**
 * What a device is and can do.
 * @param out_info  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_device_get_info(const shw_device* device,
                                        shw_device_info* out_info) SHW_MUST_USE;

/**
 * Drops the caller's reference; buffers and executors keep their device. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_device_destroy(shw_device* device);

/* ---- Buffer ---------------------------------------------------------------------------------- */

/* Called once, from any thread, when the library no longer uses the memory. Must not call the
 * library. */
typedef void (*shw_release_fn)(void* user, void* data);

typedef int32_t shw_borrow;
enum {
  SHW_BORROW_COPY = 1,         /* the memory is copied before the call returns */
  SHW_BORROW_UNTIL_RELEASE = 2 /* it is used in place, until `release` is called */
};

/**
 * A new buffer, row-major, filled with zeros. It begins at a multiple of 256 bytes.
 * @param dims        `rank` sizes; lent for the call; may be NULL if rank is 0
 * @param out_buffer  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the dtype is unknown, or the sizes are out of range
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_buffer_create(shw_device* device, shw_dtype dtype, const int64_t* dims,
                                      int32_t rank, shw_buffer** out_buffer) SHW_MUST_USE;

/**
 * Makes a buffer of the caller's memory: a row-major copy, or that memory itself, as `borrow` says.
 * @param tensor        in memory that the device can use; lent for the call, with all that it
 *                      points to. Borrowed data stays lent as long as it is used
 * @param release       called when borrowed memory is no longer used, but not if this call fails;
 *                      NULL: no notification; must be NULL for SHW_BORROW_COPY
 * @param release_user  handed to `release`
 * @param out_buffer    receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the tensor's type is out of range, or its data is NULL
 * @retval SHW_UNIMPLEMENTED       its memory is not the CPU's
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_buffer_import(shw_device* device, const shw_tensor* tensor,
                                      shw_borrow borrow, shw_release_fn release, void* release_user,
                                      shw_buffer** out_buffer) SHW_MUST_USE;

/**
 * The buffer's memory and type.
 * @param out_tensor  all that it points to is lent by `buffer`; zeros on failure
 * @retval SHW_INVALID_ARGUMENT  an argument is NULL
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_buffer_get_tensor(const shw_buffer* buffer,
                                          shw_tensor* out_tensor) SHW_MUST_USE;

/**
 * Copies the buffer to the host, row-major. Does not wait for runs.
 * @param size  bytes at `data`: exactly those of the tensor
 * @retval SHW_INVALID_ARGUMENT     the size is wrong
 * @retval SHW_FAILED_PRECONDITION  a run that writes the buffer has not ended: wait for its event
 * @thread any, while no run writes the buffer
 * @since 0.2
 */
SHW_API shw_status* shw_buffer_read(const shw_buffer* buffer, void* data, size_t size) SHW_MUST_USE;

/**
 * Copies row-major data from the host to the buffer. Does not wait for runs.
 * @param size  bytes at `data`: exactly those of the tensor
 * @retval SHW_INVALID_ARGUMENT     the size is wrong
 * @retval SHW_FAILED_PRECONDITION  a run that writes the buffer has not ended: wait for its event
 * @thread external: one thread at a time for each buffer, while no run uses it
 * @since 0.2
 */
SHW_API shw_status* shw_buffer_write(shw_buffer* buffer, const void* data,
                                     size_t size) SHW_MUST_USE;

/**
 * Drops the caller's reference; runs keep their buffers until they end. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_buffer_destroy(shw_buffer* buffer);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_DEVICE_H_ */
