// dead-steps: removes steps whose results are never read and that write no output, and unreferenced
// values and storages.
//
//   %3 = mm(%0, %1); %4 = exp(%3); return %3      ⇒      %3 = mm(%0, %1); return %3
//
// Collectives may be removed like any other step: all ranks run the same program, so all remove it.
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace shw {
namespace {

Result<uint32_t> run_dead_steps(Program& p, const PassOptions&, Monitor& monitor) {
  // Backwards: a storage is live if a remaining step reads it.
  std::vector<uint8_t> keep(p.steps.size(), 0), wanted(p.storages.size(), 0);
  for (uint32_t i = 0; i < p.storages.size(); ++i)
    wanted[i] = !is_placed(p.storages[StorageId{i}].kind);
  for (size_t i = p.steps.size(); i-- > 0;) {
    if (i % 4096 == 0) SHW_RETURN_IF_ERROR(monitor.poll());
    for (ValueId v : p.steps[i].outputs)
      if (v.valid() && wanted[p.values[v].storage.v]) keep[i] = 1;
    if (!keep[i]) continue;
    for (ValueId v : p.steps[i].inputs)
      if (v.valid()) wanted[p.values[v].storage.v] = 1;
  }
  uint32_t removed = 0;
  for (uint8_t k : keep) removed += !k;
  const size_t values = p.values.size();
  keep_steps(p, keep);
  return removed + static_cast<uint32_t>(values - p.values.size());
}

}  // namespace

extern const PassDef kDeadSteps;
constinit const PassDef kDeadSteps = {
    "dead-steps", "Removes steps, values and storages that no output needs.", run_dead_steps};

}  // namespace shw
