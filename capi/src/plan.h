// What a plan is behind its handle. Executors share it, so that the caller may destroy the handle
// at any time.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "buffer.h"
#include "compiler/pipeline.h"
#include "context.h"
#include "plan/plan.h"
#include "plan/report.h"
#include "sharding/layout.h"
#include "shardwise/plan.h"

namespace shw::capi {

// A plan, and the texts and arrays that its getters lend.
struct LoadedPlan {
  static Result<std::shared_ptr<const LoadedPlan>> create(ContextRef context, Plan plan,
                                                          std::vector<PhaseTime> phases,
                                                          const solver::SolveStats& effort = {});
  struct Entry {
    std::vector<size_t> inputs, outputs, after;
  };

  ContextRef context;
  Plan plan;
  Mesh mesh;
  std::vector<PhaseTime> phases;  // of the compilation; empty for a plan that was read
  solver::SolveStats effort;      // likewise
  std::vector<std::pair<std::string, CollectiveTotal>> collectives;
  IndexVec<PortId, std::string> port_layouts;
  IndexVec<PortId, std::string> port_dims;  // expressions of symbols; empty: numbers
  std::vector<Entry> entries;
};
using PlanRef = std::shared_ptr<const LoadedPlan>;

// The plan as its bytes say it, and a line in the log.
Result<PlanRef> plan_of(const ContextRef& context, Compiled compiled);

// OUT_OF_RANGE: there is no such port.
Result<PortId> port_of(const LoadedPlan& plan, size_t index);

// True where it is known that the ranks hold different parts of the port: ranks that hold the same
// may share a buffer.
bool is_of_other_rank(const PieceOf& piece, const PlanRef& plan, const Port& port, int64_t rank);

}  // namespace shw::capi

struct shw_plan {
  shw::capi::PlanRef ref;
};
