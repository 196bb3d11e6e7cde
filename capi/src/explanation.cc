// shw_explanation: why a node has its placement.
#include "explanation.h"
#include "answers/explain.h"
#include "blob.h"
#include "planner.h"

using namespace shw;
using namespace shw::capi;

struct shw_explanation {
  ContextRef context;
  answers::Explanation ours;
};

namespace shw::capi {
namespace {

constexpr size_t kExplanationOptionsSize_0_2 = SHW_SIZE_TO(shw_explanation_options, num_forced);
constexpr size_t kExplanationStrategySize_0_2 = SHW_SIZE_TO(shw_explanation_strategy, floor_us);
constexpr size_t kExplanationSummarySize_0_2 = SHW_SIZE_TO(shw_explanation_summary, step_us);
constexpr size_t kExplanationAlternativeSize_0_2 =
    SHW_SIZE_TO(shw_explanation_alternative, step_us);

shw_explanation_summary to_c(const answers::Explanation& e) {
  shw_explanation_summary c{};
  c.node = e.node.c_str();
  c.op = e.op.c_str();
  c.module_path = e.module_path.c_str();
  c.strategy = e.strategy.c_str();
  c.phase = e.phase == Phase::kForward ? SHW_PHASE_FORWARD : SHW_PHASE_BACKWARD;
  c.proven = e.proven;
  c.compute_us = e.cost.compute_us;
  c.communication_us = e.cost.comm_us;
  c.transition_us = e.cost.transition_us;
  c.objective_us = e.objective_us;
  c.bound_us = e.bound_us;
  c.second_best = e.second_best.value_or(SHW_NONE);
  c.step_us = std::max(e.step_us, 0.0);
  return c;
}

shw_explanation_alternative to_c(const answers::Alternative& a) {
  shw_explanation_alternative c{};
  c.layout = a.layout.c_str();
  c.chosen = a.chosen;
  c.num_strategies = a.num_strategies;
  c.floor_us = a.floor_us;
  c.strategy = "";
  if (!a.forced) return c;
  c.forced = 1;
  c.possible = a.forced->possible;
  c.proven = a.forced->proven;
  c.objective_us = a.forced->objective_us;
  c.bound_us = a.forced->bound_us;
  c.strategy = a.forced->strategy.c_str();
  c.changed_nodes = a.forced->changed_nodes;
  c.step_us = std::max(a.forced->step_us, 0.0);
  return c;
}

shw_explanation_strategy to_c(const answers::StrategyFloor& s) {
  shw_explanation_strategy c{};
  c.name = s.strategy.c_str();
  c.chosen = s.chosen;
  c.compute_us = s.compute_us;
  c.floor_us = s.floor_us;
  return c;
}

Result<answers::ExplainRequest> request_of(const char* node,
                                           const shw_explanation_options* options) {
  SHW_ASSIGN_OR_RETURN(const shw_explanation_options in,
                       copy_in(options, kExplanationOptionsSize_0_2));
  SHW_RETURN_IF_ERROR(check_flags(in.flags, 0));
  answers::ExplainRequest request{.node = node};
  if (in.layout != nullptr) request.layout = in.layout;
  if (in.num_forced > 0)
    request.forced_layouts = static_cast<uint32_t>(
        std::min<size_t>(in.num_forced, std::numeric_limits<uint32_t>::max()));
  return request;
}

}  // namespace

shw_explanation_edge to_c(const answers::EdgePrice& edge) {
  shw_explanation_edge c{};
  c.producer = edge.producer.c_str();
  c.consumer = edge.consumer.c_str();
  c.operand = edge.operand;
  c.from = edge.from.c_str();
  c.to = edge.to.c_str();
  c.communication_us = edge.comm_us;
  c.transition_us = edge.transition_us;
  return c;
}

}  // namespace shw::capi

void shw_explanation_options_init(shw_explanation_options* options, size_t size) {
  init_struct(options, size);
}
void shw_explanation_strategy_init(shw_explanation_strategy* strategy, size_t size) {
  init_struct(strategy, size);
}
void shw_explanation_summary_init(shw_explanation_summary* summary, size_t size) {
  init_struct(summary, size);
}
void shw_explanation_alternative_init(shw_explanation_alternative* alternative, size_t size) {
  init_struct(alternative, size);
}
void shw_explanation_edge_init(shw_explanation_edge* edge, size_t size) { init_struct(edge, size); }

shw_status* shw_planner_explain(shw_planner* planner, const char* node,
                                const shw_explanation_options* options,
                                const shw_planner_changes* changes,
                                shw_explanation** out_explanation) {
  return make_handle(
      out_explanation, "out_explanation", [&]() -> Result<std::unique_ptr<shw_explanation>> {
        SHW_WANT(planner);
        SHW_WANT(node);
        SHW_ASSIGN_OR_RETURN(const answers::ExplainRequest request, request_of(node, options));
        SHW_ASSIGN_OR_RETURN(Question asked, question_of(*planner->model, changes));
        SHW_ASSIGN_OR_RETURN(answers::Explanation explanation,
                             answers::explain(asked.model, request, asked.request.options.solver,
                                              asked.request.monitor));
        return std::make_unique<shw_explanation>(
            shw_explanation{planner->context, std::move(explanation)});
      });
}

shw_status* shw_explanation_get_summary(const shw_explanation* explanation,
                                        shw_explanation_summary* out_summary) {
  return fill_struct(out_summary, "out_summary", kExplanationSummarySize_0_2,
                     [&](auto& out) -> Status {
                       SHW_WANT(explanation);
                       out = to_c(explanation->ours);
                       return {};
                     });
}

size_t shw_explanation_num_alternatives(const shw_explanation* explanation) {
  return explanation ? explanation->ours.alternatives.size() : 0;
}

shw_status* shw_explanation_get_alternative(const shw_explanation* explanation, size_t index,
                                            shw_explanation_alternative* out_alternative) {
  return fill_struct(out_alternative, "out_alternative", kExplanationAlternativeSize_0_2,
                     [&](auto& out) -> Status {
                       SHW_WANT(explanation);
                       const auto& all = explanation->ours.alternatives;
                       SHW_RETURN_IF_ERROR(check_index(index, all.size(), "alternative"));
                       out = to_c(all[index]);
                       return {};
                     });
}

size_t shw_explanation_num_strategies(const shw_explanation* explanation) {
  return explanation ? explanation->ours.strategies.size() : 0;
}

shw_status* shw_explanation_get_strategy(const shw_explanation* explanation, size_t index,
                                         shw_explanation_strategy* out_strategy) {
  return fill_struct(out_strategy, "out_strategy", kExplanationStrategySize_0_2,
                     [&](auto& out) -> Status {
                       SHW_WANT(explanation);
                       const auto& all = explanation->ours.strategies;
                       SHW_RETURN_IF_ERROR(check_index(index, all.size(), "strategy"));
                       out = to_c(all[index]);
                       return {};
                     });
}

size_t shw_explanation_num_edges(const shw_explanation* explanation) {
  return explanation ? explanation->ours.operands.size() + explanation->ours.users.size() : 0;
}

shw_status* shw_explanation_get_edge(const shw_explanation* explanation, size_t index,
                                     shw_explanation_edge* out_edge) {
  return fill_struct(out_edge, "out_edge", kEdgeSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(explanation);
    SHW_RETURN_IF_ERROR(check_index(index, shw_explanation_num_edges(explanation), "edge"));
    const auto& [operands, users] = std::tie(explanation->ours.operands, explanation->ours.users);
    out = to_c(index < operands.size() ? operands[index] : users[index - operands.size()]);
    return {};
  });
}

shw_status* shw_explanation_to_json(const shw_explanation* explanation, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(explanation);
    return make_blob(explanation->context, answers::to_json(explanation->ours));
  });
}

shw_status* shw_explanation_to_text(const shw_explanation* explanation, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(explanation);
    return make_blob(explanation->context, answers::to_text(explanation->ours));
  });
}

void shw_explanation_destroy(shw_explanation* explanation) { delete explanation; }
