#include "passes/group_units.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace shw {

GroupUnits::GroupUnits(Program& program)
    : p_(program), uses_(program.storages.size()), counts_(count_uses(program)) {
  auto group = p_.fused_groups.begin();
  for (const ProgramEntry& e : p_.entries) {
    first_of_entry_.push_back(size());
    for (uint32_t s = e.first_step; s < e.first_step + e.num_steps;) {
      GroupUnit unit;
      uint32_t end = s + 1;
      if (group != p_.fused_groups.end() && group->first_step == s) {
        unit.shape = group->shape;
        unit.slices = group->slices;
        end = s + group->num_steps;
        ++group;
      }
      for (; s < end; ++s) unit.steps.push_back(std::move(p_.steps[s]));
      units_.push_back(std::move(unit));
      note_uses(size() - 1);
    }
  }
}

void GroupUnits::write_back() {
  p_.steps.clear();
  p_.fused_groups.clear();
  uint32_t u = 0;
  for (size_t e = 0; e < p_.entries.size(); ++e) {
    const uint32_t end = e + 1 < p_.entries.size() ? first_of_entry_[e + 1] : size();
    p_.entries[e].first_step = static_cast<uint32_t>(p_.steps.size());
    for (; u < end; ++u) {
      GroupUnit& unit = units_[u];
      if (unit.is_group())
        p_.fused_groups.push_back({static_cast<uint32_t>(p_.steps.size()),
                                   static_cast<uint32_t>(unit.steps.size()), unit.shape,
                                   unit.slices});
      std::ranges::move(unit.steps, std::back_inserter(p_.steps));
    }
    p_.entries[e].num_steps = static_cast<uint32_t>(p_.steps.size()) - p_.entries[e].first_step;
  }
}

void GroupUnits::note_uses(uint32_t u) {
  for (const ProgramStep& step : units_[u].steps) {
    for (const ValueId v : step.inputs) {
      if (!v.valid()) continue;
      std::vector<uint32_t>& readers = uses_[p_.values[v].storage.v].readers;
      const auto at = std::ranges::lower_bound(readers, u);
      if (at == readers.end() || *at != u) readers.insert(at, u);
    }
    for (const ValueId v : step.outputs) {
      if (!v.valid()) continue;
      UnitUses& uses = uses_[p_.values[v].storage.v];
      if (uses.num_writers++ == 0) uses.writer = u;
    }
  }
}

void GroupUnits::forget_uses(uint32_t u) {
  for (const ProgramStep& step : units_[u].steps) {
    for (const ValueId v : step.inputs)
      if (v.valid()) std::erase(uses_[p_.values[v].storage.v].readers, u);
    for (const ValueId v : step.outputs) {
      if (!v.valid()) continue;
      UnitUses& uses = uses_[p_.values[v].storage.v];
      if (--uses.num_writers == 0) uses.writer = kNoUnit;
    }
  }
}

void GroupUnits::count(const std::vector<ProgramStep>& steps, bool more) {
  for (const ProgramStep& step : steps)
    for (const auto* values : {&step.inputs, &step.outputs})
      for (const ValueId v : *values)
        if (v.valid()) {
          uint32_t& n = counts_[p_.values[v].storage];
          n = more ? n + 1 : n - 1;
        }
}

const ProgramStep* GroupUnits::writer(StorageId s) const {
  const UnitUses& uses = uses_[s.v];
  if (uses.num_writers != 1) return nullptr;
  for (const ProgramStep& step : units_[uses.writer].steps)
    for (const ValueId v : step.outputs)
      if (v.valid() && p_.values[v].storage == s) return &step;
  return nullptr;
}

std::vector<StorageId> GroupUnits::temporaries_of(const GroupUnit& unit,
                                                  std::vector<ProgramStep>& steps, bool& runs) {
  p_.steps.swap(steps);
  std::vector<SlicedStep> sliced(p_.steps.size());
  SliceAccesses accesses;
  runs = p_.steps.size() > 1;
  bool has_shape = false;
  for (uint32_t s = 0; runs && s < p_.steps.size(); ++s) {
    const Dims shape = loop_shape(p_, p_.steps[s]);
    auto cut = shape.empty() ? std::nullopt : slice_step(p_, p_.steps[s], unit.slices);
    runs = cut.has_value();
    if (!runs) break;
    has_shape |= shape == unit.shape;
    sliced[s] = std::move(*cut);
    add_accesses(p_, s, &sliced[s], accesses);
  }
  std::vector<StorageId> temporaries;
  if (runs)
    for (const SliceAccess* w : find_temporaries(p_, counts_, accesses))
      temporaries.push_back(w->storage);
  runs = runs && has_shape && first_conflict(accesses) == kNoStep;
  p_.steps.swap(steps);
  return temporaries;
}

bool GroupUnits::replace(uint32_t u, std::vector<ProgramStep>& steps) {
  GroupUnit& unit = units_[u];
  uses_.resize(p_.storages.size());
  while (counts_.size() < p_.storages.size()) counts_.push_back(0);
  count(unit.steps, false);
  count(steps, true);
  bool runs = false;
  const std::vector<StorageId> found = temporaries_of(unit, steps, runs);
  for (const ProgramStep& step : steps)  // storages that only the group uses stay its own
    for (const ValueId v : step.outputs)
      runs = runs && (!p_.lies_in(v, StorageKind::kGroup) ||
                      std::ranges::find(found, p_.values[v].storage) != found.end());
  if (!runs) {
    count(steps, false);
    count(unit.steps, true);
    return false;
  }
  forget_uses(u);
  unit.steps.swap(steps);
  note_uses(u);
  return true;
}

void GroupUnits::settle(StorageId s) {
  const uint32_t u = uses_[s.v].writer;
  if (u == kNoUnit || !units_[u].is_group()) return;
  bool runs = false;
  for (const StorageId t : temporaries_of(units_[u], units_[u].steps, runs))
    p_.storages[t].kind = StorageKind::kGroup;
}

bool GroupUnits::remove_writer(StorageId s) {
  const uint32_t u = uses_[s.v].writer;
  std::vector<ProgramStep> steps = units_[u].steps, removed;
  const auto remove = [&](size_t k) {
    ProgramStep& step = steps[k];
    // Only the first step of a unit waits, and only the last one records.
    if (!step.waits.empty() && k + 1 < steps.size()) std::swap(steps[k + 1].waits, step.waits);
    if (step.records != kNoEvent && k > 0) std::swap(steps[k - 1].records, step.records);
    removed.push_back(std::move(step));
    steps.erase(steps.begin() + static_cast<ptrdiff_t>(k));
  };
  for (size_t k = steps.size(); k-- > 0;)
    if (steps[k].outputs.size() == 1 && steps[k].outputs[0].valid() &&
        is_left_by(p_.values[steps[k].outputs[0]].storage, u, steps))
      remove(k);
  if (removed.empty()) return false;
  for (const ProgramStep& r : removed) {
    if (!r.waits.empty() || r.records != kNoEvent) return false;
    // Operands that lose their last reader must be written by this unit, since other units may have
    // events.
    for (const ValueId v : r.inputs)
      if (v.valid() && uses_[p_.values[v].storage.v].writer != u &&
          is_left_by(p_.values[v].storage, u, steps))
        return false;
  }
  if (!(steps.size() < 2 ? dissolve(u, steps) : replace(u, steps))) return false;
  for (const ProgramStep& r : removed) {
    removed_us_ += r.cost_us;
    for (const ValueId v : r.inputs)
      if (v.valid()) settle(p_.values[v].storage);
  }
  return true;
}

void GroupUnits::take_over_price(uint32_t u) {
  units_[u].steps[0].cost_us += std::exchange(removed_us_, 0.0);
}

// Whether neither another unit nor these steps of the unit read the scratch.
bool GroupUnits::is_left_by(StorageId s, uint32_t u, const std::vector<ProgramStep>& steps) const {
  const auto is = [&](ValueId v) { return v.valid() && p_.values[v].storage == s; };
  return is_scratch(s) &&
         std::ranges::all_of(uses_[s.v].readers, [&](uint32_t r) { return r == u; }) &&
         std::ranges::none_of(
             steps, [&](const ProgramStep& step) { return std::ranges::any_of(step.inputs, is); });
}

// Handles a unit with at most one step left.
bool GroupUnits::dissolve(uint32_t u, std::vector<ProgramStep>& steps) {
  for (const ProgramStep& step : steps)
    for (const ValueId v : step.outputs)
      if (p_.lies_in(v, StorageKind::kGroup)) return false;
  GroupUnit& unit = units_[u];
  count(unit.steps, false);
  forget_uses(u);
  unit = {std::move(steps), {}, {}};
  count(unit.steps, true);
  note_uses(u);
  return true;
}

bool GroupUnits::is_scratch(StorageId s) const {
  const StorageKind kind = p_.storages[s].kind;
  return kind == StorageKind::kArena || kind == StorageKind::kGroup;
}

}  // namespace shw
