/*
 * The C interface as a Python module. It reads the public headers: what they declare is declared
 * nowhere else. The files beside this one say how the kinds of parameters of the interface look in
 * Python: handles, records, arrays, bytes. What a run needs fast is written by hand in native/.
 */
%module(package="shardwise", threads="1") clib
%nothread; /* only calls that take long release the GIL: blocking.i */

%{
#include "shardwise/shardwise.h"

#include "error.h"
#include "handle.h"
#include "kinds.h"
#include "memory.h"
#include "run.h"
#include "runner.h"
#include "tensor.h"
%}

%include <stdint.i>
%include "status.i"
%include "handles.i"
%include "arrays.i"
%include "records.i"
%include "callbacks.i"
%include "blocking.i"
%include "constants.i"
%include "omitted.i"

%include "shardwise/base.h"
%include "shardwise/builder.h"
%include "shardwise/graph.h"
%include "shardwise/compile.h"
%include "shardwise/hardware.h"
%include "shardwise/plan.h"
%include "shardwise/program.h"
%include "shardwise/comparison.h"
%include "shardwise/planner.h"
%include "shardwise/explanation.h"
%include "shardwise/pareto.h"
%include "shardwise/recipes.h"
%include "shardwise/report.h"
%include "shardwise/search.h"
%include "shardwise/solution.h"
%include "shardwise/device.h"
%include "shardwise/world.h"
%include "shardwise/runtime.h"
%include "shardwise/runner.h"
%include "shardwise/verification.h"

%init %{
  if (handle_init(m) != 0 || tensor_init(m) != 0 || run_init(m) != 0 ||
      runner_init(m) != 0) return -1;
%}
