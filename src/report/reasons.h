// Why each node has its layout: the cost of its operands, and a lower bound on the cost of every
// other layout of its result. This needs a model, because a plan stores only the chosen layouts.
#pragma once
#include <string>
#include <vector>

#include "answers/explain.h"
#include "plan/plan.h"

namespace shw::report {

struct Reasons {
  struct Operand {
    uint32_t producer;  // a node of the model's graph
    std::string from, to;
    double comm_us;
  };
  struct Alternative {
    std::string layout;  // in any shard order
    double floor_us;     // no plan with this layout is cheaper; infinite: none exists
  };
  struct Exact {
    std::string port;
    answers::Explanation explanation;
  };
  double certified_us = 0;                             // the bound that the floors are derived from
  std::vector<std::vector<Operand>> operands;          // by node
  std::vector<std::vector<Alternative>> alternatives;  // by node, the lowest floor first
  // Explanations of one parameter of each kind, with exact prices of the cheapest layouts. There
  // are fewer if solving takes long, and none without a proof or under a memory limit, where each
  // solve is a search.
  std::vector<Exact> exact;
};

// `placed` must be the solution for `model`, and `plan` must have been made from it.
// FAILED_PRECONDITION: the plan is another one.
Result<Reasons> reasons(const ConstrainedModel& model, const Placed& placed, const Plan& plan,
                        const solver::SolveOptions& options, Monitor& monitor);

}  // namespace shw::report
