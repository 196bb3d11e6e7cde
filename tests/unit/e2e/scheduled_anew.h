// Reschedules the steps of a plan, so that tests can compare results with those of the original
// plan.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "passes/fuse_collectives.h"
#include "plan/plan.h"

namespace shw::testing {

// The results of the plan's first entry on fixed inputs of type f32[8,8].
std::vector<std::vector<std::byte>> results_of(const std::shared_ptr<const Plan>& plan);

// Prices under which every collective that can be fused is fused: communication is expensive and
// copies are free.
FusePrices free_copies();

// The same plan with all steps in sequence on one stream.
Plan unscheduled(const Plan& plan);

// The plan rescheduled: without `depth` on one stream, otherwise with each collective started at
// most `depth` compute steps early. `fused`, if given, is increased by the number of collectives
// that fusing removed.
std::shared_ptr<const Plan> scheduled_anew(const Plan& plan, std::optional<uint32_t> depth,
                                           uint32_t* fused = nullptr);

}  // namespace shw::testing
