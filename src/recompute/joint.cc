#include "recompute/joint.h"

#include <algorithm>

namespace shw {

Joint::Joint(const Program& program, const ProgramEntry& entry)
    : p_(program),
      first_(entry.first_step),
      count_(entry.num_steps),
      backward_(count_, 0),
      repeatable_(count_, 0),
      uses_(program.storages.size()) {
  find_halves();
  if (!has_backward_) return;
  find_uses();
  find_repeatable();
}

void Joint::find_halves() {
  std::vector<uint8_t> written(p_.storages.size(), 0);  // by the backward half
  for (uint32_t i = 0; i < count_; ++i) {
    backward_[i] = step(i).phase != 0;
    for_inputs(i, [&](StorageId s) { backward_[i] |= written[s.v]; });
    if (!backward_[i]) continue;
    has_backward_ = true;
    for_outputs(i, [&](StorageId s) { written[s.v] = 1; });
  }
}

void Joint::find_uses() {
  for (uint32_t i = 0; i < count_; ++i) {
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
  for (uint32_t s = 0; s < uses_.size(); ++s)
    uses_[s].forward = p_.storages[StorageId{s}].kind == StorageKind::kArena &&
                       uses_[s].num_writers == 1 && !backward_[uses_[s].writer];
}

// Backwards: what is computed again is computed in front of its first reader.
void Joint::find_repeatable() {
  for (uint32_t i = count_; i-- > 0;) {
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
    });
    repeatable_[i] = good;
  }
}

}  // namespace shw
