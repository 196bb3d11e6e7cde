/*
 * The structs of DLPack 1.1, as far as this module uses them. Their layout is a published ABI,
 * which other libraries exchange tensors by.
 */
#ifndef SHARDWISE_PYTHON_DLPACK_H_
#define SHARDWISE_PYTHON_DLPACK_H_

#include <stdint.h>

enum { DL_MAJOR = 1, DL_MINOR = 1, DL_CPU = 1 };
enum {
  DL_INT = 0,
  DL_UINT = 1,
  DL_FLOAT = 2,
  DL_BFLOAT = 4,
  DL_COMPLEX = 5,
  DL_BOOL = 6,
  DL_FLOAT8_E4M3FN = 10,
  DL_FLOAT8_E5M2 = 12
};
#define DL_READ_ONLY ((uint64_t)1)

typedef struct dl_device {
  int32_t type;
  int32_t id;
} dl_device;

typedef struct dl_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} dl_dtype;

typedef struct dl_tensor {
  void* data;
  dl_device device;
  int32_t ndim;
  dl_dtype dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL: row-major */
  uint64_t byte_offset;
} dl_tensor;

/* Before 1.0: capsules named "dltensor". */
typedef struct dl_managed {
  dl_tensor tensor;
  void* context;
  void (*deleter)(struct dl_managed* self);
} dl_managed;

/* Since 1.0: capsules named "dltensor_versioned". */
typedef struct dl_managed_versioned {
  struct {
    uint32_t major;
    uint32_t minor;
  } version;
  void* context;
  void (*deleter)(struct dl_managed_versioned* self);
  uint64_t flags;
  dl_tensor tensor;
} dl_managed_versioned;

#endif /* SHARDWISE_PYTHON_DLPACK_H_ */
