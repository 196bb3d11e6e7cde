/* Reads files of tests/data and of examples/data. */
#ifndef SHARDWISE_TESTS_CAPI_DATA_H_
#define SHARDWISE_TESTS_CAPI_DATA_H_

#include "shardwise/shardwise.h"

/* Reads the file `name`, a path relative to the project's root. The caller frees `data` with
 * free_data(). A failure is reported, and the result is empty. */
shw_bytes read_data(const char* name);
void free_data(shw_bytes bytes);
/* Returns whether a blob contains `text`, and destroys the blob. */
int blob_says(shw_blob* blob, const char* text);

#endif
