#include "groups/form_groups.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "plan/slice_accesses.h"
#include "plan/sliced_step.h"

namespace shw {
namespace {

constexpr int64_t kSliceElements = 8192;  // of the largest operand: with others in an L1 cache, or
                                          // nearly
constexpr uint32_t kMostBehind = 6, kLookAhead = 8;
constexpr int64_t kSmallShare = 16;  // steps this many times smaller than the group run behind it
constexpr int64_t kLeastElements = 16384;  // below, a launch costs more than the memory

// The steps that run in slices, and steps between them that move in front or behind.
struct FoundGroup {
  Dims shape;
  SliceLoops loops;
  std::vector<uint32_t> in_front, members, behind;
  std::vector<StorageId> temporaries;  // that only members see
  uint32_t end = 0;                    // the step after the last of all
};

// Facts about a program that all searches use. They are valid only while steps that are in no group
// yet stay in place.
class GroupFacts {
 public:
  explicit GroupFacts(const Program& program)
      : program_(program), uses_(count_uses(program)), shapes_(program.steps.size()) {}

  const UseCounts& uses() const { return uses_; }
  const Dims& loop_shape(uint32_t step) {
    std::optional<Dims>& shape = shapes_[step];
    if (!shape) shape = shw::loop_shape(program_, program_.steps[step]);
    return *shape;
  }

 private:
  const Program& program_;
  const UseCounts uses_;
  std::vector<std::optional<Dims>> shapes_;  // by step; cached, since each is used many times
};

// Finds the group that begins with a given step.
class GroupFinder {
 public:
  GroupFinder(const Program& program, GroupFacts& facts, StepOrder order, uint32_t first,
              uint32_t end)
      : program_(program),
        facts_(facts),
        order_(order),
        first_(first),
        end_(std::min(end, first + kGroupReach)) {}

  std::optional<FoundGroup> find() {
    if (!choose_loops()) return {};
    collect();
    while (members_.size() > 1) {
      drop_trailing();
      list_accesses();
      const auto writers = find_temporaries(program_, facts_.uses(), accesses_);
      const uint32_t cut = first_conflict(accesses_);
      if (cut == kNoStep) return finish(writers);
      if (!resolve(cut)) cut_before(cut);
    }
    return {};
  }

 private:
  struct Member {
    uint32_t step;
    SlicedStep sliced;
  };

  const ProgramStep& step(uint32_t s) const { return program_.steps[s]; }
  // Whether the group may continue to step `s`: steps must not move across events of other streams.
  bool goes_on_to(uint32_t s) const {
    return s < end_ && step(s).stream == step(first_).stream &&
           (s == first_ || (step(s).waits.empty() && step(s - 1).records == kNoEvent));
  }

  bool choose_loops() {
    int64_t most = 0;
    for (uint32_t s = first_; s < first_ + kLookAhead && goes_on_to(s); ++s) {
      const Dims& shape = facts_.loop_shape(s);
      int64_t elements = shape.empty() ? 0 : 1;
      for (const int64_t n : shape) elements *= n;
      if (shape.empty() && s == first_) return false;
      if (elements <= most) continue;
      most = elements;
      shape_ = shape;
    }
    if (most < kLeastElements) return false;
    loops_ = loops_for(shape_, kSliceElements);
    return !loops_.empty();
  }

  void collect() {
    for (uint32_t s = first_; goes_on_to(s); ++s) {
      std::optional<SlicedStep> sliced;
      if (!facts_.loop_shape(s).empty()) sliced = slice_step(program_, step(s), loops_);
      if (sliced)
        members_.push_back({s, std::move(*sliced)});
      else if (s == first_ || runs_on_link(program_, step(s)) || behind_.size() == kMostBehind)
        return;
      else
        behind_.push_back(s);
    }
  }

  void drop_trailing() {
    for (auto* list : {&in_front_, &behind_})
      while (!list->empty() && list->back() > members_.back().step) list->pop_back();
  }
  void cut_before(uint32_t s) {
    while (!members_.empty() && members_.back().step >= s) members_.pop_back();
    for (auto* list : {&in_front_, &behind_})
      while (!list->empty() && list->back() >= s) list->pop_back();
  }

  // If a member depends on a step that is to run behind the group, moves that step in front, or the
  // member behind. False: neither is possible.
  bool resolve(uint32_t member) {
    if (order_ == StepOrder::kOfSchedule) return false;
    for (const uint32_t b : behind_)
      if (b < member && depends(member, b)) return move_in_front(b) || move_behind(member);
    return false;
  }
  // Whether one step reads or overwrites what the other writes.
  bool depends(uint32_t later, uint32_t earlier) const {
    for (const SliceAccess& a : accesses_)
      for (const SliceAccess& b : accesses_)
        if (a.step == earlier && b.step == later && (a.writes || b.writes) &&
            a.memory == b.memory && a.begin < b.end && b.begin < a.end)
          return true;
    return false;
  }
  // Moves a step in front, together with the steps behind that it depends on, if none of them
  // depends on a member.
  bool move_in_front(uint32_t s) {
    std::vector<uint32_t> moving{s};
    for (size_t k = 0; k < moving.size(); ++k) {
      for (const Member& m : members_)
        if (m.step < moving[k] && depends(moving[k], m.step)) return false;
      for (const uint32_t b : behind_)
        if (b < moving[k] && depends(moving[k], b) && std::ranges::find(moving, b) == moving.end())
          moving.push_back(b);
    }
    for (const uint32_t m : moving) {
      std::erase(behind_, m);
      in_front_.insert(std::ranges::lower_bound(in_front_, m), m);
    }
    return true;
  }
  bool move_behind(uint32_t member) {
    const TensorType& result = program_.values[step(member).outputs[0]].type;
    if (member == first_ || behind_.size() == kMostBehind ||
        kSmallShare * result.numel() > row_major(Dtype::kI8, shape_).numel())
      return false;
    std::erase_if(members_, [&](const Member& m) { return m.step == member; });
    behind_.insert(std::ranges::lower_bound(behind_, member), member);
    return true;
  }

  void list_accesses() {
    accesses_.clear();
    for (const Member& m : members_) add_accesses(program_, m.step, &m.sliced, accesses_);
    for (const uint32_t s : behind_) add_accesses(program_, s, nullptr, accesses_);
  }

  // Nothing if no remaining step has the shape for which the loops were chosen.
  std::optional<FoundGroup> finish(const std::vector<const SliceAccess*>& writers) const {
    FoundGroup group{shape_, loops_, in_front_, {}, behind_, {}, members_.back().step + 1};
    bool has_shape = false;
    for (const Member& m : members_) {
      group.members.push_back(m.step);
      has_shape |= facts_.loop_shape(m.step) == shape_;
    }
    if (!has_shape) return {};
    for (const SliceAccess* writer : writers) group.temporaries.push_back(writer->storage);
    return group;
  }

  const Program& program_;
  GroupFacts& facts_;
  const StepOrder order_;
  const uint32_t first_, end_;
  Dims shape_;
  SliceLoops loops_;
  std::vector<Member> members_;
  std::vector<uint32_t> in_front_, behind_;
  SliceAccesses accesses_;
};

// Only the first step of all waits for events, and only the last one records one.
void put_in_order(Program& p, const FoundGroup& group) {
  const uint32_t first = group.members.front();
  const uint32_t records = std::exchange(p.steps[group.end - 1].records, kNoEvent);
  auto waits = std::exchange(p.steps[first].waits, {});
  std::vector<ProgramStep> ordered;
  for (const auto* list : {&group.in_front, &group.members, &group.behind})
    for (const uint32_t s : *list) ordered.push_back(std::move(p.steps[s]));
  ordered.front().waits = std::move(waits);
  ordered.back().records = records;
  std::ranges::move(ordered, p.steps.begin() + first);
}

// use(group) for each group of an entry; it may put the group's own steps in order.
template <class F>
void for_groups(const Program& p, GroupFacts& facts, StepOrder order, const ProgramEntry& entry,
                F use) {
  const uint32_t end = entry.first_step + entry.num_steps;
  for (uint32_t s = entry.first_step; s < end;) {
    const auto group = GroupFinder(p, facts, order, s, end).find();
    if (group) use(*group);
    s = group ? group->end : s + 1;
  }
}

}  // namespace

uint32_t form_groups(Program& p, StepOrder order) {
  if (!p.fused_groups.empty()) return 0;
  GroupFacts facts(p);
  for (const ProgramEntry& entry : p.entries)
    for_groups(p, facts, order, entry, [&](const FoundGroup& group) {
      put_in_order(p, group);
      for (const StorageId storage : group.temporaries)
        p.storages[storage].kind = StorageKind::kGroup;
      const uint32_t first = group.members.front() + static_cast<uint32_t>(group.in_front.size());
      p.fused_groups.push_back(
          {first, static_cast<uint32_t>(group.members.size()), group.shape, group.loops});
    });
  if (p.fused_groups.empty()) return 0;
  for (ProgramStorage& s : p.storages) s.offset_bytes = -1;  // lifetimes have changed
  forget_memory_sizes(p);
  return static_cast<uint32_t>(p.fused_groups.size());
}

GroupsToCome groups_to_come(const Program& p) {
  GroupsToCome groups;
  groups.sees_alone.resize(p.storages.size());
  for (uint32_t i = 0; i < p.steps.size(); ++i) groups.spans.push_back({i, i});
  GroupFacts facts(p);
  for (const ProgramEntry& entry : p.entries)
    for_groups(p, facts, order_of(p), entry, [&](const FoundGroup& group) {
      const StepSpan span{group.members.front(), group.members.back()};
      for (uint32_t i = span.first; i <= span.last; ++i) groups.spans[i] = span;
      for (const StorageId storage : group.temporaries) groups.sees_alone[storage.v] = 1;
    });
  return groups;
}

}  // namespace shw
