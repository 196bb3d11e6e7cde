// A program as what a backend launches: groups of fused steps and single steps, with who writes and
// reads each storage. Steps can be put into a group, or taken out.
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

// Of a storage, by units.
struct UnitUses {
  uint32_t writer = kNoUnit;      // the first one
  uint32_t num_writers = 0;       // steps
  std::vector<uint32_t> readers;  // ascending
  uint32_t last() const { return readers.empty() ? writer : readers.back(); }
};

class GroupUnits {
 public:
  // Takes the program's steps.
  explicit GroupUnits(Program& program);
  // Gives them back.
  void write_back();

  uint32_t size() const { return static_cast<uint32_t>(units_.size()); }
  const GroupUnit& unit(uint32_t u) const { return units_[u]; }
  const UnitUses& uses(StorageId s) const { return uses_[s.v]; }
  // Whether it holds results for a while: in the arena, or in a group.
  bool is_scratch(StorageId s) const;
  // Whether a step wrote it that has been removed.
  bool is_gone(StorageId s) const { return s.v < uses_.size() && uses_[s.v].num_writers == 0; }
  // The step that alone writes the storage; null: there are several, or none.
  const ProgramStep* writer(StorageId s) const;

  // Gives the group other steps. False: it could not run in its slices with them, or results that
  // are the group's alone would have to be written to memory; then nothing has changed.
  bool replace(uint32_t group, std::vector<ProgramStep>& steps);
  // If no other unit reads it, it becomes the group's alone.
  void settle(StorageId s);
  // Removes the step that wrote what nobody reads, and those that nobody needs then. False: they
  // must stay.
  bool remove_writer(StorageId s);

  // The price of what has been removed, so that the program's stays the same: prices are those of
  // steps one by one.
  void take_over_price(uint32_t unit);

 private:
  void note_uses(uint32_t u);
  void forget_uses(uint32_t u);
  void count(const std::vector<ProgramStep>& steps, bool more);
  // What only these steps of a unit would see, and whether they could run in its slices.
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
