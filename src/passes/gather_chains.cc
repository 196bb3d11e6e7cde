#include "passes/gather_chains.h"

#include <algorithm>

#include "passes/step_uses.h"

namespace shw {
namespace {

bool is_gather(const ProgramStep& s) { return s.collective.kind == CollectiveKind::kAllGather; }

}  // namespace

uint32_t fuse_gather_chains(Program& p, const FusePrices& prices) {
  const std::vector<StepUses> uses = step_uses(p);
  uint32_t fused = 0;
  for (uint32_t i = 0; i < p.steps.size(); ++i) {
    ProgramStep& second = p.steps[i];
    if (!is_gather(second) || !p.lies_in(second.inputs[0], StorageKind::kArena)) continue;
    const StepUses& between = uses[p.values[second.inputs[0]].storage.v];
    if (between.num_writers != 1 || between.num_readers != 1) continue;
    const ProgramStep& first = p.steps[between.last_writer];
    if (!is_gather(first) || !is_whole(p, first.outputs[0]) || !is_whole(p, second.inputs[0]) ||
        !is_whole(p, second.outputs[0]))
      continue;
    std::vector<uint8_t> axes = second.collective.axes;  // outermost first
    axes.insert(axes.end(), first.collective.axes.begin(), first.collective.axes.end());
    // An optimizer may have updated a parameter in place between the two.
    if (!uses[p.values[first.inputs[0]].storage.v].keeps(between.last_writer, i)) continue;
    const TensorType& operand = p.values[first.inputs[0]].type;
    const TensorType gathered = p.values[second.outputs[0]].type;
    // A combined group is never dearer than its parts: redistribution/redistributor.h.
    const double us =
        std::min(prices.collective_us(CollectiveKind::kAllGather, mask_of(axes), gathered.bytes()),
                 first.cost_us + second.cost_us);
    Dims shape = operand.shape;
    shape.insert(0, gathered.bytes() / operand.bytes());
    const ValueId out = p.values.push_back(
        {row_major(gathered.dtype, shape), p.values[second.outputs[0]].storage, 0});
    second.inputs = {first.inputs[0]};
    second.outputs = {out};
    second.collective.axes = std::move(axes);
    second.cost_us = us;
    second.recomputed = second.recomputed || first.recomputed;
    second.basis = std::max(first.basis, second.basis);
    ++fused;
  }
  return fused;
}

}  // namespace shw
