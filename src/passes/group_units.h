// A program as the units that a backend launches: groups of fused steps and single steps, with the
// writers and readers of each storage. Steps can be added to a group, or removed from it.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/program.h"
#include "plan/slice_accesses.h"

namespace shw {

// A group of fused steps, or one step.
struct GroupUnit {
  std::vector<ProgramStep> steps;
  Dims shape, slices;  // as FusedGroup; empty: one step
  bool is_group() const { return !slices.empty(); }
};

inline constexpr uint32_t kNoUnit = UINT32_MAX;

// Which units use a storage.
struct UnitUses {
  uint32_t writer = kNoUnit;      // the first one
  uint32_t num_writers = 0;       // steps
  std::vector<uint32_t> readers;  // ascending
  uint32_t last() const { return readers.empty() ? writer : readers.back(); }
};

class GroupUnits {
 public:
  // Moves the steps out of the program.
  explicit GroupUnits(Program& program);
  // Moves them back.
  void write_back();

  uint32_t size() const { return static_cast<uint32_t>(units_.size()); }
  const GroupUnit& unit(uint32_t u) const { return units_[u]; }
  const UnitUses& uses(StorageId s) const { return uses_[s.v]; }
  // Whether it is scratch: in the arena, or of a group.
  bool is_scratch(StorageId s) const;
  // Whether all steps that wrote it have been removed.
  bool is_gone(StorageId s) const { return s.v < uses_.size() && uses_[s.v].num_writers == 0; }
  // The only step that writes the storage; null: there are several, or none.
  const ProgramStep* writer(StorageId s) const;

  // Replaces the steps of the group. False, and no change: with these steps it could not run in its
  // slices, or results that only the group uses would have to be written to memory.
  bool replace(uint32_t group, std::vector<ProgramStep>& steps);
  // Makes the storage one of its group only, if no other unit reads it.
  void settle(StorageId s);
  // Removes the step that wrote the storage, which has no readers, and the steps that become dead
  // thereby. False: they must stay.
  bool remove_writer(StorageId s);

  // Adds the price of the removed steps to the unit. So the price of the program, which is that of
  // its steps one by one, stays the same.
  void take_over_price(uint32_t unit);

 private:
  void note_uses(uint32_t u);
  void forget_uses(uint32_t u);
  void count(const std::vector<ProgramStep>& steps, bool more);
  // The storages that only these steps of a unit would touch, and whether the steps could run in
  // its slices.
  std::vector<StorageId> temporaries_of(const GroupUnit& unit, std::vector<ProgramStep>& steps,
                                        bool& runs);
  bool is_left_by(StorageId s, uint32_t u, const std::vector<ProgramStep>& steps) const;
  bool dissolve(uint32_t u, std::vector<ProgramStep>& steps);

  Program& p_;
  std::vector<GroupUnit> units_;
  std::vector<uint32_t> first_of_entry_;  // units
  std::vector<UnitUses> uses_;            // by storage
  UseCounts counts_;
  double removed_us_ = 0;
};

}  // namespace shw
