#include "plan/verify_fused_groups.h"

#include <algorithm>
#include <string>

#include "plan/slice_accesses.h"

namespace shw {
namespace {

class GroupCheck {
 public:
  GroupCheck(const Program& program, const UseCounts& uses, const FusedGroup& group)
      : p_(program), uses_(uses), group_(group) {}

  // Marks the storages that only the group touches.
  Status run(std::vector<uint8_t>& temporary) const {
    SHW_RETURN_IF_ERROR(queue());
    SHW_RETURN_IF_ERROR(loops());
    std::vector<SlicedStep> sliced(group_.num_steps);
    SliceAccesses accesses;
    bool has_shape = false;
    for (uint32_t i = 0; i < group_.num_steps; ++i) {
      const uint32_t s = group_.first_step + i;
      const Dims shape = loop_shape(p_, p_.steps[s]);
      auto cut = shape.empty() ? std::nullopt : slice_step(p_, p_.steps[s], group_.slices);
      if (!cut) return refuse("step " + std::to_string(s) + " does not run in such slices");
      has_shape |= shape == group_.shape;
      sliced[i] = std::move(*cut);
      add_accesses(p_, s, &sliced[i], accesses);
    }
    if (!has_shape) return refuse("none of its steps has its shape");
    for (const SliceAccess* writer : find_temporaries(p_, uses_, accesses))
      temporary[writer->storage.v] = 1;
    const uint32_t conflict = first_conflict(accesses);
    if (conflict == kNoStep) return {};
    return refuse("a slice of step " + std::to_string(conflict) +
                  " touches bytes of other slices of an earlier step");
  }

 private:
  Status refuse(const std::string& why) const {
    return invalid_argument("group of steps from " + std::to_string(group_.first_step) + ": " +
                            why);
  }

  // Checks that the steps are consecutive on one stream, without events in between.
  Status queue() const {
    if (group_.num_steps < 2 || group_.num_steps > kMostFusedSteps)
      return refuse(std::to_string(group_.num_steps) + " steps: expected 2 to " +
                    std::to_string(kMostFusedSteps));
    const uint64_t end = uint64_t{group_.first_step} + group_.num_steps;
    const bool in_entry = std::ranges::any_of(p_.entries, [&](const ProgramEntry& e) {
      return group_.first_step >= e.first_step && end <= uint64_t{e.first_step} + e.num_steps;
    });
    if (!in_entry) return refuse("they are not steps of one entry");
    for (uint32_t s = group_.first_step; s < end; ++s) {
      if (p_.steps[s].stream != p_.steps[group_.first_step].stream)
        return refuse("they are of several streams");
      if ((s > group_.first_step && !p_.steps[s].waits.empty()) ||
          (s + 1 < end && p_.steps[s].records != kNoEvent))
        return refuse("step " + std::to_string(s) + " waits or records an event in the middle");
    }
    return {};
  }

  Status loops() const {
    const TensorType whole = row_major(Dtype::kI8, group_.shape);
    const auto positive = [](const Dims& dims) {
      return !dims.empty() && std::ranges::all_of(dims, [](int64_t n) { return n > 0; });
    };
    if (!positive(group_.shape) || !positive(group_.slices) || !check_tensor_type(whole).ok() ||
        !slice_of(whole, group_.shape, group_.slices))
      return refuse("its slices do not cut its shape");
    return {};
  }

  const Program& p_;
  const UseCounts& uses_;
  const FusedGroup& group_;
};

}  // namespace

Status verify_fused_groups(const Program& program) {
  const UseCounts uses = count_uses(program);
  std::vector<uint8_t> temporary(program.storages.size(), 0);
  uint64_t next = 0;
  for (const FusedGroup& group : program.fused_groups) {
    if (group.first_step < next)
      return invalid_argument("groups of steps are not in order, or share steps");
    SHW_RETURN_IF_ERROR(GroupCheck(program, uses, group).run(temporary));
    next = uint64_t{group.first_step} + group.num_steps;
  }
  for (uint32_t s = 0; s < temporary.size(); ++s)
    if (program.storages[StorageId{s}].kind == StorageKind::kGroup && !temporary[s] &&
        uses[StorageId{s}] > 0)
      return invalid_argument("storage " + std::to_string(s) +
                              " is a group's, and is not of its slices alone");
  return {};
}

}  // namespace shw
