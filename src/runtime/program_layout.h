// What the runtime takes for granted about a program's streams and its arena, in one place.
#pragma once
#include "plan/program.h"

namespace shw::runtime {

// Streams are numbered from 0, and a run begins and ends on stream 0.
inline size_t num_streams(const Program& program) { return program.streams.size(); }

// What offsets in the arena, and ports' memory that the executor allocates, are a multiple of.
inline int64_t arena_alignment(const Program& program) { return program.alignment; }

// By port, what its memory must be aligned to: its elements, or, where scratch lies in it until it
// is written, what the arena is.
using PortAlignments = IndexVec<PortId, int64_t>;
PortAlignments port_alignments(const Program& program);

// Bytes that the buffer of a port must have. 0 for a port without a value.
int64_t port_bytes(const Program& program, const Port& port);

}  // namespace shw::runtime
