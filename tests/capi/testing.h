/* Expectations for the C tests. One that does not hold prints its place, and the test continues. */
#ifndef SHARDWISE_TESTS_CAPI_TESTING_H_
#define SHARDWISE_TESTS_CAPI_TESTING_H_

#include "shardwise/shardwise.h"

#define EXPECT(condition) expect_((condition) != 0, __FILE__, __LINE__, #condition)
/* Destroys the status. If its code is not the expected one, its message is printed. */
#define EXPECT_OK(status) expect_code_((status), SHW_OK, NULL, __FILE__, __LINE__)
#define EXPECT_CODE(status, code) expect_code_((status), (code), NULL, __FILE__, __LINE__)
/* The same; in addition the message must contain `text`. */
#define EXPECT_REFUSED(status, code, text) \
  expect_code_((status), (code), (text), __FILE__, __LINE__)

/* Both return whether the expectation held. */
int expect_(int holds, const char* file, int line, const char* text);
int expect_code_(shw_status* status, shw_code code, const char* text, const char* file, int line);

/* The number of expectations that did not hold, which main() returns. */
int test_result(void);

shw_context* new_context(void);

#endif
