// From a graph to its virtual ranks, and tensors of f32 for them.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compiler/pipeline.h"
#include "plan/plan.h"
#include "runtime/virtual_ranks.h"

namespace shw::testing {

// Through bytes, as everything runs; save(load(p)) = p; the optimum is proven. Null: a failure.
std::shared_ptr<const Plan> planned(std::span<const uint8_t> graph, const CompileOptions& options);

std::unique_ptr<runtime::VirtualRanks> ranks_of(const std::shared_ptr<const Plan>& plan);

std::map<CollectiveKind, int> num_collectives(const Compiled& compiled);

runtime::HostTensorView f32(const std::vector<float>& v, Dims shape);
std::vector<float> floats(const runtime::HostTensor& t);

}  // namespace shw::testing
