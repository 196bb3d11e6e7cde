/*
 * Machines: what the cost model knows of them, and how to fit it to measurements.
 *
 * A machine is given in one of two ways: `hardware`, a name of shw_hardware_name(), or
 * `description`, a JSON object (HARDWARE.md). Names are not case-sensitive.
 */
#ifndef SHARDWISE_HARDWARE_H_
#define SHARDWISE_HARDWARE_H_

#include "shardwise/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shw_calibration
    shw_calibration; /* a description fitted to measurements; immutable */

/* ---- Hardware -------------------------------------------------------------------------------- */

/* The main figures of a machine. All others: shw_hardware_to_json(). */
typedef struct shw_hardware_info {
  size_t struct_size;        /* set by SHW_HARDWARE_INFO_INIT */
  double memory_bytes_per_s; /* of one device, as are the next five, and flops_f8 */
  double flops_f64;          /* per second; 0: unknown */
  double flops_f32;
  double flops_f16;
  double flops_bf16;
  double flops_i8;
  double efficiency; /* share of these rates that kernels reach */
  double launch_us;  /* least time of a kernel */
  int64_t devices_per_node;
  double intra_bytes_per_s; /* of one device, to the others of its node */
  double inter_bytes_per_s; /* of one device, to other nodes */
  int32_t nccl_model;       /* 1: NCCL's cost model; 0: a simple ring */
  int32_t reserved;         /* 0 */
  size_t num_measured;      /* collectives whose price is measured, not modelled */
  double flops_f8;          /* of 8-bit floats */
} shw_hardware_info;
#define SHW_HARDWARE_INFO_INIT \
  { sizeof(shw_hardware_info), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0, 0, 0, 0, 0.0 }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_hardware_info_init(shw_hardware_info* info, size_t size);

/**
 * The main figures of a machine.
 * @param hardware     its name; NULL: `description` is given
 * @param description  JSON; lent for the call; empty: `hardware` is given. With neither: "h100"
 * @param out_info     its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_INVALID_ARGUMENT  the machine is unknown, its description is malformed, or
 *                               struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_hardware_get_info(const char* hardware, shw_bytes description,
                                          shw_hardware_info* out_info) SHW_MUST_USE;

/**
 * The complete description of a machine, as JSON that shw_compile_options::hardware_description
 * takes. It can serve as the start of another description.
 * @param hardware     its name; NULL: `description` is given
 * @param description  JSON; lent for the call; empty: `hardware` is given. With neither: "h100"
 * @param out_blob     receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    the machine is unknown, or its description is malformed
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_hardware_to_json(shw_context* context, const char* hardware,
                                         shw_bytes description, shw_blob** out_blob) SHW_MUST_USE;

/* ---- Calibration ----------------------------------------------------------------------------- */

/* Output of a program of nccl-tests or rccl-tests: all_gather_perf, reduce_scatter_perf,
 * all_reduce_perf, alltoall_perf, sendrecv_perf. Other output in between, of mpirun or of NCCL, is
 * skipped. Frozen. */
typedef struct shw_calibration_file {
  const char* name; /* for messages */
  shw_bytes output;
  const char* collective; /* "all_gather", "reduce_scatter", "all_reduce", "all_to_all"; NULL: the
                             output names it */
} shw_calibration_file;

/* Options of shw_calibration_create(). All pointers are lent for the call. */
typedef struct shw_calibration_options {
  size_t struct_size;             /* set by SHW_CALIBRATION_OPTIONS_INIT */
  uint64_t flags;                 /* 0: none is defined yet */
  const char* hardware;           /* to start from; NULL: "h100", or hardware_description */
  shw_bytes hardware_description; /* in place of `hardware`; empty: none */
  const char* name;               /* of the result; NULL: that of the base with "-calibrated";
                                     "cpu-measured" or "cuda-measured" with a device */
  const char* device; /* "cpu", "cuda": measure this machine, without files and without a base;
                         NULL: fit the base to files */
} shw_calibration_options;
#define SHW_CALIBRATION_OPTIONS_INIT \
  { sizeof(shw_calibration_options), 0, NULL, {NULL, 0}, NULL, NULL }

/* One run of a file, and how far prices are from its times. An error is a factor minus 1: a price
 * of twice the time and a price of half the time both have the error 1. Means are geometric.
 * Strings are lent by the calibration. */
typedef struct shw_calibration_collective {
  size_t struct_size; /* set by SHW_CALIBRATION_COLLECTIVE_INIT */
  const char* file;
  size_t line; /* of the file, where the run begins */
  const char* collective;
  int64_t num_nodes;
  int64_t devices_per_node;
  size_t num_sizes;       /* message sizes */
  double base_error_mean; /* of the base, before fitting */
  double base_error_max;
  double model_error_mean; /* of the model with fitted figures */
  double model_error_max;
  double lines_error_mean; /* of the result, which has lines for the groups that were measured */
  double lines_error_max;
} shw_calibration_collective;
#define SHW_CALIBRATION_COLLECTIVE_INIT \
  { sizeof(shw_calibration_collective), NULL, 0, NULL, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 }

/* A figure of the cost model. Strings are lent by the calibration. */
typedef struct shw_calibration_figure {
  size_t struct_size; /* set by SHW_CALIBRATION_FIGURE_INIT */
  const char* name;   /* as in descriptions: "nccl.inter_gb_per_s" */
  double before;
  double after;
  int32_t determined; /* 0: no price of the runs depends on this figure; it is unchanged */
  int32_t reserved;   /* 0 */
} shw_calibration_figure;
#define SHW_CALIBRATION_FIGURE_INIT \
  { sizeof(shw_calibration_figure), NULL, 0.0, 0.0, 0, 0 }

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_calibration_options_init(shw_calibration_options* options, size_t size);

/**
 * Fits a machine's links to measured collectives, or measures the CPUs or the GPUs of this machine:
 * kernels on one rank and collectives among several. Measuring takes some seconds on all CPUs or
 * GPUs; nothing else should run meanwhile. Plans for the result are priced by the measured times.
 * @param files            lent for the call, with all that they point to; none with a device
 * @param options          lent for the call; NULL: defaults
 * @param out_calibration  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_INVALID_ARGUMENT    a file is not such output (the message names file and line), a
 *                                 group does not fit the machine, two runs have the same group,
 *                                 the sizes are too small to tell a bandwidth, or the device is
 *                                 unknown or comes with files or hardware
 * @retval SHW_UNAVAILABLE         the device is "cuda", and there is none, or it cannot be used
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_calibration_create(shw_context* context, const shw_calibration_file* files,
                                           size_t num_files, const shw_calibration_options* options,
                                           shw_calibration** out_calibration) SHW_MUST_USE;

/**
 * Number of runs in the files, or of collectives that were measured; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_calibration_num_collectives(const shw_calibration* calibration);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_calibration_collective_init(shw_calibration_collective* collective, size_t size);

/**
 * One run, in the order of the files. For a measurement of this process, `file` is empty.
 * @param out_collective  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such run
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_calibration_get_collective(const shw_calibration* calibration, size_t index,
                                                   shw_calibration_collective* out_collective)
    SHW_MUST_USE;

/**
 * Number of figures of the cost model; 0 for NULL.
 * @thread any
 * @since 0.2
 */
SHW_API size_t shw_calibration_num_figures(const shw_calibration* calibration);

/**
 * Does what the INIT macro does, for languages that cannot use it and for structs within structs.
 * @param size  of the struct as the caller knows it
 * @thread any
 * @since 0.2
 */
SHW_API void shw_calibration_figure_init(shw_calibration_figure* figure, size_t size);

/**
 * One figure before and after.
 * @param out_figure  its struct_size is read; all other fields are written, 0 on failure
 * @retval SHW_OUT_OF_RANGE      there is no such figure
 * @retval SHW_INVALID_ARGUMENT  struct_size was not set (then nothing is written)
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_calibration_get_figure(const shw_calibration* calibration, size_t index,
                                               shw_calibration_figure* out_figure) SHW_MUST_USE;

/**
 * The machine that was fitted, as JSON that shw_compile_options::hardware_description takes.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_calibration_to_description(const shw_calibration* calibration,
                                                   shw_blob** out_blob) SHW_MUST_USE;

/**
 * The fit as one JSON object: `collectives` (`file`, `line`, `collective`, `nodes`,
 * `devices_per_node`, `sizes`; `base_error`, `model_error`, `lines_error`, each with `mean` and
 * `max`) and `figures` (`name`, `before`, `after`, `determined`: whether the runs determine it). If
 * a device was measured, also `kernels` (`kernel`, `dtype`, `sizes`: how many, `least_us`,
 * `most_us`).
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_calibration_to_json(const shw_calibration* calibration,
                                            shw_blob** out_blob) SHW_MUST_USE;

/**
 * The fit for a person.
 * @param out_blob  receives a handle that the caller destroys; NULL on failure
 * @retval SHW_RESOURCE_EXHAUSTED  out of memory
 * @thread any
 * @since 0.2
 */
SHW_API shw_status* shw_calibration_to_text(const shw_calibration* calibration,
                                            shw_blob** out_blob) SHW_MUST_USE;

/**
 * Frees the calibration. NULL is allowed.
 * @thread any
 * @since 0.2
 */
SHW_API void shw_calibration_destroy(shw_calibration* calibration);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SHARDWISE_HARDWARE_H_ */
