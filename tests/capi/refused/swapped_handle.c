/* Must not compile: a plan is no blob. */
#include "shardwise/shardwise.h"

void swapped(shw_plan* plan);
void swapped(shw_plan* plan) { shw_blob_destroy(plan); }
