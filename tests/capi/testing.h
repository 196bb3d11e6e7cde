/* What the C tests share: expectations that say where they failed, and go on. */
#ifndef SHARDWISE_TESTS_CAPI_TESTING_H_
#define SHARDWISE_TESTS_CAPI_TESTING_H_

#include "shardwise/shardwise.h"

#define EXPECT(condition) expect_((condition) != 0, __FILE__, __LINE__, #condition)
/* The status is destroyed; its message is printed if it is not what was expected. */
#define EXPECT_OK(status) expect_code_((status), SHW_OK, NULL, __FILE__, __LINE__)
#define EXPECT_CODE(status, code) expect_code_((status), (code), NULL, __FILE__, __LINE__)
/* The message must contain `text`. */
#define EXPECT_REFUSED(status, code, text) \
  expect_code_((status), (code), (text), __FILE__, __LINE__)

/* All return whether the expectation held. */
int expect_(int holds, const char* file, int line, const char* text);
int expect_code_(shw_status* status, shw_code code, const char* text, const char* file, int line);

/* Number of expectations that did not hold, as main() returns it. */
int test_result(void);

shw_context* new_context(void);

#endif
