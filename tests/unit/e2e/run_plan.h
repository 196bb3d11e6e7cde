// From a graph to its virtual ranks, and tensors of f32 for them.
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

// Through bytes, as everything runs; save(load(p)) = p; the optimum is proven; the same bits
// without one of the passes (without_pass.h). Null: a failure.
std::shared_ptr<const Plan> planned(std::span<const uint8_t> graph, const CompileOptions& options);

// The two halves of it, without leaving passes out.
std::optional<Solved> solve(std::span<const uint8_t> graph, const CompileOptions& options);
std::shared_ptr<const Plan> plan_of(const Solved& solved, const CompileOptions& options);

std::unique_ptr<runtime::VirtualRanks> ranks_of(const std::shared_ptr<const Plan>& plan);

std::map<CollectiveKind, int> num_collectives(const Compiled& compiled);

runtime::HostTensorView f32(const std::vector<float>& v, Dims shape);
std::vector<float> floats(const runtime::HostTensor& t);

}  // namespace shw::testing
