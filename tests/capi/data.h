/* Files of tests/data, and of examples/data. */
#ifndef SHARDWISE_TESTS_CAPI_DATA_H_
#define SHARDWISE_TESTS_CAPI_DATA_H_

#include "shardwise/shardwise.h"

/* `name`: from the project's root on. The caller frees `data`; empty on failure, which is reported.
 */
shw_bytes read_data(const char* name);
void free_data(shw_bytes bytes);
/* Whether a blob is text that contains `text`; the blob is destroyed. */
int blob_says(shw_blob* blob, const char* text);

#endif
