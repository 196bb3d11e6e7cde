// Results of groups of fused steps that take the place of what the group reads for the last time.
//
// A group touches all of its tensors at once, so none of them may lie in the place of another one:
// but the last step of a group may write each slice to where an earlier step of the group has read
// the same slice, if nobody reads it later. The line is in the cache then, so that the memory is
// read and written once, where a place of its own is read too before it is written.
#pragma once
#include <vector>

#include "plan/program.h"

namespace shw {

struct TakeOver {
  StorageId before, after;  // both of the arena, and equally large
};
// In the order of the groups: what was taken over may be taken over again.
std::vector<TakeOver> take_overs(const Program& program);

}  // namespace shw
