// plan-memory: assigns every scratch storage an offset in a single arena, and every storage of host
// memory one there.
//
// A storage is live from the first step that touches it until all steps that touch it are known to
// be complete, on every stream. So the operand of a collective is live until the compute stream has
// waited for the collective. Storages with disjoint lifetimes may share bytes.
//
// Storages that only one group of fused steps touches have no place in the arena; a backend without
// groups allocates separate memory for them. Steps of a group run at once, so the other storages
// that it touches are live during all of its steps.
//
// If outputs may lend their memory, storages are placed there first (lend_outputs.h). pack.h
// chooses the offsets of the others. Storages that entries leave for later entries lie in a
// separate session arena, or in one of host memory.
#include <algorithm>

#include "passes/lend_outputs.h"
#include "passes/lifetimes.h"
#include "passes/pack.h"
#include "passes/pass.h"

namespace shw {
namespace {

// Places the storages of sessions one after another, since all are live when the entry that writes
// them ends.
void place_sessions(Program& p) {
  p.session_bytes = p.host_session_bytes = 0;
  for (ProgramStorage& s : p.storages) {
    if (!is_in_session(s.kind)) continue;
    int64_t& bytes = is_in_host(s.kind) ? p.host_session_bytes : p.session_bytes;
    s.offset_bytes = bytes;
    bytes += padded_bytes(p, s.bytes);
  }
}

struct Memory {
  int64_t bytes = 0, live_peak_bytes = 0;
};
Result<Memory> place(Program& p, StorageKind kind, int64_t enough_bytes, int64_t fitting_bytes,
                     Monitor& monitor) {
  std::vector<Life> lives = lives_of(p, kind);
  const std::vector<int64_t> live = live_bytes(lives, p.steps.size());
  Memory memory{.live_peak_bytes = *std::ranges::max_element(live)};
  SHW_ASSIGN_OR_RETURN(memory.bytes, pack(lives, live, enough_bytes, fitting_bytes, monitor));
  for (const Life& l : lives) p.storages[StorageId{l.storage}].offset_bytes = l.offset;
  return memory;
}

Status place_all(Program& p, const PassOptions& o, Monitor& monitor) {
  Memory host, groups;
  const bool uses_host = std::ranges::any_of(
      p.storages, [](const ProgramStorage& s) { return s.kind == StorageKind::kHost; });
  if (uses_host) {
    SHW_ASSIGN_OR_RETURN(host, place(p, StorageKind::kHost, 0, INT64_MAX, monitor));
  }
  if (!p.fused_groups.empty()) {
    SHW_ASSIGN_OR_RETURN(groups, place(p, StorageKind::kGroup, 0, INT64_MAX, monitor));
  }
  place_sessions(p);
  take_back_outputs(p);
  if (o.lends_outputs) lend_outputs(p);
  const int64_t enough =
      o.enough_bytes > 0 ? std::max<int64_t>(o.enough_bytes - p.session_bytes, 1) : 0;
  const int64_t fitting =
      o.fitting_bytes < INT64_MAX ? o.fitting_bytes - p.session_bytes : INT64_MAX;
  SHW_ASSIGN_OR_RETURN(const Memory arena, place(p, StorageKind::kArena, enough, fitting, monitor));
  p.arena_bytes = arena.bytes;
  p.live_peak_bytes = arena.live_peak_bytes;
  p.host_bytes = host.bytes;
  p.group_bytes = groups.bytes;
  return {};
}

// Returns the number of storages whose place changed.
Result<uint32_t> run_plan_memory(Program& p, const PassOptions& options, Monitor& monitor) {
  const IndexVec<StorageId, ProgramStorage> before = p.storages;
  SHW_RETURN_IF_ERROR(place_all(p, options, monitor));
  uint32_t changed = 0;
  for (uint32_t i = 0; i < before.size(); ++i)
    changed += before[StorageId{i}] != p.storages[StorageId{i}];
  return changed;
}

}  // namespace

extern const PassDef kPlanMemory;
constinit const PassDef kPlanMemory = {
    "plan-memory", "Gives every scratch storage its place in one arena.", run_plan_memory};

}  // namespace shw
