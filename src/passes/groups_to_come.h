// The groups that fuse-steps would form of the steps as they stand.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace shw {

struct GroupsToCome {
  // By step: from the first to the last of its group, with what stands between; or the step itself
  // twice.
  std::vector<StepSpan> spans;
  std::vector<uint8_t> sees_alone;  // by storage: a group sees it alone, so it takes no memory
};
// They end at events. Where the program has none yet, only the first step of a group is to wait
// (streams.h).
GroupsToCome groups_to_come(const Program& program);

}  // namespace shw
