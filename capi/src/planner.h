// The object behind a planner handle.
#pragma once
#include <memory>

#include "compile_options.h"
#include "compiler/constrained_model.h"
#include "context.h"
#include "shardwise/planner.h"

struct shw_planner {
  shw::capi::ContextRef context;
  std::unique_ptr<const shw::PreparedModel> model;
};

namespace shw::capi {

// A question to a planner: its options, changed for this call.
struct Question {
  CompileRequest request;
  ConstrainedModel model;
};
// The planner's options, changed for one call.
Result<CompileRequest> changed_request(const PreparedModel& model,
                                       const shw_planner_changes* changes);
Result<Question> question_of(const PreparedModel& model, const shw_planner_changes* changes);

}  // namespace shw::capi
