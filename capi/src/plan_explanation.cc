// shw_plan_explanation: the costs of a plan, and how far prices may change.
#include "answers/explain_plan.h"
#include "blob.h"
#include "explanation.h"
#include "planner.h"

using namespace shw;
using namespace shw::capi;

struct shw_plan_explanation {
  ContextRef context;
  answers::PlanExplanation ours;
  std::vector<shw_plan_explanation_rival> rivals;
};

namespace shw::capi {
namespace {

constexpr size_t kPlanExplanationSummarySize_0_2 =
    SHW_SIZE_TO(shw_plan_explanation_summary, reserved);
constexpr size_t kPlanExplanationRivalSize_0_2 =
    SHW_SIZE_TO(shw_plan_explanation_rival, changed_nodes);
constexpr size_t kPlanExplanationGroupSize_0_2 =
    SHW_SIZE_TO(shw_plan_explanation_group, communication_us);

shw_plan_explanation_summary to_c(const answers::PlanExplanation& e) {
  shw_plan_explanation_summary c{};
  c.objective_us = e.objective_us;
  c.compute_us = e.total.compute_us;
  c.communication_us = e.total.comm_us;
  c.transition_us = e.total.transition_us;
  c.bound_us = e.bound_us;
  c.num_paying_edges = e.paying_edges;
  c.proven = e.proven;
  c.factor_exact = e.communication.exact;
  c.factor_from = e.communication.from;
  c.factor_to = e.communication.to;
  c.memory_from_bytes = e.memory.from_bytes;
  c.memory_to_at_least_bytes = e.memory.to_at_least_bytes;
  c.memory_to_below_bytes = e.memory.to_below_bytes;
  c.memory_exact = e.memory.exact;
  return c;
}

shw_plan_explanation_rival rival_of(double factor, const answers::Rival& rival) {
  shw_plan_explanation_rival c{};
  c.factor = factor;
  c.compute_us = rival.compute_us;
  c.communication_us = rival.comm_us;
  c.transition_us = rival.transition_us;
  c.changed_nodes = rival.changed_nodes;
  return c;
}

shw_plan_explanation_group to_c(const answers::EdgeGroup& group) {
  shw_plan_explanation_group c{};
  c.module_path = group.module.c_str();
  c.producer = group.producer.c_str();
  c.consumer = group.consumer.c_str();
  c.from = group.from.c_str();
  c.to = group.to.c_str();
  c.count = group.count;
  c.communication_us = group.comm_us;
  return c;
}

}  // namespace
}  // namespace shw::capi

void shw_plan_explanation_summary_init(shw_plan_explanation_summary* summary, size_t size) {
  init_struct(summary, size);
}
void shw_plan_explanation_rival_init(shw_plan_explanation_rival* rival, size_t size) {
  init_struct(rival, size);
}
void shw_plan_explanation_group_init(shw_plan_explanation_group* group, size_t size) {
  init_struct(group, size);
}

shw_status* shw_planner_explain_plan(shw_planner* planner, const shw_planner_changes* changes,
                                     shw_plan_explanation** out_explanation) {
  return make_handle(
      out_explanation, "out_explanation", [&]() -> Result<std::unique_ptr<shw_plan_explanation>> {
        SHW_WANT(planner);
        SHW_ASSIGN_OR_RETURN(Question asked, question_of(*planner->model, changes));
        auto made = std::make_unique<shw_plan_explanation>();
        made->context = planner->context;
        SHW_ASSIGN_OR_RETURN(made->ours,
                             answers::explain_plan(asked.model, asked.request.options.solver,
                                                   asked.request.monitor));
        const answers::CommunicationRange& range = made->ours.communication;
        if (range.below) made->rivals.push_back(rival_of(range.from, *range.below));
        if (range.above) made->rivals.push_back(rival_of(range.to, *range.above));
        return made;
      });
}

shw_status* shw_plan_explanation_get_summary(const shw_plan_explanation* explanation,
                                             shw_plan_explanation_summary* out_summary) {
  return fill_struct(out_summary, "out_summary", kPlanExplanationSummarySize_0_2,
                     [&](auto& out) -> Status {
                       SHW_WANT(explanation);
                       out = to_c(explanation->ours);
                       return {};
                     });
}

size_t shw_plan_explanation_num_rivals(const shw_plan_explanation* explanation) {
  return explanation ? explanation->rivals.size() : 0;
}

shw_status* shw_plan_explanation_get_rival(const shw_plan_explanation* explanation, size_t index,
                                           shw_plan_explanation_rival* out_rival) {
  return fill_struct(out_rival, "out_rival", kPlanExplanationRivalSize_0_2,
                     [&](auto& out) -> Status {
                       SHW_WANT(explanation);
                       SHW_RETURN_IF_ERROR(check_index(index, explanation->rivals.size(), "rival"));
                       out = explanation->rivals[index];
                       return {};
                     });
}

size_t shw_plan_explanation_num_edges(const shw_plan_explanation* explanation) {
  return explanation ? explanation->ours.dearest.size() : 0;
}

shw_status* shw_plan_explanation_get_edge(const shw_plan_explanation* explanation, size_t index,
                                          shw_explanation_edge* out_edge) {
  return fill_struct(out_edge, "out_edge", kEdgeSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(explanation);
    SHW_RETURN_IF_ERROR(check_index(index, explanation->ours.dearest.size(), "edge"));
    out = to_c(explanation->ours.dearest[index]);
    return {};
  });
}

size_t shw_plan_explanation_num_groups(const shw_plan_explanation* explanation) {
  return explanation ? explanation->ours.groups.size() : 0;
}

shw_status* shw_plan_explanation_get_group(const shw_plan_explanation* explanation, size_t index,
                                           shw_plan_explanation_group* out_group) {
  return fill_struct(
      out_group, "out_group", kPlanExplanationGroupSize_0_2, [&](auto& out) -> Status {
        SHW_WANT(explanation);
        SHW_RETURN_IF_ERROR(check_index(index, explanation->ours.groups.size(), "group"));
        out = to_c(explanation->ours.groups[index]);
        return {};
      });
}

shw_status* shw_plan_explanation_to_json(const shw_plan_explanation* explanation,
                                         shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(explanation);
    return make_blob(explanation->context, answers::to_json(explanation->ours));
  });
}

shw_status* shw_plan_explanation_to_text(const shw_plan_explanation* explanation,
                                         shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(explanation);
    return make_blob(explanation->context, answers::to_text(explanation->ours));
  });
}

void shw_plan_explanation_destroy(shw_plan_explanation* explanation) { delete explanation; }
