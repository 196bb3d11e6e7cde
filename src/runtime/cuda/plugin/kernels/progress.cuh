// Tells the host how far a stream has come in a graph: the driver answers for events outside graphs
// only.
#pragma once
#include "device.cuh"

// One stream at a time counts; the host reads.
SHW_KERNEL shw_count_up(unsigned* counter) {
  if (shw::runtime::cuda::thread_number() == 0) atomicExch(counter, *counter + 1);
}
