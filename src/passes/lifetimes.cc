#include "passes/lifetimes.h"

#include <algorithm>

#include "plan/happens_before.h"

namespace shw {

namespace {

// `spans`: by step; empty: each step is a span of its own. `counts`: whether a storage is included.
template <class F>
std::vector<Life> lives_within(const Program& p, const std::vector<StepSpan>& spans, F counts) {
  const std::vector<uint32_t> after = HappensBefore(p).first_indices_after();
  std::vector<Life> by_storage(p.storages.size());
  for (uint32_t i = 0; i < p.steps.size(); ++i) {
    const StepSpan span = spans.empty() ? StepSpan{i, i} : spans[i];
    const uint32_t end = after[span.last];
    for (const auto* list : {&p.steps[i].inputs, &p.steps[i].outputs})
      for (ValueId v : *list) {
        if (!v.valid()) continue;
        Life& life = by_storage[p.values[v].storage.v];
        life.begin = std::min(life.begin, span.first);
        life.end = std::max(life.end, end);
      }
  }
  std::vector<Life> lives;
  for (uint32_t i = 0; i < by_storage.size(); ++i) {
    if (!counts(StorageId{i})) continue;
    Life life = by_storage[i];
    life.storage = i;
    life.bytes = padded_bytes(p, p.storages[StorageId{i}].bytes);
    if (life.begin == UINT32_MAX) life.begin = life.end = 0;  // never touched
    lives.push_back(life);
  }
  return lives;
}

}  // namespace

std::vector<Life> lives_of(const Program& p, StorageKind kind) {
  // Storages that only one group touches need memory only if its steps run one by one.
  const std::vector<StepSpan> spans =
      kind == StorageKind::kGroup ? std::vector<StepSpan>() : spans_of_steps(p);
  return lives_within(p, spans, [&](StorageId s) { return p.storages[s].kind == kind; });
}

std::vector<Life> lives_of(const Program& p, const GroupsToCome& groups) {
  return lives_within(p, groups.spans, [&](StorageId s) {
    return p.storages[s].kind == StorageKind::kArena && groups.sees_alone[s.v] == 0;
  });
}

std::vector<int64_t> live_bytes(const std::vector<Life>& lives, size_t num_steps) {
  std::vector<int64_t> live(num_steps + 2, 0);
  for (const Life& l : lives) {
    live[l.begin] += l.bytes;
    live[l.end] -= l.bytes;
  }
  for (size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
  return live;
}

int64_t live_peak_bytes(const Program& p) {
  return std::ranges::max(live_bytes(lives_of(p), p.steps.size()));
}

int64_t least_peak_bytes(const Program& p) {
  // In programs without collectives, groups may compute again what they read (repeat_in_groups.cc).
  if (std::ranges::none_of(p.steps, [&](const ProgramStep& s) { return runs_on_link(p, s); }))
    return 0;
  std::vector<Life> lives(p.storages.size());
  uint32_t count = 0;
  for (const ProgramStep& step : p.steps) {
    // The schedule may move collectives and the copies for them.
    if (runs_on_link(p, step) || is_copy(step)) continue;
    const uint32_t at = count++;
    for (const auto* list : {&step.inputs, &step.outputs})
      for (ValueId v : *list) {
        if (!v.valid() || !p.lies_in(v, StorageKind::kArena)) continue;
        const StorageId storage = p.values[v].storage;
        Life& life = lives[storage.v];
        life = {storage.v, std::min(life.begin, at), at, p.storages[storage].bytes};
      }
  }
  std::erase_if(lives, [](Life& life) {
    life.begin += life.begin == UINT32_MAX ? 0 : kGroupReach;
    life.end -= std::min(life.end, kGroupReach);
    return life.begin >= life.end;
  });
  return std::ranges::max(live_bytes(lives, count));
}

std::vector<StepWindow> windows_around(std::span<const Life> lives,
                                       const std::vector<uint32_t>& which, uint32_t margin) {
  std::vector<StepWindow> windows;
  for (uint32_t i : which)
    windows.push_back({lives[i].begin - std::min(lives[i].begin, margin), lives[i].end + margin});
  std::ranges::sort(windows, {}, &StepWindow::begin);
  size_t merged = 0;
  for (const StepWindow& w : windows) {
    if (merged > 0 && w.begin <= windows[merged - 1].end)
      windows[merged - 1].end = std::max(windows[merged - 1].end, w.end);
    else
      windows[merged++] = w;
  }
  windows.resize(merged);
  return windows;
}

}  // namespace shw
