#include "recompute/recompute.h"

#include <algorithm>

#include "recompute/cut.h"
#include "recompute/joint.h"
#include "recompute/rules.h"

namespace shw {
namespace {

// Writes the steps of one entry anew, with repetitions in front of the backward steps that need
// them.
class Repetition {
 public:
  Repetition(Program& program, const ProgramEntry& entry, const Joint& joint,
             std::vector<uint8_t> again)
      : p_(program),
        first_(entry.first_step),
        joint_(joint),
        again_(std::move(again)),
        repeated_(joint.num_steps(), 0),
        copy_(program.storages.size()),
        window_(program.values.size()) {}

  void append_to(std::vector<ProgramStep>& steps) {
    for (uint32_t i = 0; i < joint_.num_steps(); ++i) {
      if (joint_.is_backward(i)) repeat_for(i, steps);
      ProgramStep step = p_.steps[first_ + i];
      if (joint_.is_backward(i))
        for (ValueId& v : step.inputs) v = copy_of(v);
      steps.push_back(std::move(step));
    }
  }

 private:
  bool is_again(ValueId v) const {
    const StorageId s = p_.values[v].storage;
    return s.v < again_.size() && again_[s.v];
  }

  // All steps that `reader` needs and that have not been repeated, in their order.
  void repeat_for(uint32_t reader, std::vector<ProgramStep>& steps) {
    std::vector<uint32_t> needed{reader};
    for (size_t k = 0; k < needed.size(); ++k)
      for (ValueId v : joint_.step(needed[k]).inputs) {
        if (!v.valid() || !is_again(v)) continue;
        const uint32_t writer = joint_.writer(p_.values[v].storage);
        if (repeated_[writer]) continue;
        repeated_[writer] = 1;
        needed.push_back(writer);
      }
    std::sort(needed.begin() + 1, needed.end());
    for (size_t k = 1; k < needed.size(); ++k) repeat(needed[k], steps);
  }

  void repeat(uint32_t i, std::vector<ProgramStep>& steps) {
    ProgramStep step = joint_.step(i);
    step.phase = static_cast<uint8_t>(Phase::kBackward);
    step.recomputed = true;
    for (ValueId& v : step.inputs) v = copy_of(v);
    for (ValueId& v : step.outputs) v = v.valid() && is_again(v) ? copy_of(v) : ValueId{};
    steps.push_back(std::move(step));
  }

  // The same window of the storage's repetition; the value itself where it is kept.
  ValueId copy_of(ValueId v) {
    if (!v.valid() || !is_again(v)) return v;
    ValueId& window = window_[v.v];
    if (window.valid()) return window;
    ProgramValue value = p_.values[v];
    StorageId& copy = copy_[value.storage.v];
    if (!copy.valid()) copy = p_.storages.push_back(ProgramStorage(p_.storages[value.storage]));
    value.storage = copy;
    return window = p_.values.push_back(std::move(value));
  }

  Program& p_;
  const uint32_t first_;
  const Joint& joint_;
  const std::vector<uint8_t> again_;  // by storage
  std::vector<uint8_t> repeated_;     // by step of the entry
  std::vector<StorageId> copy_;       // by storage: where it is computed again
  std::vector<ValueId> window_;       // by value: the same window there
};

// The backward half of an entry would need the operands of the forward entry among its inputs.
bool reads_a_session(const Joint& joint) {
  bool reads = false;
  for (uint32_t i = 0; i < joint.num_steps(); ++i)
    if (joint.is_backward(i))
      joint.for_inputs(i, [&](StorageId s) {
        reads |= joint.program().storages[s].kind == StorageKind::kSession;
      });
  return reads;
}

}  // namespace

Status recompute(Program& program, const Graph& graph, const RecomputePolicy& policy,
                 Monitor& monitor) {
  if (policy.kind == RecomputePolicy::Kind::kNone) return {};
  std::vector<ProgramStep> steps;
  std::vector<uint32_t> first;
  for (const ProgramEntry& entry : program.entries) {
    SHW_RETURN_IF_ERROR(monitor.poll());
    const Joint joint(program, entry);
    if (reads_a_session(joint))
      return unimplemented("entry '" + entry.name +
                           "' reads what an entry before it has kept: recompute works within one "
                           "entry, such as step");
    std::vector<uint8_t> again(program.storages.size(), 0);
    if (joint.has_backward()) again = storages_to_repeat(joint, step_rules(joint, graph, policy));
    first.push_back(static_cast<uint32_t>(steps.size()));
    Repetition(program, entry, joint, std::move(again)).append_to(steps);
  }
  for (size_t e = 0; e < first.size(); ++e) {
    const size_t end = e + 1 < first.size() ? first[e + 1] : steps.size();
    program.entries[e].first_step = first[e];
    program.entries[e].num_steps = static_cast<uint32_t>(end) - first[e];
  }
  program.steps = std::move(steps);
  return {};
}

}  // namespace shw
