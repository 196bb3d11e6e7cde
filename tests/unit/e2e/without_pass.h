// Lowers a solved placement again, once with all optional passes and once with one of them left
// out. All these programs must give the same bits, except where products are computed in parts.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "compiler/pipeline.h"
#include "plan/plan.h"

namespace shw::testing {

enum class OptionalPass : uint8_t {
  kCommonSubexpressions,
  kDeadSteps,
  kRecompute,
  kGatherChains,
  kSplitBatches,
  kSplitRows,
  kFuseCollectives,
  kScheduleCollectives,
  kFuseSteps,
  kRepeatInGroups,
  kLendOutputs,
  kPacking,  // without it, every storage has its own place in the arena
};
inline constexpr uint32_t kNumOptionalPasses = 12;
const char* name_of(OptionalPass pass);

// A lowered program after all passes except `left_out`. Collectives are priced as expensive and
// copies as free, so that each pass changes as much as it can.
struct Arranged {
  Program program;
  bool splits_products = false;
};
Result<Arranged> arranged(Program lowered, const Graph& graph, const RecomputePolicy& policy,
                          std::optional<OptionalPass> left_out);

// Which passes to leave out, one at a time.
enum class LeftOut : uint8_t {
  kOne,  // one pass, chosen by the graph's hash
  kEach,
};

// Expects that `plan`, which was made from `solved`, gives the same bits as a plan with all passes
// and plans with a pass left out. Where products are computed in parts, the results may differ by
// 5e-6. Returns the passes that changed the program.
std::set<OptionalPass> expect_same_without(const Solved& solved,
                                           const std::shared_ptr<const Plan>& plan,
                                           LeftOut left_out);

}  // namespace shw::testing
