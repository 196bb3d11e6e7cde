#include "compiler/recompute_within.h"

#include "compiler/choices_near_limit.h"
#include "compiler/every_choice.h"
#include "compiler/repeat_attempts.h"
#include "compiler/repeat_choices.h"

namespace shw {
namespace {

// Limits on the total steps of the programs built, one program per choice. Building kAllSteps takes
// some tenths of a second. If the programs of all choices have more steps, only evenly spaced
// choices are built. With more than kMostStepsOfAll, the search is that of choices_near_limit.h.
constexpr uint64_t kAllSteps = 80'000;
constexpr uint64_t kMostStepsOfAll = 400'000;

}  // namespace

Result<Program> recompute_within(const Program& program, const Graph& graph, int64_t limit_bytes,
                                 const WithinOptions& options, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(const RepeatChoices choices, RepeatChoices::of(program, graph, monitor));
  RepeatAttempts attempts(program, graph, choices, limit_bytes, options, monitor);
  const uint64_t steps = program.steps.size(), steps_of_all = choices.count() * steps;
  const bool is_large = steps_of_all > kMostStepsOfAll;
  const auto apart = static_cast<uint32_t>(steps_of_all / kAllSteps + 1);
  const bool with_parts = choices.count_with_parts() * steps <= kAllSteps;
  if (!is_large) SHW_RETURN_IF_ERROR(attempt_every_choice(attempts, apart, with_parts));
  // If only evenly spaced choices were tried and none fits, one between them may. The search for it
  // is needed only if no other placement fits.
  if (is_large || (!attempts.fits() && apart > 1 && options.beat_us == kEndless))
    SHW_RETURN_IF_ERROR(attempt_choices_near_limit(attempts));
  if (options.fuse_bytes > 0 && attempts.fits()) SHW_RETURN_IF_ERROR(attempts.fuse_best());
  return attempts.take_best();
}

}  // namespace shw
