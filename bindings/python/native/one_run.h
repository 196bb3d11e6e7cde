/*
 * One run of an entry on the local ranks: its inputs, its outputs, and its end. Runner.run and
 * Runner.start go through the same steps: open the inputs, make the pieces, enqueue, wait, take the
 * outputs.
 */
#ifndef SHARDWISE_PYTHON_ONE_RUN_H_
#define SHARDWISE_PYTHON_ONE_RUN_H_

#include <Python.h>

#include "end_of_run.h"
#include "ports.h"
#include "tensor.h"

/* Data that the runs of a runner share. */
typedef struct local_ranks {
  const shw_plan* plan;
  shw_executor** executors;
  int32_t* ranks;
  size_t count;
  int are_all;  /* no rank is of another process */
  int in_place; /* the device uses host memory: pieces and results need no copy */
} local_ranks;

typedef struct one_run {
  const local_ranks* on;
  const entry_info* entry;
  tensor_view* views; /* of inputs that are viewed */
  size_t num_views;
  shw_buffer** inputs;  /* ranks × inputs */
  char* owned;          /* by input: 1 if this run created it */
  shw_buffer** outputs; /* ranks × outputs */
  end_of_run* end;
} one_run;

/* 0, or -1 with an exception; one_run_free() in any case. */
int one_run_begin(one_run* run, const local_ranks* on, const entry_info* entry, uint64_t epoch);
void one_run_free(one_run* run);

/* Views whole tensors, and takes pieces that the caller made. 0, or -1 with an exception. */
int one_run_open_inputs(one_run* run, PyObject* inputs);

/* Releases the views and the inputs that this run created. A run in flight continues with copies;
 * lent memory must stay valid until its end. */
void one_run_close_inputs(one_run* run);

/* Splits whole tensors into pieces: in place, if that is possible and `may_lend` is 1, otherwise as
 * copies. Call without the GIL. */
shw_status* one_run_make_pieces(one_run* run, shw_device* device, int may_lend);

/* Starts all ranks. If one cannot begin, those that have begun are stopped. Call without the GIL.
 */
shw_status* one_run_enqueue(one_run* run, size_t entry, shw_session* const* sessions);

/* Call once the run has ended without error. Returns the outputs: whole if `gather` is 1 and that
 * is possible, otherwise as tuples of pieces. They can be taken only once. NULL with an exception.
 */
PyObject* one_run_take_outputs(one_run* run, int gather);

#endif /* SHARDWISE_PYTHON_ONE_RUN_H_ */
