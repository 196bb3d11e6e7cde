#include "passes/live_bytes.h"

#include <algorithm>

namespace shw {

std::vector<Touched> touched_storages(const Program& p) {
  std::vector<Touched> touched(p.storages.size());
  for (uint32_t i = 0; i < p.steps.size(); ++i)
    for (const auto* list : {&p.steps[i].inputs, &p.steps[i].outputs})
      for (ValueId v : *list)
        if (v.valid()) {
          Touched& t = touched[p.values[v].storage.v];
          t.first = std::min(t.first, i);
          t.last = i;
        }
  return touched;
}

LiveBytes LiveBytes::of(const Program& p, const std::vector<Touched>& touched) {
  LiveBytes live(p.steps.size() + 1);
  for (uint32_t i = 0; i < touched.size(); ++i) {
    const ProgramStorage& s = p.storages[StorageId{i}];
    if (s.kind != StorageKind::kArena || touched[i].first > touched[i].last) continue;
    live.bytes_[touched[i].first] += s.bytes;
    live.bytes_[touched[i].last + 1] -= s.bytes;
  }
  for (size_t i = 1; i < live.bytes_.size(); ++i) live.bytes_[i] += live.bytes_[i - 1];
  return live;
}

}  // namespace shw
