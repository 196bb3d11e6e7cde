// The runtime's assumptions about a program's streams and arena, in one place.
#pragma once
#include "plan/program.h"

namespace shw::runtime {

// Streams are numbered from 0, and a run begins and ends on stream 0.
inline size_t num_streams(const Program& program) { return program.streams.size(); }

// The alignment of offsets in the arena, and of port memory that the executor allocates.
inline int64_t arena_alignment(const Program& program) { return program.alignment; }

// The required alignment of each port's memory: that of its elements, or that of the arena if the
// memory also holds temporaries before the port is written.
using PortAlignments = IndexVec<PortId, int64_t>;
PortAlignments port_alignments(const Program& program);

// The minimum size of a port's buffer in bytes; 0 for a port without a value.
int64_t port_bytes(const Program& program, const Port& port);

}  // namespace shw::runtime
