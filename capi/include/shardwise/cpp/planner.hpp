// Several questions of one graph, and their answers; machines, and problems without a graph.
#ifndef SHARDWISE_CPP_PLANNER_HPP_
#define SHARDWISE_CPP_PLANNER_HPP_

#include "shardwise/cpp/plan.hpp"

namespace shardwise {
inline namespace SHARDWISE_MODE {

struct PlannerChanges : shw_planner_changes {
  PlannerChanges() noexcept : shw_planner_changes(detail::defaults(shw_planner_changes_init)) {}
  PlannerChanges& set_pins(Span<const shw_pin> all) noexcept {
    pins = all.data();
    num_pins = all.size();
    return *this;
  }
  PlannerChanges& set_without(Span<const char* const> names) noexcept {
    without = names.data();
    num_without = names.size();
    return *this;
  }
};

class Explanation : public Handle<shw_explanation, shw_explanation_destroy> {
 public:
  using Handle::Handle;
  SHARDWISE_SUMMARY(explanation, summary)
  SHARDWISE_ROWS(explanation, alternatives, alternative, explanation_alternative)
  SHARDWISE_ROWS(explanation, strategies, strategy, explanation_strategy)
  SHARDWISE_ROWS(explanation, edges, edge, explanation_edge)
  SHARDWISE_DOCUMENT(explanation, to_json)
  SHARDWISE_DOCUMENT(explanation, to_text)
};

class PlanExplanation : public Handle<shw_plan_explanation, shw_plan_explanation_destroy> {
 public:
  using Handle::Handle;
  SHARDWISE_SUMMARY(plan_explanation, summary)
  SHARDWISE_ROWS(plan_explanation, rivals, rival, plan_explanation_rival)
  SHARDWISE_ROWS(plan_explanation, edges, edge, explanation_edge)
  SHARDWISE_ROWS(plan_explanation, groups, group, plan_explanation_group)
  SHARDWISE_DOCUMENT(plan_explanation, to_json)
  SHARDWISE_DOCUMENT(plan_explanation, to_text)
};

class Pareto : public Handle<shw_pareto, shw_pareto_destroy> {
 public:
  using Handle::Handle;
  SHARDWISE_ROWS(pareto, points, point, pareto_point)
  SHARDWISE_DOCUMENT(pareto, to_json)
  SHARDWISE_DOCUMENT(pareto, to_text)
  SHARDWISE_DOCUMENT(pareto, to_svg)
};

class Recipes : public Handle<shw_recipes, shw_recipes_destroy> {
 public:
  using Handle::Handle;
  SHARDWISE_ROWS(recipes, rows, row, recipes_row)
  SHARDWISE_DOCUMENT(recipes, to_json)
  SHARDWISE_DOCUMENT(recipes, to_text)
  SHARDWISE_DOCUMENT(recipes, to_svg)
};

// A graph prepared for a mesh. One thread at a time. Changes: nullptr for none.
class Planner : public Handle<shw_planner, shw_planner_destroy> {
 public:
  using Handle::Handle;
  static Returned<Planner> create(const Context& context, const Blob& graph,
                                  const shw_compile_options& options) {
    return detail::make<Planner>([&](shw_planner** out) {
      return shw_planner_create(context.get(), bytes(graph), &options, out);
    });
  }
  Returned<Plan> compile(const shw_planner_changes* changes = nullptr) {
    return detail::make<Plan>(
        [&](shw_plan** out) { return shw_planner_compile(get(), changes, out); });
  }
  Returned<Blob> to_export(const shw_planner_changes* changes = nullptr) {
    return detail::make<Blob>(
        [&](shw_blob** out) { return shw_planner_export(get(), changes, out); });
  }
  Returned<Explanation> explain(const char* node, const shw_explanation_options* options = nullptr,
                                const shw_planner_changes* changes = nullptr) {
    return detail::make<Explanation>([&](shw_explanation** out) {
      return shw_planner_explain(get(), node, options, changes, out);
    });
  }
  Returned<PlanExplanation> explain_plan(const shw_planner_changes* changes = nullptr) {
    return detail::make<PlanExplanation>(
        [&](shw_plan_explanation** out) { return shw_planner_explain_plan(get(), changes, out); });
  }
  Returned<Pareto> pareto(const shw_pareto_options* options = nullptr,
                          const shw_planner_changes* changes = nullptr) {
    return detail::make<Pareto>(
        [&](shw_pareto** out) { return shw_planner_pareto(get(), options, changes, out); });
  }
  Returned<Recipes> compare(const shw_recipes_options* options = nullptr,
                            const shw_planner_changes* changes = nullptr) {
    return detail::make<Recipes>(
        [&](shw_recipes** out) { return shw_planner_compare(get(), options, changes, out); });
  }
  // Of a plan that this planner made with these changes, as HTML; nullptr: no other plan, no curve.
  Returned<Blob> to_report(const Plan& plan, const shw_planner_changes* changes = nullptr,
                           const Plan* other = nullptr, const Pareto* pareto = nullptr) {
    return detail::make<Blob>([&](shw_blob** out) {
      return shw_planner_to_report(get(), changes, plan.get(),
                                   other != nullptr ? other->get() : nullptr,
                                   pareto != nullptr ? pareto->get() : nullptr, out);
    });
  }
};

// Every mesh of a number of devices, best first.
class Search : public Handle<shw_search, shw_search_destroy> {
 public:
  using Handle::Handle;
  static Returned<Search> create(const Context& context, const Blob& graph,
                                 const shw_compile_options& options,
                                 const shw_search_options& search) {
    return detail::make<Search>([&](shw_search** out) {
      return shw_search_create(context.get(), bytes(graph), &options, &search, out);
    });
  }
  SHARDWISE_ROWS(search, candidates, candidate, search_candidate)
  SHARDWISE_DOCUMENT(search, to_json)
  SHARDWISE_DOCUMENT(search, to_text)
};

// The cheapest choice of one strategy for each node of a problem without a graph.
class Solution : public Handle<shw_solution, shw_solution_destroy> {
 public:
  using Handle::Handle;
  static Returned<Solution> create(const Context& context, shw_bytes problem,
                                   const shw_solution_options* options = nullptr) {
    return detail::make<Solution>([&](shw_solution** out) {
      return shw_solution_create(context.get(), problem, options, out);
    });
  }
  SHARDWISE_SUMMARY(solution, summary)
  std::size_t num_nodes() const noexcept { return shw_solution_num_nodes(get()); }
  std::size_t strategy(std::size_t node) const noexcept {
    return shw_solution_strategy(get(), node);
  }
  SHARDWISE_ROWS(solution, budgets, budget, solution_budget)
  SHARDWISE_ROWS(solution, prices, price, solution_price)
  SHARDWISE_DOCUMENT(solution, to_json)
  SHARDWISE_DOCUMENT(solution, to_text)
};

// The main figures of a machine: by its name, or by a description.
inline Returned<shw_hardware_info> hardware_info(const char* name, shw_bytes description = {}) {
  return detail::fill<shw_hardware_info>(shw_hardware_info_init, [&](shw_hardware_info* out) {
    return shw_hardware_get_info(name, description, out);
  });
}
inline Returned<Blob> hardware_to_json(const Context& context, const char* name,
                                       shw_bytes description = {}) {
  return detail::make<Blob>(
      [&](shw_blob** out) { return shw_hardware_to_json(context.get(), name, description, out); });
}

// A description of a machine, fitted to measurements.
class Calibration : public Handle<shw_calibration, shw_calibration_destroy> {
 public:
  using Handle::Handle;
  static Returned<Calibration> create(const Context& context,
                                      Span<const shw_calibration_file> files,
                                      const shw_calibration_options* options = nullptr) {
    return detail::make<Calibration>([&](shw_calibration** out) {
      return shw_calibration_create(context.get(), files.data(), files.size(), options, out);
    });
  }
  SHARDWISE_ROWS(calibration, collectives, collective, calibration_collective)
  SHARDWISE_ROWS(calibration, figures, figure, calibration_figure)
  SHARDWISE_DOCUMENT(calibration, to_description)
  SHARDWISE_DOCUMENT(calibration, to_json)
  SHARDWISE_DOCUMENT(calibration, to_text)
};

}  // namespace SHARDWISE_MODE
}  // namespace shardwise

#endif  // SHARDWISE_CPP_PLANNER_HPP_
