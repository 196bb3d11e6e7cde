// shw_comparison: how two plans differ.
#include "shardwise/comparison.h"

#include "answers/plan_diff.h"
#include "blob.h"
#include "plan.h"

using namespace shw;
using namespace shw::capi;

struct shw_comparison {
  ContextRef context;
  answers::PlanDiff ours;
  std::vector<shw_comparison_node> nodes;  // strings are of `ours`
};

namespace shw::capi {
namespace {

constexpr size_t kComparisonNodeSize_0_2 = SHW_SIZE_TO(shw_comparison_node, reserved);

std::vector<shw_comparison_node> nodes_of(const answers::PlanDiff& diff) {
  std::vector<shw_comparison_node> nodes;
  const auto add = [&](const std::vector<std::string>& names, shw_difference difference,
                       const char* from = "", const char* to = "") {
    for (const std::string& name : names)
      nodes.push_back({sizeof(shw_comparison_node), name.c_str(), from, to, difference, 0});
  };
  for (const answers::LayoutChange& change : diff.changes)
    add(change.nodes, SHW_DIFFERENCE_RESULT, change.from.c_str(), change.to.c_str());
  add(diff.operands_only, SHW_DIFFERENCE_OPERANDS);
  add(diff.only_before, SHW_DIFFERENCE_ONLY_BEFORE);
  add(diff.only_after, SHW_DIFFERENCE_ONLY_AFTER);
  return nodes;
}

}  // namespace
}  // namespace shw::capi

void shw_comparison_node_init(shw_comparison_node* node, size_t size) { init_struct(node, size); }

shw_status* shw_plan_compare(const shw_plan* before, const shw_plan* after,
                             shw_comparison** out_comparison) {
  return make_handle(out_comparison, "out_comparison",
                     [&]() -> Result<std::unique_ptr<shw_comparison>> {
                       SHW_WANT(before);
                       SHW_WANT(after);
                       auto made = std::make_unique<shw_comparison>();
                       made->context = before->ref->context;
                       made->ours = answers::plan_diff(before->ref->plan, after->ref->plan);
                       made->nodes = nodes_of(made->ours);
                       return made;
                     });
}

size_t shw_comparison_num_unchanged(const shw_comparison* comparison) {
  return comparison ? comparison->ours.unchanged : 0;
}

size_t shw_comparison_num_nodes(const shw_comparison* comparison) {
  return comparison ? comparison->nodes.size() : 0;
}

shw_status* shw_comparison_get_node(const shw_comparison* comparison, size_t index,
                                    shw_comparison_node* out_node) {
  return fill_struct(out_node, "out_node", kComparisonNodeSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(comparison);
    SHW_RETURN_IF_ERROR(check_index(index, comparison->nodes.size(), "node"));
    out = comparison->nodes[index];
    return {};
  });
}

shw_status* shw_comparison_to_json(const shw_comparison* comparison, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(comparison);
    return make_blob(comparison->context, answers::to_json(comparison->ours));
  });
}

shw_status* shw_comparison_to_text(const shw_comparison* comparison, shw_blob** out_blob) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(comparison);
    return make_blob(comparison->context, answers::to_text(comparison->ours, /*with_nodes=*/true));
  });
}

void shw_comparison_destroy(shw_comparison* comparison) { delete comparison; }
