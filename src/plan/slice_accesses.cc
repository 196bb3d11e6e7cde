#include "plan/slice_accesses.h"

#include <algorithm>

#include "plan/window.h"

namespace shw {

bool holds_slices(const SliceAccess& whole, const SliceAccess& part) {
  const Slice &w = *whole.slice, &p = *part.slice;
  if (!whole.type->contiguous() || !w.type.contiguous() || w.stride_bytes != p.stride_bytes)
    return false;
  const int64_t piece = w.type.bytes(), offset = part.begin - whole.begin;
  for (size_t l = 0; l < w.stride_bytes.size(); ++l)
    if (w.stride_bytes[l] < piece) return false;
  return offset >= 0 && offset + touched_bytes({p.type, {}, 0}).last <= piece;
}

namespace {

// Identifies a memory in which storages may share bytes. A storage elsewhere, or without an offset
// yet, is a memory of its own.
constexpr int64_t kArenaMemory = -1, kSessionMemory = -2;
int64_t memory_of(const Program& program, StorageId storage) {
  const ProgramStorage& s = program.storages[storage];
  if (s.offset_bytes < 0) return int64_t{storage.v};
  if (s.kind == StorageKind::kInOutput)
    return int64_t{program.values[program.ports[PortId{s.port}].value].storage.v};
  return s.kind == StorageKind::kArena     ? kArenaMemory
         : s.kind == StorageKind::kSession ? kSessionMemory
                                           : int64_t{storage.v};
}

bool share_bytes(const SliceAccess& a, const SliceAccess& b) {
  return a.memory == b.memory && a.begin < b.end && b.begin < a.end;
}

// Whether the order of two accesses matters only within a slice.
bool sliced_alike(const SliceAccess& a, const SliceAccess& b) {
  if (a.slice == nullptr || b.slice == nullptr) return false;
  if (holds_slices(a, b) || holds_slices(b, a)) return true;
  return a.begin == b.begin && *a.type == *b.type &&
         a.slice->stride_bytes == b.slice->stride_bytes && a.slice->type == b.slice->type &&
         std::ranges::find(a.slice->stride_bytes, 0) == a.slice->stride_bytes.end();
}

bool only_here(const SliceAccesses& accesses, const UseCounts& uses, const SliceAccess& writer) {
  size_t here = 0;
  for (const SliceAccess& a : accesses) {
    if (a.storage != writer.storage) continue;
    if (a.slice == nullptr || (a.writes && &a != &writer) || a.step < writer.step ||
        !holds_slices(writer, a))
      return false;
    ++here;
  }
  return here == uses[writer.storage];
}

}  // namespace

void add_accesses(const Program& program, uint32_t step, const SlicedStep* sliced,
                  SliceAccesses& accesses) {
  const ProgramStep& s = program.steps[step];
  for (const bool writes : {false, true}) {
    const ValueList& values = writes ? s.outputs : s.inputs;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].valid()) continue;
      const ProgramValue& v = program.values[values[i]];
      const int64_t memory = memory_of(program, v.storage);
      const ProgramStorage& storage = program.storages[v.storage];
      const bool is_shared = memory < 0 || storage.kind == StorageKind::kInOutput;
      const int64_t place = is_shared ? storage.offset_bytes : 0;
      const ByteRange range = touched_bytes(v);
      const Slice* slice =
          sliced == nullptr ? nullptr : &(writes ? sliced->outputs : sliced->inputs)[i];
      accesses.push_back({step, writes, slice, v.storage, memory, place + range.first,
                          place + range.last, &v.type});
    }
  }
}

UseCounts count_uses(const Program& program) {
  UseCounts uses(program.storages.size(), 0);
  for (const ProgramStep& step : program.steps)
    for (const auto* values : {&step.inputs, &step.outputs})
      for (const ValueId v : *values)
        if (v.valid()) ++uses[program.values[v].storage];
  return uses;
}

std::vector<const SliceAccess*> find_temporaries(const Program& program, const UseCounts& uses,
                                                 SliceAccesses& accesses) {
  std::vector<const SliceAccess*> writers;
  for (const SliceAccess& a : accesses)
    if (const StorageKind kind = program.storages[a.storage].kind;
        a.writes && a.slice != nullptr &&
        (kind == StorageKind::kArena || kind == StorageKind::kGroup) &&
        only_here(accesses, uses, a))
      writers.push_back(&a);
  for (SliceAccess& a : accesses)
    a.is_temporary =
        std::ranges::any_of(writers, [&](const SliceAccess* w) { return w->storage == a.storage; });
  return writers;
}

uint32_t first_conflict(const SliceAccesses& accesses) {
  uint32_t first = kNoStep;
  for (const SliceAccess& a : accesses) {
    if (a.is_temporary) continue;
    for (const SliceAccess& b : accesses) {
      if (b.is_temporary || b.slice == nullptr) continue;  // without slices: it runs behind them
      if (b.step <= a.step || b.step >= first || (!a.writes && !b.writes) || !share_bytes(a, b))
        continue;
      if (!sliced_alike(a, b)) first = b.step;
    }
  }
  return first;
}

}  // namespace shw
