/* Must not compile: the status is lost. */
#include "shardwise/shardwise.h"

void dropped(shw_cancel** cancel);
void dropped(shw_cancel** cancel) { shw_cancel_create(cancel); }
