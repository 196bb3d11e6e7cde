#include "answers/plan_diff.h"

#include <algorithm>
#include <unordered_map>

#include "plan/memory_report.h"
#include "support/stable_sort.h"

namespace shw::answers {
namespace {

PlanFigures figures_of(const Plan& plan) {
  const PlanSummary& s = plan.summary;
  PlanFigures f;
  for (const Mesh::Axis& a : plan.program.mesh)
    f.mesh += (f.mesh.empty() ? "" : ",") + a.name + "=" + std::to_string(a.size);
  f.hardware = s.hardware;
  f.rules = s.rules;
  f.objective_us = s.objective_us;
  f.compute_us = s.compute_us;
  f.comm_us = s.comm_us;
  f.transition_us = s.transition_us;
  f.proven = s.proven;
  f.parameter_bytes = port_bytes(plan.program, PortRole::kParameter);
  f.gradient_bytes = port_bytes(plan.program, PortRole::kGradient);
  f.arena_bytes = plan.program.arena_bytes;
  f.memory_peak_bytes = s.memory_peak_bytes;
  for (const auto& [kind, bytes] : memory_by_kind(s)) f.peak_by_kind[kind] = bytes;
  f.collectives = collective_totals(plan.program);
  return f;
}

// Looks up decisions by name. Names need not be unique: equal ones are matched in order.
class ByName {
 public:
  explicit ByName(const std::vector<NodeDecision>& decisions) {
    for (auto it = decisions.rbegin(); it != decisions.rend(); ++it)
      left_[it->name].push_back(&*it);
  }
  const NodeDecision* take(const std::string& name) {
    const auto it = left_.find(name);
    if (it == left_.end() || it->second.empty()) return nullptr;
    const NodeDecision* d = it->second.back();
    it->second.pop_back();
    return d;
  }

 private:
  std::unordered_map<std::string, std::vector<const NodeDecision*>> left_;
};

}  // namespace

PlanDiff plan_diff(const Plan& before, const Plan& after) {
  PlanDiff diff;
  diff.before = figures_of(before);
  diff.after = figures_of(after);
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> changes;
  ByName others(after.summary.decisions);
  for (const NodeDecision& was : before.summary.decisions) {
    const NodeDecision* is = others.take(was.name);
    if (is == nullptr)
      diff.only_before.push_back(was.name);
    else if (is->result_layout != was.result_layout)
      changes[{was.result_layout, is->result_layout}].push_back(was.name);
    else if (is->operand_layouts != was.operand_layouts)
      diff.operands_only.push_back(was.name);
    else
      ++diff.unchanged;
  }
  ByName mine(before.summary.decisions);
  for (const NodeDecision& is : after.summary.decisions)
    if (mine.take(is.name) == nullptr) diff.only_after.push_back(is.name);
  for (auto& [layouts, nodes] : changes)
    diff.changes.push_back({layouts.first, layouts.second, std::move(nodes)});
  sort_stably(diff.changes,
              [](const auto& a, const auto& b) { return a.nodes.size() > b.nodes.size(); });
  return diff;
}

}  // namespace shw::answers
