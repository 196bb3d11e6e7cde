#include "recompute/joint.h"

#include <algorithm>

namespace shw {

Joint::Joint(const Program& program, const ProgramEntry& forward, const ProgramEntry& backward)
    : p_(program),
      forward_(forward),
      backward_entry_(backward),
      num_first_(forward.num_steps),
      backward_(num_first_ + (is_one_entry() ? 0 : backward.num_steps), 0),
      repeatable_(backward_.size(), 0),
      of_parameters_(backward_.size(), 0),
      uses_(program.storages.size()) {
  find_halves();
  if (!has_backward_) return;
  find_uses();
  find_repeatable();
  find_of_parameters();
}

void Joint::find_halves() {
  if (!is_one_entry()) {
    std::fill(backward_.begin() + num_first_, backward_.end(), uint8_t{1});
    has_backward_ = backward_entry_.num_steps > 0;
    return;
  }
  std::vector<uint8_t> written(p_.storages.size(), 0);  // by the backward half
  for (uint32_t i = 0; i < num_steps(); ++i) {
    backward_[i] = step(i).phase != 0;
    for_inputs(i, [&](StorageId s) { backward_[i] |= written[s.v]; });
    if (!backward_[i]) continue;
    has_backward_ = true;
    for_outputs(i, [&](StorageId s) { written[s.v] = 1; });
  }
}

void Joint::find_uses() {
  for (uint32_t i = 0; i < num_steps(); ++i) {
    for_inputs(i, [&](StorageId s) {
      Uses& u = uses_[s.v];
      if (!backward_[i])
        u.readers.push_back(i);
      else
        u.first_backward = std::min(u.first_backward, i);
    });
    for_outputs(i, [&](StorageId s) {
      Uses& u = uses_[s.v];
      const StorageKind kind = p_.storages[s].kind;
      if (kind == StorageKind::kInput || kind == StorageKind::kState)
        u.overwritten = std::min(u.overwritten, i);
      u.writer = i;
      ++u.num_writers;
    });
  }
  for (uint32_t s = 0; s < uses_.size(); ++s) {
    const StorageKind kind = p_.storages[StorageId{s}].kind;
    const bool scratch =
        kind == StorageKind::kArena || (kind == StorageKind::kSession && !is_one_entry());
    uses_[s].forward = scratch && uses_[s].num_writers == 1 && !backward_[uses_[s].writer];
  }
}

void Joint::find_of_parameters() {
  for (uint32_t i = 0; i < num_steps(); ++i) {
    if (backward_[i]) continue;
    bool all = true, any = false;
    for_inputs(i, [&](StorageId s) {
      any = true;
      all &= is_forward(s) ? of_parameters_[writer(s)] != 0 : is_of_model(p_, s);
    });
    of_parameters_[i] = any && all;
  }
}

// The caller passes an entry only the inputs that it lists. Scratch that is not the result of a
// single forward step does not outlive the entry.
bool Joint::is_there_backward(StorageId s) const {
  const ProgramStorage& storage = p_.storages[s];
  if (is_one_entry()) return true;
  if (storage.kind == StorageKind::kInput)
    return std::ranges::find(backward_entry_.inputs, PortId{storage.port}) !=
           backward_entry_.inputs.end();
  return storage.kind == StorageKind::kState || storage.kind == StorageKind::kConstant ||
         storage.kind == StorageKind::kSession;
}

// Goes backwards, since a repetition is placed in front of its first reader.
void Joint::find_repeatable() {
  for (uint32_t i = num_steps(); i-- > 0;) {
    if (backward_[i]) continue;
    bool good = true;
    uint32_t latest = 0;
    for_outputs(i, [&](StorageId s) {
      Uses& u = uses_[s.v];
      good &= u.forward;
      if (u.first_backward != UINT32_MAX) u.latest = u.first_backward;
      latest = std::max(latest, u.latest);
    });
    for_inputs(i, [&](StorageId s) {
      Uses& u = uses_[s.v];
      u.latest = std::max(u.latest, latest);
      good &= u.overwritten == UINT32_MAX || u.overwritten >= latest;
      good &= u.forward || is_there_backward(s);
    });
    repeatable_[i] = good;
  }
}

}  // namespace shw
