// The lifetime of each storage over all streams: from the first step that touches it until all
// steps that touch it are known to be over.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "groups/form_groups.h"
#include "plan/program.h"

namespace shw {

struct Life {
  uint32_t storage = 0;
  uint32_t begin = UINT32_MAX, end = 0;  // half-open: [begin, end)
  int64_t bytes = 0;                     // including padding
  int64_t offset = 0;
  bool meets(const Life& o) const { return begin < o.end && o.begin < end; }
};

// `kind`: kArena, kHost or kGroup. A storage that a group of fused steps touches is live from the
// first to the last step of the group.
std::vector<Life> lives_of(const Program& program, StorageKind kind = StorageKind::kArena);

// The lifetimes of arena storages as they will be once these groups are formed.
std::vector<Life> lives_of(const Program& program, const GroupsToCome& groups);

// By step: the sum of all live bytes.
std::vector<int64_t> live_bytes(const std::vector<Life>& lives, size_t num_steps);
// The maximum live bytes of the arena at a step, in the present order of the steps.
int64_t live_peak_bytes(const Program& program);
// A lower bound on that peak after scheduling and grouping. A storage that compute steps touch well
// before a step and well after it is live there, because compute steps keep their order, except
// that groups move some of them a little.
int64_t least_peak_bytes(const Program& program);

struct StepWindow {
  uint32_t begin, end;
};
// Disjoint windows in ascending order that extend `margin` steps around each of these lifetimes.
std::vector<StepWindow> windows_around(std::span<const Life> lives,
                                       const std::vector<uint32_t>& which, uint32_t margin);

}  // namespace shw
