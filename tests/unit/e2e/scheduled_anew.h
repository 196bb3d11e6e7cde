// Plans whose steps are arranged anew, to compare with what they were made of.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "passes/fuse_collectives.h"
#include "plan/plan.h"

namespace shw::testing {

// The results of the plan's first entry, for inputs of f32[8,8].
std::vector<std::vector<std::byte>> results_of(const std::shared_ptr<const Plan>& plan);

// All collectives that can be fused are: communication is dear, and copies are free.
FusePrices free_copies();

// The plan's steps one after another on one stream.
Plan unscheduled(const Plan& plan);

// On one stream, or with collectives started again, no more than so many compute steps early.
// `fused`: adds how many collectives are gone because they are fused.
std::shared_ptr<const Plan> scheduled_anew(const Plan& plan, std::optional<uint32_t> depth,
                                           uint32_t* fused = nullptr);

}  // namespace shw::testing
