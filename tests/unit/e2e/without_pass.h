// Plans made anew from their placements, with every pass that a program can do without and with one
// of them left out: all of them give the same bits, but for products that are done in parts.
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
  kPacking,  // without: every storage has a place of its own
};
inline constexpr uint32_t kNumOptionalPasses = 12;
const char* name_of(OptionalPass pass);

// A lowered program with all passes but this one, each of which does what it can: collectives are
// dear, and copies free.
struct Arranged {
  Program program;
  bool splits_products = false;
};
Result<Arranged> arranged(Program lowered, const Graph& graph, const RecomputePolicy& policy,
                          std::optional<OptionalPass> left_out);

// Which passes to leave out, one at a time.
enum class LeftOut : uint8_t {
  kOne,  // the one that the graph's hash tells
  kEach,
};

// Expects that a plan of what was solved gives the same bits as plans with all passes and without;
// within 5e-6 where products are done in parts.
// Returns the passes that changed the program.
std::set<OptionalPass> expect_same_without(const Solved& solved,
                                           const std::shared_ptr<const Plan>& plan,
                                           LeftOut left_out);

}  // namespace shw::testing
