/* Tests of runners, which run_test.c runs after those of executors. */
#ifndef SHARDWISE_TESTS_CAPI_RUNNERS_H_
#define SHARDWISE_TESTS_CAPI_RUNNERS_H_

#include "shardwise/shardwise.h"

/* `plan`: a plan of mlp_plan(). */
void runners_work(shw_context* context, const shw_plan* plan);

#endif
