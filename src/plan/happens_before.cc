#include "plan/happens_before.h"

#include <algorithm>
#include <span>

namespace shw {

HappensBefore::HappensBefore(const Program& program)
    : num_streams_(program.streams.size()), steps_of_(program.streams.size()) {
  const size_t n = program.steps.size();
  over_.resize(n * num_streams_);
  ordinal_.resize(n);
  stream_.resize(n);
  std::vector<uint8_t> begins(n, 0);
  for (const ProgramEntry& e : program.entries)
    if (e.first_step < n) begins[e.first_step] = 1;

  // What the next step of each stream knows, and what each event tells: a clock of all streams.
  std::vector<uint32_t> now(num_streams_ * num_streams_),
      at_event(program.num_events * num_streams_);
  const auto clock_of = [&](std::vector<uint32_t>& clocks, size_t i) {
    return std::span(clocks).subspan(i * num_streams_, num_streams_);
  };
  for (uint32_t i = 0; i < n; ++i) {
    const ProgramStep& step = program.steps[i];
    if (begins[i])
      for (size_t s = 0; s < num_streams_; ++s)
        for (size_t t = 0; t < num_streams_; ++t)
          clock_of(now, s)[t] = static_cast<uint32_t>(steps_of_[t].size());
    const auto clock = clock_of(now, step.stream);
    for (uint32_t e : step.waits)
      for (size_t t = 0; t < num_streams_; ++t)
        clock[t] = std::max(clock[t], clock_of(at_event, e)[t]);
    std::ranges::copy(clock, over_.begin() + static_cast<std::ptrdiff_t>(i * num_streams_));
    ordinal_[i] = static_cast<uint32_t>(steps_of_[step.stream].size());
    stream_[i] = step.stream;
    steps_of_[step.stream].push_back(i);
    ++clock[step.stream];
    if (step.records != kNoEvent)
      std::ranges::copy(clock, clock_of(at_event, step.records).begin());
  }
}

std::vector<uint32_t> HappensBefore::first_indices_after() const {
  std::vector<uint32_t> after(stream_.size());
  for (uint32_t i = 0; i < after.size(); ++i) after[i] = i + 1;
  for (size_t s = 0; s < num_streams_; ++s)
    for (size_t t = 0; t < num_streams_; ++t) {
      if (t == s) continue;
      // The knowledge of a stream only grows, and its later steps are over later. So the steps of
      // `t` that are not known to begin after a step of `s` are a prefix that grows with the step.
      const std::vector<uint32_t>& others = steps_of_[t];
      size_t known = 0;
      for (const uint32_t step : steps_of_[s]) {
        while (known < others.size() && !before(step, others[known])) ++known;
        if (known > 0) after[step] = std::max(after[step], others[known - 1] + 1);
      }
    }
  return after;
}

}  // namespace shw
