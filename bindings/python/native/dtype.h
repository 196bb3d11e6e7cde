/* Element types: the library's, those of the buffer protocol and those of DLPack. */
#ifndef SHARDWISE_PYTHON_DTYPE_H_
#define SHARDWISE_PYTHON_DTYPE_H_

#include <stddef.h>

#include "dlpack.h"
#include "shardwise/shardwise.h"

const char* dtype_name(shw_dtype dtype); /* "f32"; "?" for an unknown number */
size_t dtype_size(shw_dtype dtype);      /* bytes; 0 for an unknown number */
const char* dtype_format(
    shw_dtype dtype); /* of the struct module; NULL: there is none (bf16, f8) */
shw_dtype dtype_of_format(const char* format, size_t size); /* 0: not a type of the library */
dl_dtype dtype_to_dlpack(shw_dtype dtype);
shw_dtype dtype_of_dlpack(dl_dtype dtype); /* 0: not a type of the library */

#endif /* SHARDWISE_PYTHON_DTYPE_H_ */
