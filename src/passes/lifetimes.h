// From when to when each storage must hold its bytes, on all streams together: from the
// first step that touches it until all steps that touch it are known to be over.
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

// `kind`: kArena, kHost or kGroup. What a group of fused steps touches lives from its first step to
// its last.
std::vector<Life> lives_of(const Program& program, StorageKind kind = StorageKind::kArena);

// Of the arena, once these groups are formed.
std::vector<Life> lives_of(const Program& program, const GroupsToCome& groups);

// By step: the bytes of all that live.
std::vector<int64_t> live_bytes(const std::vector<Life>& lives, size_t num_steps);
// The most at a step, of the arena, in the order that the steps have now.
int64_t live_peak_bytes(const Program& program);
// Before the schedule and groups, which cannot make the peak less: what steps of compute touch well
// before another one and well behind it lives there. They stay in their order, but for what groups
// move a little.
int64_t least_peak_bytes(const Program& program);

struct StepWindow {
  uint32_t begin, end;
};
// Disjoint, and in their order: so many steps around each of these lifetimes.
std::vector<StepWindow> windows_around(std::span<const Life> lives,
                                       const std::vector<uint32_t>& which, uint32_t margin);

}  // namespace shw
