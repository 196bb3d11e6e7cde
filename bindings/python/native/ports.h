/* The data of an entry's ports that runs need, read from the plan once. */
#ifndef SHARDWISE_PYTHON_PORTS_H_
#define SHARDWISE_PYTHON_PORTS_H_

#include <stddef.h>
#include <stdint.h>

#include "shardwise/shardwise.h"

typedef struct port_info {
  size_t port;
  const char* name; /* as are dims, lent by the plan */
  const int64_t* dims;
  int32_t rank;
  shw_dtype dtype;
  int present;
  /* One element for each local rank. The whole tensor consists of equal contiguous parts, and the
   * rank's piece is the part of this number, so inputs need no copy. NULL: pieces must be copied.
   */
  int64_t* places;
  int64_t piece_bytes;
  const int64_t* local_dims;
  int whole_is_piece; /* every rank has the whole tensor: outputs need no copy */
} port_info;

typedef struct entry_info {
  size_t num_inputs, num_outputs;
  port_info* inputs;
  port_info* outputs;
} entry_info;

/* Reads entry number `entry` for these ranks. NULL: success; entry_free() in any case. */
shw_status* entry_read(const shw_plan* plan, size_t entry, const int32_t* ranks, size_t num_ranks,
                       entry_info* out_info);
void entry_free(entry_info* info);

#endif /* SHARDWISE_PYTHON_PORTS_H_ */
