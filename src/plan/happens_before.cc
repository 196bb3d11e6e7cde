#include "plan/happens_before.h"

#include <algorithm>

namespace shw {

HappensBefore::HappensBefore(const Program& program) {
  const size_t n = program.steps.size();
  clock_.resize(n);
  ordinal_.resize(n);
  stream_.resize(n);
  std::vector<uint8_t> begins(n, 0);
  for (const ProgramEntry& e : program.entries)
    if (e.first_step < n) begins[e.first_step] = 1;

  std::array<Clock, kNumStreams> now{};  // what the next step of each stream knows
  std::vector<Clock> at_event(program.num_events);
  for (uint32_t i = 0; i < n; ++i) {
    const ProgramStep& step = program.steps[i];
    const auto s = static_cast<size_t>(step.stream);
    if (begins[i])
      for (Clock& c : now)
        for (size_t t = 0; t < kNumStreams; ++t)
          c.over[t] = static_cast<uint32_t>(steps_of_[t].size());
    Clock& clock = now[s];
    for (uint32_t e : step.waits)
      for (size_t t = 0; t < kNumStreams; ++t)
        clock.over[t] = std::max(clock.over[t], at_event[e].over[t]);
    clock_[i] = clock;
    ordinal_[i] = static_cast<uint32_t>(steps_of_[s].size());
    stream_[i] = static_cast<uint8_t>(s);
    steps_of_[s].push_back(i);
    ++clock.over[s];
    if (step.records != kNoEvent) at_event[step.records] = clock;
  }
}

uint32_t HappensBefore::first_index_after(uint32_t step) const {
  uint32_t last = step;  // the last step that is not known to begin later
  for (size_t t = 0; t < kNumStreams; ++t) {
    if (t == stream_[step]) continue;
    const std::vector<uint32_t>& others = steps_of_[t];
    // What a stream knows only grows, so the steps that begin later are a suffix of it.
    const auto known = std::partition_point(others.begin(), others.end(),
                                            [&](uint32_t o) { return !before(step, o); });
    if (known != others.begin()) last = std::max(last, *(known - 1));
  }
  return last + 1;
}

}  // namespace shw
