#include "compiler/reserve.h"

#include <algorithm>

#include "ops/op_def.h"
#include "passes/lifetimes.h"

namespace shw {
namespace {

// By node of the caller's graph, the most bytes that the program holds at a step of that node.
// Includes the gaps of the arena, which are there throughout.
std::vector<double> held_at_nodes(const Program& program, double program_bytes) {
  const std::vector<int64_t> live = live_bytes(lives_of(program), program.steps.size());
  const double others = program_bytes - static_cast<double>(program.live_peak_bytes);
  std::vector<double> held;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const uint32_t node = program.steps[i].node;
    if (node == UINT32_MAX) continue;
    if (node >= held.size()) held.resize(node + 1, 0);
    held[node] = std::max(held[node], others + static_cast<double>(live[i]));
  }
  return held;
}

}  // namespace

std::vector<double> bytes_above_plan(const PreparedModel& model, const Placed& placed,
                                     double limit_bytes) {
  const std::vector<double> held = held_at_nodes(*placed.program, placed.memory.program_bytes);
  const std::vector<double> planned = model.memory().bytes_at_points(placed.choice);
  std::vector<double> above(planned.size(), 0);
  bool any = false;
  for (uint32_t i = 0; i < planned.size(); ++i) {
    const OpKind op = model.graph().op(NodeId{i});
    if (op != OpKind::kInput && op_def(op).is_view) continue;  // no step is its own
    const uint32_t node = model.graph().origin(NodeId{i}).v;
    if (node >= held.size() || held[node] <= limit_bytes || held[node] <= planned[i]) continue;
    above[i] = held[node] - planned[i];
    any = true;
  }
  if (!any) above.clear();
  return above;
}

}  // namespace shw
