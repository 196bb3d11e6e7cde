// Plans a graph, runs it on virtual ranks, and makes f32 tensors for the runs.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compiler/pipeline.h"
#include "plan/plan.h"
#include "runtime/virtual_ranks.h"

namespace shw::testing {

// Plans the graph and returns the plan as read back from its bytes, as in production. Checks that
// save(load(p)) = p, that the optimum is proven, and that the plan without one of the passes gives
// the same bits (without_pass.h). Returns null after a failure.
std::shared_ptr<const Plan> planned(std::span<const uint8_t> graph, const CompileOptions& options);

// The two halves of `planned`, without the check that leaves passes out.
std::optional<Solved> solve(std::span<const uint8_t> graph, const CompileOptions& options);
std::shared_ptr<const Plan> plan_of(const Solved& solved, const CompileOptions& options);

std::unique_ptr<runtime::VirtualRanks> ranks_of(const std::shared_ptr<const Plan>& plan);

std::map<CollectiveKind, int> num_collectives(const Compiled& compiled);

runtime::HostTensorView f32(const std::vector<float>& v, Dims shape);
std::vector<float> floats(const runtime::HostTensor& t);

}  // namespace shw::testing
