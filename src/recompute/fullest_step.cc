#include "recompute/fullest_step.h"

#include <algorithm>

namespace shw {

FullestStep fullest_step(const Program& p) {
  FullestStep fullest;
  fullest.lives.resize(p.storages.size());
  fullest.is_of_group.resize(p.storages.size());
  fullest.spans = spans_of_steps(p);
  const auto touch = [&](StorageId s, uint32_t step) {
    StorageLife& u = fullest.lives[s.v];
    u.first = std::min(u.first, step);
    u.last = step;
  };
  for (uint32_t i = 0; i < p.steps.size(); ++i) {
    for_storages(p, p.steps[i].inputs, [&](StorageId s) { touch(s, i); });
    for_storages(p, p.steps[i].outputs, [&](StorageId s) {
      touch(s, i);
      StorageLife& u = fullest.lives[s.v];
      if (u.last_writer == i) return;
      u.writer = u.num_writers++ == 0 ? i : kNoStep;
      u.last_writer = i;
    });
  }
  std::vector<int64_t> change(p.steps.size() + 1, 0);
  for (uint32_t s = 0; s < fullest.lives.size(); ++s) {
    const StorageLife& u = fullest.lives[s];
    fullest.is_of_group[s] = p.storages[StorageId{s}].kind == StorageKind::kGroup;
    if (u.first == kNoStep || !is_scratch(p, StorageId{s})) continue;
    change[fullest.spans[u.first].first] += padded_bytes(p, StorageId{s});
    change[fullest.spans[u.last].last + 1] -= padded_bytes(p, StorageId{s});
  }
  int64_t live = 0;
  for (uint32_t i = 0; i < p.steps.size(); ++i)
    if ((live += change[i]) > fullest.live_bytes) fullest.live_bytes = live, fullest.at = i;
  return fullest;
}

}  // namespace shw
