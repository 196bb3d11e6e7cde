// Tells the host how far a stream has come in a graph: the driver answers for events outside graphs
// only.
#pragma once
#include "device.cuh"

// One thread, and one stream at a time; the host reads.
SHW_KERNEL shw_count_up(unsigned* counter) { atomicExch(counter, *counter + 1); }
