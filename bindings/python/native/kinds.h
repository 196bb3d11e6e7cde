/* The kinds of handles that the hand-written parts of the module use. clib.i defines them. */
#ifndef SHARDWISE_PYTHON_KINDS_H_
#define SHARDWISE_PYTHON_KINDS_H_

#include "handle.h"

extern const handle_kind kind_plan, kind_executor, kind_session, kind_device, kind_buffer;

#endif /* SHARDWISE_PYTHON_KINDS_H_ */
