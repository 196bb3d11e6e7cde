// A simulation as Chrome trace events, which ui.perfetto.dev opens: when each step of a rank runs,
// how many bytes are live, which step makes the operand of a collective, and which step reads its
// result.
//
// All ranks run the same program at the same prices, so one process stands for all of them. It has
// a track for each queue and a counter of live bytes. Entries stand one after another.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "plan/program.h"

namespace shw {

// A node of the input graph.
struct TraceNode {
  std::string name, module;  // "layers.0.attention.wq"; empty: none
};

// `entries`: indices into Program::entries. `nodes`: indexed by ProgramStep::node; empty: the names
// are unknown.
std::string trace_json(const Program& program, std::span<const uint32_t> entries,
                       std::span<const TraceNode> nodes);

}  // namespace shw
