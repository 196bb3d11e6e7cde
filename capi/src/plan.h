// The object behind a plan handle. Executors share it, so the caller may destroy the handle at any
// time.
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

// A plan, with the texts and arrays that its getters return pointers to.
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

// Loads the plan from its bytes, and writes a line to the log.
Result<PlanRef> plan_of(const ContextRef& context, Compiled compiled);

// OUT_OF_RANGE: there is no such port.
Result<PortId> port_of(const LoadedPlan& plan, size_t index);

// True if the ranks are known to hold different parts of the port. Ranks that hold the same part
// may share a buffer.
bool is_of_other_rank(const PieceOf& piece, const PlanRef& plan, const Port& port, int64_t rank);

}  // namespace shw::capi

struct shw_plan {
  shw::capi::PlanRef ref;
};
