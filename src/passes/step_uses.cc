#include "passes/step_uses.h"

namespace shw {

std::vector<StepUses> step_uses(const Program& program) {
  std::vector<StepUses> uses(program.storages.size());
  for (uint32_t i = 0; i < program.steps.size(); ++i) {
    for (ValueId v : program.steps[i].inputs) {
      if (!v.valid()) continue;
      StepUses& use = uses[program.values[v].storage.v];
      use.last_reader = i;
      ++use.num_readers;
    }
    for (ValueId v : program.steps[i].outputs) {
      if (!v.valid()) continue;
      StepUses& use = uses[program.values[v].storage.v];
      if (use.num_writers == 0) use.first_writer = i;
      use.last_writer = i;
      ++use.num_writers;
    }
  }
  return uses;
}

}  // namespace shw
