#include "passes/spare_time.h"

#include <algorithm>

#include "plan/port_uses.h"

namespace shw {

SpareTime::SpareTime(const Program& program, std::span<const ProgramStep* const> steps,
                     const EntrySchedule& schedule)
    : behind_us_(steps.size(), 0), feeds_(steps.size(), kNoStep), has_time_(steps.size(), 0) {
  const auto count = static_cast<uint32_t>(steps.size());
  const Dependencies& needs = schedule.needs();
  std::vector<double> through_us(count, 0);  // the longest chain to the end of the step
  double longest_us = 0, results_us = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (touches(program, steps[i]->inputs, PortRole::kTangent)) through_us[i] = results_us;
    for (uint32_t w : needs.before(i)) through_us[i] = std::max(through_us[i], through_us[w]);
    through_us[i] += schedule.us(i);
    longest_us = std::max(longest_us, through_us[i]);
    if (touches(program, steps[i]->outputs, PortRole::kResult))
      results_us = std::max(results_us, through_us[i]);
  }
  std::vector<double> from_us(count, 0);  // the longest chain from the start of the step
  double tangents_us = 0;
  for (uint32_t i = count; i-- > 0;) {
    for (uint32_t r : needs.after(i)) {
      behind_us_[i] = std::max(behind_us_[i], from_us[r]);
      if (feeds_[i] == kNoStep) feeds_[i] = schedule.is_collective(r) ? r : feeds_[r];
    }
    if (touches(program, steps[i]->outputs, PortRole::kResult))
      behind_us_[i] = std::max(behind_us_[i], tangents_us);
    from_us[i] = behind_us_[i] + schedule.us(i);
    has_time_[i] = !schedule.is_collective(i) && !schedule.is_of_parameters(i) &&
                   !steps[i]->recomputed &&
                   longest_us - through_us[i] - behind_us_[i] > schedule.mean_collective_us();
    if (touches(program, steps[i]->inputs, PortRole::kTangent))
      tangents_us = std::max(tangents_us, from_us[i]);
  }
}

}  // namespace shw
