#include "recompute/recompute.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "recompute/cut.h"
#include "recompute/joint.h"
#include "recompute/rules.h"

namespace shw {
namespace {

// Rewrites the steps of the backward entry, with repetitions in front of the backward steps that
// need them.
class Repetition {
 public:
  Repetition(Program& program, const Repeated& repeated)
      : p_(program),
        joint_(*repeated.joint),
        again_(repeated.again),
        repeated_(joint_.num_steps(), 0),
        place_(joint_.num_steps(), 0),
        copy_(program.storages.size()),
        window_(program.values.size()) {}

  std::vector<ProgramStep> run() {
    const uint32_t first = joint_.first_of_backward_entry();
    std::vector<std::vector<uint32_t>> in_front(joint_.num_steps());  // steps to repeat there
    for (uint32_t i = first; i < joint_.num_steps(); ++i)
      if (joint_.is_backward(i)) place(needed_by(i), i, in_front);
    std::vector<ProgramStep> steps;
    for (uint32_t i = first; i < joint_.num_steps(); ++i) {
      for (uint32_t k : in_front[i]) repeat(k, steps);
      ProgramStep step = joint_.step(i);
      if (joint_.is_backward(i))
        for (ValueId& v : step.inputs) v = copy_of(v);
      steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  bool is_again(ValueId v) const {
    const StorageId s = p_.values[v].storage;
    return s.v < again_.size() && again_[s.v];
  }

  // All steps to repeat for `reader` that have not been repeated yet, in their order.
  std::vector<uint32_t> needed_by(uint32_t reader) {
    std::vector<uint32_t> needed{reader};
    for (size_t k = 0; k < needed.size(); ++k)
      for (ValueId v : joint_.step(needed[k]).inputs) {
        if (!v.valid() || !is_again(v)) continue;
        const uint32_t writer = joint_.writer(p_.values[v].storage);
        if (repeated_[writer]) continue;
        repeated_[writer] = 1;
        needed.push_back(writer);
      }
    needed.erase(needed.begin());
    std::sort(needed.begin(), needed.end());
    return needed;
  }

  // Places repetitions right in front of the reader. But each collective of activations, and the
  // steps that it needs, go earlier, so that other steps can run during the collective. Gathers of
  // parameters are moved later by the schedule.
  void place(const std::vector<uint32_t>& steps, uint32_t reader,
             std::vector<std::vector<uint32_t>>& in_front) {
    std::vector<uint32_t> wanted(steps.size());
    uint32_t at = reader;
    for (size_t k = steps.size(); k-- > 0;) {
      if (joint_.step(steps[k]).collective.kind != CollectiveKind::kNone &&
          !joint_.is_of_parameters(steps[k]))
        at = earlier(at, kLead * joint_.step(steps[k]).cost_us);
      wanted[k] = at;
    }
    for (size_t k = 0; k < steps.size(); ++k) {
      place_[steps[k]] = std::max(wanted[k], readable_from(steps[k]));
      in_front[place_[steps[k]]].push_back(steps[k]);
    }
  }

  // The last step such that at least `us` of compute lie between it and `at`.
  uint32_t earlier(uint32_t at, double us) const {
    for (; at > 0 && joint_.is_backward(at - 1) && us > 0; --at)
      if (joint_.step(at - 1).collective.kind == CollectiveKind::kNone)
        us -= joint_.step(at - 1).cost_us;
    return at;
  }

  // The first place at which everything that the step reads is available or repeated in front of
  // it.
  uint32_t readable_from(uint32_t i) const {
    uint32_t from = 0;
    for (ValueId v : joint_.step(i).inputs)
      if (v.valid() && is_again(v))
        from = std::max(from, place_[joint_.writer(p_.values[v].storage)]);
    return from;
  }

  void repeat(uint32_t i, std::vector<ProgramStep>& steps) {
    ProgramStep step = joint_.step(i);
    step.phase = static_cast<uint8_t>(Phase::kBackward);
    step.recomputed = true;
    for (ValueId& v : step.inputs) v = copy_of(v);
    for (ValueId& v : step.outputs) v = v.valid() && is_again(v) ? copy_of(v) : ValueId{};
    steps.push_back(std::move(step));
  }

  // The same window of the storage's repetition; the value itself if the storage is kept.
  ValueId copy_of(ValueId v) {
    if (!v.valid() || !is_again(v)) return v;
    ValueId& window = window_[v.v];
    if (window.valid()) return window;
    ProgramValue value = p_.values[v];
    StorageId& copy = copy_[value.storage.v];
    if (!copy.valid())
      copy = p_.storages.push_back({p_.storages[value.storage].bytes, StorageKind::kArena});
    value.storage = copy;
    return window = p_.values.push_back(std::move(value));
  }

  // Lead of a collective as a multiple of its time, since it may also wait for others of its
  // communicator.
  static constexpr double kLead = 2;

  Program& p_;
  const Joint& joint_;
  const std::vector<uint8_t>& again_;  // by storage
  std::vector<uint8_t> repeated_;      // by step of the halves
  std::vector<uint32_t> place_;        // by step: the one in front of which it is repeated
  std::vector<StorageId> copy_;        // by storage: the storage of its repetition
  std::vector<ValueId> window_;        // by value: the same window there
};

// The entries whose session values the backward steps of an entry read.
std::set<uint32_t> entries_read(const Program& p, uint32_t entry,
                                const std::vector<uint32_t>& writer) {
  std::set<uint32_t> read;
  const ProgramEntry& e = p.entries[entry];
  for (uint32_t i = e.first_step; i < e.first_step + e.num_steps; ++i)
    for (ValueId v : p.steps[i].inputs)
      if (p.steps[i].phase != 0 && p.lies_in(v, StorageKind::kSession) &&
          writer[p.values[v].storage.v] != entry)
        read.insert(writer[p.values[v].storage.v]);
  return read;
}

// By storage: the first entry that writes it.
std::vector<uint32_t> writing_entries(const Program& p) {
  std::vector<uint32_t> writer(p.storages.size(), UINT32_MAX);
  for (uint32_t e = static_cast<uint32_t>(p.entries.size()); e-- > 0;)
    for (uint32_t k = 0; k < p.entries[e].num_steps; ++k)
      for (ValueId v : p.steps[p.entries[e].first_step + k].outputs)
        if (v.valid()) writer[p.values[v].storage.v] = e;
  return writer;
}

// Moves scratch that one entry writes and another reads to the session, and all other scratch out
// of it.
void settle_sessions(Program& p) {
  const std::vector<uint32_t> writer = writing_entries(p);
  std::vector<uint8_t> crosses(p.storages.size(), 0);
  for (uint32_t e = 0; e < p.entries.size(); ++e)
    for (uint32_t k = 0; k < p.entries[e].num_steps; ++k)
      for (ValueId v : p.steps[p.entries[e].first_step + k].inputs)
        if (v.valid()) crosses[p.values[v].storage.v] |= writer[p.values[v].storage.v] != e;
  for (uint32_t s = 0; s < p.storages.size(); ++s) {
    StorageKind& kind = p.storages[StorageId{s}].kind;
    if (kind == StorageKind::kArena || kind == StorageKind::kSession)
      kind = crosses[s] ? StorageKind::kSession : StorageKind::kArena;
  }
}

}  // namespace

Result<std::vector<Joint>> halves(const Program& p) {
  const std::vector<uint32_t> writer = writing_entries(p);
  std::vector<Joint> all;
  for (uint32_t e = 0; e < p.entries.size(); ++e) {
    const std::set<uint32_t> before = entries_read(p, e, writer);
    if (before.size() > 1)
      return unimplemented("entry '" + p.entries[e].name +
                           "' reads what several entries before it have kept: recompute works "
                           "where one has");
    Joint joint(p, p.entries[before.empty() ? e : *before.begin()], p.entries[e]);
    if (joint.has_backward()) all.push_back(std::move(joint));
  }
  return all;
}

void repeat(Program& program, std::span<const Repeated> halves) {
  std::vector<std::optional<std::vector<ProgramStep>>> anew(program.entries.size());
  for (const Repeated& r : halves) anew[r.joint->backward_entry()] = Repetition(program, r).run();
  std::vector<ProgramStep> steps;
  for (uint32_t e = 0; e < anew.size(); ++e) {
    ProgramEntry& entry = program.entries[e];
    const auto first = static_cast<uint32_t>(steps.size());
    if (anew[e]) {
      std::ranges::move(*anew[e], std::back_inserter(steps));
    } else {
      const auto from = program.steps.begin() + entry.first_step;
      std::move(from, from + entry.num_steps, std::back_inserter(steps));
    }
    entry.first_step = first;
    entry.num_steps = static_cast<uint32_t>(steps.size()) - first;
  }
  program.steps = std::move(steps);
  settle_sessions(program);
}

Status recompute(Program& program, const Graph& graph, const RecomputePolicy& policy,
                 Monitor& monitor) {
  if (policy.kind == RecomputePolicy::Kind::kNone || policy.kind == RecomputePolicy::Kind::kAuto)
    return {};
  SHW_ASSIGN_OR_RETURN(const std::vector<Joint> joints, halves(program));
  std::vector<Repeated> repeated;
  for (const Joint& joint : joints) {
    SHW_RETURN_IF_ERROR(monitor.poll());
    repeated.push_back({&joint, storages_to_repeat(joint, step_rules(joint, graph, policy))});
  }
  repeat(program, repeated);
  return {};
}

}  // namespace shw
