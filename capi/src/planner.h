// What a planner is behind its handle.
#pragma once
#include <memory>

#include "compile_options.h"
#include "compiler/planner.h"
#include "context.h"
#include "shardwise/planner.h"

struct shw_planner {
  shw::capi::ContextRef context;
  std::unique_ptr<shw::Planner> planner;
};

namespace shw::capi {

// One question to a planner: its options, changed for this call.
struct Question {
  CompileRequest request;
  PlacementConstraints constraints;
};
Result<Question> question_of(const Planner& planner, const shw_planner_changes* changes);

}  // namespace shw::capi
