#include "passes/rewrite.h"

namespace shw {
namespace {

constexpr uint32_t kRemoved = UINT32_MAX;

// Replaces flags by new numbers; returns the number of elements kept.
uint32_t number(std::vector<uint32_t>& used) {
  uint32_t next = 0;
  for (uint32_t& u : used) u = u != 0 ? next++ : kRemoved;
  return next;
}

void remove_steps(Program& p, const std::vector<uint8_t>& keep) {
  std::vector<ProgramStep> steps;
  steps.reserve(p.steps.size());
  for (ProgramEntry& e : p.entries) {
    const uint32_t first = static_cast<uint32_t>(steps.size());
    for (uint32_t i = e.first_step; i < e.first_step + e.num_steps; ++i)
      if (keep[i]) steps.push_back(std::move(p.steps[i]));
    e.first_step = first;
    e.num_steps = static_cast<uint32_t>(steps.size()) - first;
  }
  if (steps.size() != p.steps.size()) drop_fused_groups(p);
  p.steps = std::move(steps);
}

template <class F>
void for_each_value(Program& p, F&& f) {
  for (ProgramStep& s : p.steps)
    for (auto* list : {&s.inputs, &s.outputs})
      for (ValueId& v : *list)
        if (v.valid()) f(v);
  for (Port& port : p.ports)
    if (port.value.valid()) f(port.value);
}

void remove_values(Program& p) {
  std::vector<uint32_t> value(p.values.size(), 0), storage(p.storages.size(), 0);
  for_each_value(p, [&](ValueId v) { value[v.v] = 1; });
  for (uint32_t i = 0; i < p.values.size(); ++i)
    if (value[i]) storage[p.values[ValueId{i}].storage.v] = 1;
  const uint32_t values_left = number(value), storages_left = number(storage);
  const bool all_storages = storages_left == p.storages.size();
  IndexVec<ValueId, ProgramValue> values;
  values.reserve(values_left);
  for (uint32_t i = 0; i < p.values.size(); ++i) {
    if (value[i] == kRemoved) continue;
    ProgramValue v = p.values[ValueId{i}];
    v.storage.v = storage[v.storage.v];
    values.push_back(v);
  }
  IndexVec<StorageId, ProgramStorage> storages;
  storages.reserve(storages_left);
  for (uint32_t i = 0; i < p.storages.size(); ++i) {
    if (storage[i] == kRemoved) continue;
    ProgramStorage s = p.storages[StorageId{i}];
    if (!all_storages) s.offset_bytes = -1;
    storages.push_back(s);
  }
  for_each_value(p, [&](ValueId& v) { v.v = value[v.v]; });
  p.values = std::move(values);
  p.storages = std::move(storages);
  if (!all_storages) forget_memory_sizes(p);
}

void remove_events(Program& p) {
  std::vector<uint32_t> recorded(p.num_events, 0);
  for (const ProgramStep& s : p.steps)
    if (s.records != kNoEvent) recorded[s.records] = 1;
  p.num_events = number(recorded);
  for (ProgramStep& s : p.steps) {
    if (s.records != kNoEvent) s.records = recorded[s.records];
    erase_if(s.waits, [&](uint32_t e) { return recorded[e] == kRemoved; });
    for (uint32_t& e : s.waits) e = recorded[e];
  }
}

}  // namespace

void keep_steps(Program& program, const std::vector<uint8_t>& keep) {
  remove_steps(program, keep);
  remove_values(program);
  remove_events(program);
}

}  // namespace shw
