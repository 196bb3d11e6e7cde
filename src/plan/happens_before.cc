#include "plan/happens_before.h"

#include <algorithm>

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

  using Clock = std::vector<uint32_t>;
  std::vector<Clock> now(num_streams_, Clock(num_streams_));  // what a stream's next step knows
  std::vector<Clock> at_event(program.num_events);
  for (uint32_t i = 0; i < n; ++i) {
    const ProgramStep& step = program.steps[i];
    if (begins[i])
      for (Clock& c : now)
        for (size_t t = 0; t < num_streams_; ++t) c[t] = static_cast<uint32_t>(steps_of_[t].size());
    Clock& clock = now[step.stream];
    for (uint32_t e : step.waits)
      for (size_t t = 0; t < at_event[e].size(); ++t) clock[t] = std::max(clock[t], at_event[e][t]);
    std::ranges::copy(clock, over_.begin() + static_cast<std::ptrdiff_t>(i * num_streams_));
    ordinal_[i] = static_cast<uint32_t>(steps_of_[step.stream].size());
    stream_[i] = step.stream;
    steps_of_[step.stream].push_back(i);
    ++clock[step.stream];
    if (step.records != kNoEvent) at_event[step.records] = clock;
  }
}

uint32_t HappensBefore::first_index_after(uint32_t step) const {
  uint32_t last = step;  // the last step that is not known to begin later
  for (size_t t = 0; t < num_streams_; ++t) {
    if (t == stream_[step]) continue;
    const std::vector<uint32_t>& others = steps_of_[t];
    // The knowledge of a stream only grows, so the steps that begin after `step` are a suffix of
    // the stream.
    const auto known = std::partition_point(others.begin(), others.end(),
                                            [&](uint32_t o) { return !before(step, o); });
    if (known != others.begin()) last = std::max(last, *(known - 1));
  }
  return last + 1;
}

}  // namespace shw
