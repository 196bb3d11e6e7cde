/* A planner answers many questions about one graph. Each answer must be the same as without earlier
 * questions. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

static shw_planner* new_planner(shw_context* context) {
  shw_mesh_axis axes[2];
  const shw_compile_options options = mlp_options(axes, 2, 4);
  shw_blob* graph = mlp_graph(context);
  shw_planner* planner = NULL;
  EXPECT_OK(shw_planner_create(context, bytes_of(graph), &options, &planner));
  shw_blob_destroy(graph);
  return planner;
}

static int same_bytes(const shw_plan* a, const shw_plan* b) {
  shw_blob *x = NULL, *y = NULL;
  int same;
  EXPECT_OK(shw_plan_save(a, &x));
  EXPECT_OK(shw_plan_save(b, &y));
  same = shw_blob_size(x) == shw_blob_size(y) &&
         memcmp(shw_blob_data(x), shw_blob_data(y), shw_blob_size(x)) == 0;
  shw_blob_destroy(x);
  shw_blob_destroy(y);
  return same;
}

static double objective_of(const shw_plan* plan) {
  shw_plan_summary summary = SHW_PLAN_SUMMARY_INIT;
  EXPECT_OK(shw_plan_get_summary(plan, &summary));
  return summary.objective_us;
}

static shw_plan* plan_with(shw_context* context, const shw_pin* pins, size_t num_pins) {
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 4);
  shw_blob* graph = mlp_graph(context);
  shw_plan* plan = NULL;
  options.pins = pins;
  options.num_pins = num_pins;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  shw_blob_destroy(graph);
  return plan;
}

static void differ(const shw_plan* before, const shw_plan* after) {
  char unchanged[64];
  shw_comparison *comparison = NULL, *same = NULL;
  shw_comparison_node node = SHW_COMPARISON_NODE_INIT;
  shw_blob *changes = NULL, *none = NULL;
  size_t i, num_results = 0;
  EXPECT_OK(shw_plan_compare(before, after, &comparison));
  for (i = 0; i < shw_comparison_num_nodes(comparison); ++i) {
    EXPECT_OK(shw_comparison_get_node(comparison, i, &node));
    EXPECT(node.difference != SHW_DIFFERENCE_RESULT || strcmp(node.from, node.to) != 0);
    num_results += node.difference == SHW_DIFFERENCE_RESULT;
  }
  EXPECT(num_results > 0 && shw_comparison_num_unchanged(comparison) + i ==
                                shw_plan_num_nodes(before)); /* the same graph */
  EXPECT_CODE(shw_comparison_get_node(comparison, i, &node), SHW_OUT_OF_RANGE);
  EXPECT_OK(shw_comparison_to_json(comparison, &changes));
  EXPECT(strstr((const char*)shw_blob_data(changes), "\"to\": \"RS(1)\"") != NULL);
  EXPECT_OK(shw_plan_compare(before, before, &same));
  EXPECT(shw_comparison_num_nodes(same) == 0);
  EXPECT_OK(shw_comparison_to_json(same, &none));
  snprintf(unchanged, sizeof unchanged, "\"unchanged\": %u", (unsigned)shw_plan_num_nodes(before));
  EXPECT(strstr((const char*)shw_blob_data(none), unchanged) != NULL);
  EXPECT(strstr((const char*)shw_blob_data(changes), unchanged) == NULL);
  shw_comparison_destroy(comparison);
  shw_comparison_destroy(same);
  shw_blob_destroy(changes);
  shw_blob_destroy(none);
}

static void plans_are_those_of_one_compilation(shw_context* context, shw_planner* planner) {
  static const shw_pin kPin = {"param.w1", "RS(1)"};
  shw_planner_changes changes = SHW_PLANNER_CHANGES_INIT;
  shw_plan *whole = plan_with(context, NULL, 0), *pinned = plan_with(context, &kPin, 1);
  shw_plan *again = NULL, *changed = NULL;
  changes.pins = &kPin;
  changes.num_pins = 1;
  EXPECT_OK(shw_planner_compile(planner, &changes, &changed));
  EXPECT_OK(shw_planner_compile(planner, NULL, &again)); /* changes apply to one call only */
  EXPECT(same_bytes(whole, again));
  EXPECT(same_bytes(pinned, changed));
  EXPECT(objective_of(changed) != objective_of(again));
  differ(again, changed);
  shw_plan_destroy(whole);
  shw_plan_destroy(pinned);
  shw_plan_destroy(again);
  shw_plan_destroy(changed);
}

static double forced_objective(const shw_blob* json, const char* layout) {
  char key[64];
  const char* at;
  snprintf(key, sizeof key, "\"layout\": \"%s\"", layout);
  at = strstr((const char*)shw_blob_data(json), key);
  EXPECT(at != NULL);
  at = at == NULL ? NULL : strstr(at, "\"objective\": ");
  EXPECT(at != NULL);
  return at == NULL ? 0 : atof(at + strlen("\"objective\": "));
}

/* The structs must agree with the JSON and with solving under a pin of the layout. */
static void alternatives_are_what_pins_give(const shw_explanation* explanation, const char* layout,
                                            double pinned) {
  shw_explanation_summary summary = SHW_EXPLANATION_SUMMARY_INIT;
  shw_explanation_alternative a = SHW_EXPLANATION_ALTERNATIVE_INIT;
  double last = 0;
  size_t i, chosen = 0, found = 0;
  EXPECT_OK(shw_explanation_get_summary(explanation, &summary));
  EXPECT(strcmp(summary.node, "param.w2") == 0 && strcmp(summary.op, "input") == 0);
  EXPECT(summary.proven == 1 && summary.objective_us > 0 && summary.second_best != SHW_NONE);
  for (i = 0; i < shw_explanation_num_alternatives(explanation); ++i) {
    EXPECT_OK(shw_explanation_get_alternative(explanation, i, &a));
    EXPECT(a.floor_us >= last && a.num_strategies > 0);
    EXPECT(!a.forced || !a.possible || a.objective_us >= a.floor_us * (1 - 1e-9));
    last = a.floor_us;
    chosen += a.chosen != 0;
    if (strcmp(a.layout, layout) != 0) continue;
    found += 1;
    EXPECT(a.forced == 1 && a.possible == 1 && a.objective_us == pinned);
  }
  EXPECT(chosen == 1 && found == 1);
  EXPECT_CODE(shw_explanation_get_alternative(explanation, i, &a), SHW_OUT_OF_RANGE);
}

static void edges_are_those_at_the_node(const shw_explanation* explanation) {
  shw_explanation_edge edge = SHW_EXPLANATION_EDGE_INIT;
  size_t i;
  EXPECT(shw_explanation_num_edges(explanation) == 1); /* to the parameter's alias */
  for (i = 0; i < shw_explanation_num_edges(explanation); ++i) {
    EXPECT_OK(shw_explanation_get_edge(explanation, i, &edge));
    EXPECT(strcmp(edge.producer, "param.w2") == 0 && edge.from[0] != 0 && edge.to[0] != 0);
  }
  EXPECT_CODE(shw_explanation_get_edge(explanation, i, &edge), SHW_OUT_OF_RANGE);
}

static void strategies_have_floors(const shw_explanation* explanation) {
  shw_explanation_strategy strategy = SHW_EXPLANATION_STRATEGY_INIT;
  shw_explanation_summary summary = SHW_EXPLANATION_SUMMARY_INIT;
  double last = 0;
  size_t i, chosen = 0;
  EXPECT_OK(shw_explanation_get_summary(explanation, &summary));
  for (i = 0; i < shw_explanation_num_strategies(explanation); ++i) {
    EXPECT_OK(shw_explanation_get_strategy(explanation, i, &strategy));
    EXPECT(strategy.floor_us >= last);
    last = strategy.floor_us;
    if (!strategy.chosen) continue;
    ++chosen;
    EXPECT(strcmp(strategy.name, summary.strategy) == 0);
  }
  EXPECT(chosen == 1 && i > 1);
}

static void explains_the_plan(shw_planner* planner) {
  shw_plan_explanation_summary summary = SHW_PLAN_EXPLANATION_SUMMARY_INIT;
  shw_plan_explanation_rival rival = SHW_PLAN_EXPLANATION_RIVAL_INIT;
  shw_plan_explanation_group group = SHW_PLAN_EXPLANATION_GROUP_INIT;
  shw_explanation_edge edge = SHW_EXPLANATION_EDGE_INIT;
  shw_plan_explanation* explanation = NULL;
  shw_blob *json = NULL, *text = NULL;
  double paid = 0;
  size_t i, edges = 0;
  EXPECT_OK(shw_planner_explain_plan(planner, NULL, &explanation));
  EXPECT_OK(shw_plan_explanation_get_summary(explanation, &summary));
  EXPECT(summary.proven && summary.factor_from <= 1 && summary.factor_to >= 1);
  EXPECT(summary.memory_from_bytes == 0 && summary.memory_to_below_bytes > 1e300); /* no limit */
  for (i = 0; i < shw_plan_explanation_num_rivals(explanation); ++i) {
    EXPECT_OK(shw_plan_explanation_get_rival(explanation, i, &rival));
    EXPECT(rival.factor == summary.factor_from || rival.factor == summary.factor_to);
    EXPECT(rival.compute_us + rival.communication_us + rival.transition_us >=
           summary.objective_us * (1 - 1e-9)); /* our plan is the cheapest today */
  }
  for (i = 0; i < shw_plan_explanation_num_groups(explanation); ++i) {
    EXPECT_OK(shw_plan_explanation_get_group(explanation, i, &group));
    paid += group.communication_us;
    edges += group.count;
  }
  EXPECT(edges == summary.num_paying_edges && edges > 0);
  EXPECT(paid > 0 && paid <= summary.communication_us * (1 + 1e-9));
  EXPECT_OK(shw_plan_explanation_get_edge(explanation, 0, &edge));
  EXPECT(edge.communication_us > 0 && edge.producer[0] != 0 && strcmp(edge.from, edge.to) != 0);
  EXPECT_OK(shw_plan_explanation_to_json(explanation, &json));
  EXPECT(strstr((const char*)shw_blob_data(json), "\"communication_factor\"") != NULL);
  EXPECT(strstr((const char*)shw_blob_data(json), "\"dearest_edges\"") != NULL);
  EXPECT_OK(shw_plan_explanation_to_text(explanation, &text));
  EXPECT(shw_blob_size(text) > 100);
  shw_blob_destroy(text);
  shw_blob_destroy(json);
  shw_plan_explanation_destroy(explanation);
}

static void explains(shw_context* context, shw_planner* planner) {
  static const shw_pin kPin = {"param.w2", "RS(1)"};
  shw_plan* pinned = plan_with(context, &kPin, 1);
  shw_explanation* explanation = NULL;
  shw_explanation_options options = SHW_EXPLANATION_OPTIONS_INIT;
  shw_blob *json = NULL, *text = NULL;
  options.layout = kPin.layout;
  EXPECT_OK(shw_planner_explain(planner, kPin.pattern, &options, NULL, &explanation));
  strategies_have_floors(explanation);
  alternatives_are_what_pins_give(explanation, kPin.layout, objective_of(pinned));
  edges_are_those_at_the_node(explanation);
  EXPECT_OK(shw_explanation_to_json(explanation, &json));
  EXPECT(forced_objective(json, kPin.layout) == objective_of(pinned));
  EXPECT_OK(shw_explanation_to_text(explanation, &text));
  EXPECT(strstr((const char*)shw_blob_data(text), "param.w2") != NULL);
  shw_blob_destroy(text);
  shw_blob_destroy(json);
  shw_explanation_destroy(explanation);
  explains_the_plan(planner);
  EXPECT_REFUSED(shw_planner_explain(planner, "param.w", NULL, NULL, &explanation), SHW_NOT_FOUND,
                 "param.w1");
  EXPECT(explanation == NULL);
  options.layout = "S(3)R";
  EXPECT_REFUSED(shw_planner_explain(planner, "param.w2", &options, NULL, &explanation),
                 SHW_INVALID_ARGUMENT, "S(3)R");
  shw_plan_destroy(pinned);
}

static int blob_has(const shw_blob* blob, const char* text) {
  return strstr((const char*)shw_blob_data(blob), text) != NULL;
}

/* Makes reports with and without a planner. A planner that gives another plan is refused. */
static void is_reported(shw_planner* planner, const shw_planner_changes* changes,
                        const shw_plan* plan, const shw_plan* within, const shw_pareto* pareto) {
  shw_blob* page = NULL;
  EXPECT_OK(shw_plan_to_report(plan, within, pareto, &page));
  EXPECT(blob_has(page, "<!doctype html>") && blob_has(page, "\"lowest_peak\""));
  EXPECT(blob_has(page, "\"reasons\":null") && blob_has(page, "\"other\":{\"plan\""));
  shw_blob_destroy(page);
  EXPECT_OK(shw_planner_to_report(planner, changes, within, NULL, NULL, &page));
  EXPECT(blob_has(page, "\"alternatives\":[") && blob_has(page, "\"other\":null"));
  shw_blob_destroy(page);
  if (objective_of(within) > objective_of(plan))
    EXPECT_REFUSED(shw_planner_to_report(planner, NULL, within, NULL, NULL, &page),
                   SHW_FAILED_PRECONDITION, "another plan");
}

/* Along the curve, memory decreases and time increases. Its ends are the plan without a limit and
 * the plan with the lowest peak. */
static void trades_time_for_memory(shw_planner* planner) {
  shw_planner_changes changes = SHW_PLANNER_CHANGES_INIT;
  shw_pareto_options options = SHW_PARETO_OPTIONS_INIT;
  shw_pareto_point point = SHW_PARETO_POINT_INIT, last = SHW_PARETO_POINT_INIT;
  shw_pareto* pareto = NULL;
  shw_plan *plan = NULL, *within = NULL;
  shw_blob* json = NULL;
  size_t i, count;
  options.num_points = 4;
  EXPECT_OK(shw_planner_pareto(planner, &options, NULL, &pareto));
  EXPECT_OK(shw_planner_compile(planner, NULL, &plan));
  count = shw_pareto_num_points(pareto);
  EXPECT(count >= 1);
  for (i = 0; i < count; ++i) {
    EXPECT_OK(shw_pareto_get_point(pareto, i, &point));
    EXPECT(point.bound_us <= point.objective_us && point.peak_bytes > 0);
    if (i == 0) EXPECT(point.limit_bytes == 0 && point.objective_us == objective_of(plan));
    if (i > 0) EXPECT(point.objective_us > last.objective_us && point.peak_bytes < last.peak_bytes);
    last = point;
  }
  EXPECT_CODE(shw_pareto_get_point(pareto, i, &point), SHW_OUT_OF_RANGE);
  EXPECT(count == 1 || last.program_bytes <= last.limit_bytes);
  changes.memory_limit_bytes = last.limit_bytes;
  EXPECT_OK(shw_planner_compile(planner, &changes, &within));
  EXPECT(objective_of(within) <= last.objective_us);
  EXPECT_OK(shw_pareto_to_json(pareto, &json));
  EXPECT(strstr((const char*)shw_blob_data(json), "\"lowest_peak\"") != NULL);
  shw_blob_destroy(json);
  EXPECT_OK(shw_pareto_to_text(pareto, &json));
  EXPECT(shw_blob_size(json) > 100);
  shw_blob_destroy(json);
  EXPECT_OK(shw_pareto_to_svg(pareto, &json));
  EXPECT(strstr((const char*)shw_blob_data(json), "</svg>") != NULL);
  shw_blob_destroy(json);
  is_reported(planner, &changes, plan, within, pareto);
  shw_pareto_destroy(pareto);
  EXPECT_REFUSED(shw_planner_pareto(planner, &options, &changes, &pareto), SHW_INVALID_ARGUMENT,
                 "memory limit");
  EXPECT(pareto == NULL);
  shw_plan_destroy(plan);
  shw_plan_destroy(within);
}

/* The optimum is the first row, and no other plan is faster, or cheaper. A recipe that does not
 * apply says why. */
static void compares_recipes(shw_planner* planner, int by_price) {
  static const char* const kSome[] = {"ddp", "hsdp", "cp"};
  shw_recipes_options options = SHW_RECIPES_OPTIONS_INIT;
  shw_recipes_row row = SHW_RECIPES_ROW_INIT, optimum = SHW_RECIPES_ROW_INIT;
  shw_plan* plan = NULL;
  shw_recipes* recipes = NULL;
  shw_blob *placements = NULL, *text = NULL;
  size_t i, count, without = 0;
  options.recipes = kSome;
  options.num_recipes = 3;
  EXPECT_OK(shw_planner_compile(planner, NULL, &plan));
  EXPECT_OK(shw_plan_to_placements(plan, &placements));
  options.foreign = bytes_of(placements);
  EXPECT_OK(shw_planner_compare(planner, &options, NULL, &recipes));
  EXPECT_OK(shw_recipes_get_row(recipes, 0, &optimum));
  EXPECT(optimum.kind == SHW_RECIPES_OPTIMUM && optimum.step_us > 0 && optimum.peak_bytes > 0);
  count = shw_recipes_num_rows(recipes);
  for (i = 1; i < count; ++i) {
    EXPECT_OK(shw_recipes_get_row(recipes, i, &row));
    without += row.why_not[0] != 0;
    EXPECT((row.why_not[0] != 0) == (row.step_us == 0));
    if (row.why_not[0]) continue;
    EXPECT(by_price ? row.price_us >= optimum.price_us : row.step_us >= optimum.step_us);
    EXPECT(row.ahead == (row.step_us < optimum.step_us));
    if (row.kind == SHW_RECIPES_FOREIGN)
      EXPECT(strcmp(row.name, "foreign") == 0 && row.price_us == objective_of(plan));
  }
  EXPECT(without > 0); /* "cp": the model has no sequence */
  EXPECT_CODE(shw_recipes_get_row(recipes, count, &row), SHW_OUT_OF_RANGE);
  EXPECT_OK(shw_recipes_to_json(recipes, &text));
  EXPECT(blob_has(text, "\"why_not\":"));
  shw_blob_destroy(text);
  EXPECT_OK(shw_recipes_to_text(recipes, &text));
  EXPECT(blob_has(text, "does not apply: "));
  shw_blob_destroy(text);
  EXPECT_OK(shw_recipes_to_svg(recipes, &text));
  EXPECT(blob_has(text, "</svg>"));
  shw_blob_destroy(text);
  shw_recipes_destroy(recipes);
  shw_blob_destroy(placements);
  shw_plan_destroy(plan);
}

static void compares_recipes_by_price(shw_context* context) {
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 4);
  shw_planner* planner = NULL;
  shw_blob* graph = mlp_graph(context);
  options.overlap = SHW_OVERLAP_NONE;
  EXPECT_OK(shw_planner_create(context, bytes_of(graph), &options, &planner));
  compares_recipes(planner, 1);
  shw_planner_destroy(planner);
  shw_blob_destroy(graph);
}

static void placements_make_the_same_plan_again(shw_context* context, shw_planner* planner) {
  static const shw_pin kPin = {"param.w1", "RS(1)"};
  shw_planner_changes changes = SHW_PLANNER_CHANGES_INIT;
  shw_plan *pinned = plan_with(context, &kPin, 1), *again = NULL;
  shw_blob *saved = NULL, *saved_again = NULL;
  EXPECT_OK(shw_plan_to_placements(pinned, &saved));
  changes.placements = bytes_of(saved);
  EXPECT_OK(shw_planner_compile(planner, &changes, &again));
  EXPECT(objective_of(again) == objective_of(pinned));
  EXPECT_OK(shw_plan_to_placements(again, &saved_again));
  EXPECT(strcmp((const char*)shw_blob_data(saved), (const char*)shw_blob_data(saved_again)) == 0);
  shw_plan_destroy(again);
  changes.placements.size /= 2;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &again), SHW_INVALID_ARGUMENT,
                 "placements");
  shw_plan_destroy(pinned);
  shw_blob_destroy(saved);
  shw_blob_destroy(saved_again);
}

static void every_constraint_can_change(shw_context* context, shw_planner* planner) {
  shw_planner_changes changes = SHW_PLANNER_CHANGES_INIT;
  shw_plan_summary summary = SHW_PLAN_SUMMARY_INIT;
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 4);
  shw_blob* graph = mlp_graph(context);
  shw_plan *changed = NULL, *whole = NULL;
  changes.input_layout = options.input_layout = "RS(1)";
  changes.output_layout = options.output_layout = "RR";
  changes.param_budget = options.param_budget = SHW_PARAM_BUDGET_NONE;
  changes.memory_limit_bytes = options.memory_limit_bytes = 1 << 20;
  EXPECT_OK(shw_planner_compile(planner, &changes, &changed));
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &whole));
  EXPECT(same_bytes(changed, whole));
  shw_plan_destroy(changed);
  changes.memory_limit_bytes = 64; /* too little memory for any plan */
  EXPECT_CODE(shw_planner_compile(planner, &changes, &changed), SHW_FAILED_PRECONDITION);
  changes.memory_limit_bytes = -1;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &changed), SHW_INVALID_ARGUMENT,
                 "memory_limit_bytes");
  changes.memory_limit_bytes = 0;
  changes.param_budget = 99;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &changed), SHW_INVALID_ARGUMENT,
                 "param_budget 99");
  changes.param_budget = 0;
  changes.reserved = 1;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &changed), SHW_INVALID_ARGUMENT,
                 "reserved");
  EXPECT_OK(shw_plan_get_summary(whole, &summary));
  EXPECT(summary.memory_limit_bytes == 1 << 20 && summary.proven == 1);
  shw_plan_destroy(whole);
  shw_blob_destroy(graph);
}

static const char* port_layout(const shw_plan* plan, int is_output, const char* name) {
  shw_plan_port port = SHW_PLAN_PORT_INIT;
  size_t i;
  for (i = 0;; ++i) {
    shw_status* status = is_output ? get_output(plan, 0, i, &port) : get_input(plan, 0, i, &port);
    if (status != NULL) {
      shw_status_destroy(status);
      return "";
    }
    if (strcmp(port.name, name) == 0) return port.layout;
  }
}

/* One layout applies to all plain inputs or results, others to single ones. The last match applies.
 */
static void inputs_and_outputs_lie_as_each_is_told(shw_context* context, shw_planner* planner) {
  static const shw_port_layout kInputs[] = {{"input.*", "S(0)S(1)"}, {"input.0", "RS(0)"}};
  static const shw_port_layout kFree[] = {{"input.0", "free"}};
  static const shw_port_layout kOutputs[] = {{"grad.w1", "S(1)S(1)"}, {"output", "S(0)R"}};
  static const shw_port_layout kUnknown[] = {{"outptu", "RR"}};
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 4);
  shw_planner_changes changes = SHW_PLANNER_CHANGES_INIT;
  shw_blob* graph = mlp_graph(context);
  shw_plan *plan = NULL, *free = NULL, *freed = NULL;
  options.input_layout = "RR";
  options.output_layout = "RR";
  options.input_layouts = kInputs;
  options.num_input_layouts = 2;
  options.output_layouts = kOutputs;
  options.num_output_layouts = 2;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  EXPECT(strcmp(port_layout(plan, 0, "input.0"), "RS(0)") == 0);
  EXPECT(strcmp(port_layout(plan, 1, "output"), "S(0)R") == 0);
  EXPECT(strcmp(port_layout(plan, 1, "grad.w1"), "S(1)S(1)") == 0);
  EXPECT(strcmp(port_layout(plan, 0, "param.w1"), "S(1)S(1)") == 0);
  shw_plan_destroy(plan);

  options = mlp_options(axes, 2, 4);
  options.input_layout = "free";
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &free));
  changes.input_layouts = kFree;
  changes.num_input_layouts = 1;
  EXPECT_OK(shw_planner_compile(planner, &changes, &freed));
  EXPECT(objective_of(freed) == objective_of(free));
  changes.input_layouts = NULL;
  changes.num_input_layouts = 0;
  changes.output_layouts = kUnknown;
  changes.num_output_layouts = 1;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &plan), SHW_INVALID_ARGUMENT,
                 "there is no output 'outptu'; did you mean output?");
  shw_plan_destroy(free);
  shw_plan_destroy(freed);
  shw_blob_destroy(graph);
}

/* A conflict lists the constraints that can be left out. A planner made without one of them gives
 * the same plan as the compiler. */
static void options_leave_constraints_out(shw_context* context) {
  static const shw_pin kPin = {"output", "RR"};
  const char* names[1];
  shw_status* conflict;
  size_t i;
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 4);
  shw_blob* graph = mlp_graph(context);
  shw_planner* planner = NULL;
  shw_plan *free = NULL, *plan = NULL, *planned = NULL;
  options.output_layout = "S(0)R";
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &free));
  options.pins = &kPin;
  options.num_pins = 1;
  conflict = shw_plan_compile(context, bytes_of(graph), &options, &plan);
  EXPECT(shw_status_code(conflict) == SHW_FAILED_PRECONDITION);
  EXPECT(shw_status_num_conflicts(conflict) == 2 && shw_status_conflict(conflict, 2)[0] == 0);
  names[0] = "";
  for (i = 0; i < 2; ++i) {
    EXPECT(strstr(shw_status_message(conflict), shw_status_conflict(conflict, i)) != NULL);
    if (strncmp(shw_status_conflict(conflict, i), "pin", 3) == 0)
      names[0] = shw_status_conflict(conflict, i);
  }
  EXPECT(strcmp(names[0], "pin 'output=RR'") == 0);
  options.without = names;
  options.num_without = 1;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  EXPECT(objective_of(plan) == objective_of(free));
  EXPECT_OK(shw_planner_create(context, bytes_of(graph), &options, &planner));
  EXPECT_OK(shw_planner_compile(planner, NULL, &planned));
  EXPECT(same_bytes(plan, planned));
  shw_status_destroy(conflict);
  shw_planner_destroy(planner);
  shw_plan_destroy(planned);
  shw_plan_destroy(plan);
  shw_plan_destroy(free);
  shw_blob_destroy(graph);
}

/* A constraint is left out by the name in the conflict's message. It applies again in a call that
 * does not leave it out. */
static void a_constraint_is_left_out_by_its_name(shw_planner* planner) {
  static const shw_pin kPin = {"output", "RR"};
  static const char* const kNames[] = {"pin 'output=RR'"};
  static const char* const kUnknown[] = {"pin 'q=RR'"};
  shw_planner_changes changes = SHW_PLANNER_CHANGES_INIT;
  shw_plan *free = NULL, *plan = NULL;
  EXPECT_OK(shw_planner_compile(planner, NULL, &free));
  changes.output_layout = "S(0)R";
  changes.pins = &kPin;
  changes.num_pins = 1;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &plan), SHW_FAILED_PRECONDITION,
                 "pin 'output=RR'");
  changes.without = kNames;
  changes.num_without = 1;
  EXPECT_OK(shw_planner_compile(planner, &changes, &plan));
  EXPECT(objective_of(plan) >= objective_of(free));
  shw_plan_destroy(plan);
  changes.without = kUnknown;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &plan), SHW_INVALID_ARGUMENT,
                 "there is no constraint 'pin 'q=RR''");
  changes.without = NULL;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &plan), SHW_INVALID_ARGUMENT,
                 "without is NULL");
  shw_plan_destroy(free);
}

static void benchmarks(const shw_plan* plan) {
  shw_bench_options options = SHW_BENCH_OPTIONS_INIT;
  shw_blob* made = NULL;
  options.warm_up = -1;
  options.repeats = 1;
  EXPECT_OK(shw_plan_bench(plan, &options, &made));
  EXPECT(strstr((const char*)shw_blob_data(made), "\"over_floor\"") != NULL);
  shw_blob_destroy(made);
  options.flags = SHW_BENCH_TEXT;
  options.device = SHW_DEVICE_NULL;
  EXPECT_OK(shw_plan_bench(plan, &options, &made));
  EXPECT(strstr((const char*)shw_blob_data(made), "this device computes nothing") != NULL);
  shw_blob_destroy(made);
  options.flags = SHW_BENCH_TRACE;
  EXPECT_OK(shw_plan_bench(plan, &options, &made));
  EXPECT(strstr((const char*)shw_blob_data(made), "\"traceEvents\"") != NULL);
  shw_blob_destroy(made);
  options.flags = SHW_BENCH_TEXT | SHW_BENCH_TRACE;
  EXPECT_REFUSED(shw_plan_bench(plan, &options, &made), SHW_INVALID_ARGUMENT,
                 "SHW_BENCH_TRACE does not go together with");
  options.flags = SHW_BENCH_WHOLE | SHW_BENCH_TRACE;
  EXPECT_REFUSED(shw_plan_bench(plan, &options, &made), SHW_INVALID_ARGUMENT,
                 "SHW_BENCH_TRACE does not go together with");
  options.flags = SHW_BENCH_WHOLE;
  EXPECT_OK(shw_plan_bench(plan, &options, &made));
  EXPECT(strstr((const char*)shw_blob_data(made), "\"whole\":true") != NULL ||
         strstr((const char*)shw_blob_data(made), "\"whole\": true") != NULL);
  shw_blob_destroy(made);
  options.flags = SHW_BENCH_GRAPHS;
  EXPECT_REFUSED(shw_plan_bench(plan, &options, &made), SHW_UNIMPLEMENTED, "graphs");
  options.flags = 0;
  options.device = SHW_DEVICE_CUDA;
  shw_status* on_gpus = shw_plan_bench(plan, &options, &made);
  if (on_gpus != NULL) EXPECT(strstr(shw_status_message(on_gpus), "not run") != NULL);
  shw_status_destroy(on_gpus);
  shw_blob_destroy(made);
  made = NULL;
  options.device = 0;
  options.entry = "nowhere";
  EXPECT_REFUSED(shw_plan_bench(plan, &options, &made), SHW_NOT_FOUND, "nowhere");
  EXPECT(made == NULL);
}

static void times_of_collectives(shw_context* context) {
  static const char* const kGroup[1] = {"tp"};
  static const char* const kNowhere[1] = {"pp"};
  const shw_mesh_axis axes[2] = {{"dp", 2}, {"tp", 2}};
  shw_collective_bench_options options = SHW_COLLECTIVE_BENCH_OPTIONS_INIT;
  shw_blob* made = NULL;
  options.mesh_axes = axes;
  options.num_mesh_axes = 2;
  options.group = kGroup;
  options.num_group = 1;
  options.max_bytes = 4096;
  options.dtype = SHW_DTYPE_F64;
  options.warm_up = -1;
  options.repeats = 2;
  EXPECT_OK(shw_bench_collectives(context, &options, &made));
  EXPECT(strstr((const char*)shw_blob_data(made), "\"group_size\": 2") != NULL);
  EXPECT(strstr((const char*)shw_blob_data(made), "\"wrong\": 0") != NULL);
  shw_blob_destroy(made);
  options.flags = SHW_BENCH_TEXT;
  EXPECT_OK(shw_bench_collectives(context, &options, &made));
  EXPECT(strstr((const char*)shw_blob_data(made), "all_gather_perf") != NULL);
  shw_blob_destroy(made);
  options.group = kNowhere;
  EXPECT_REFUSED(shw_bench_collectives(context, &options, &made), SHW_INVALID_ARGUMENT, "pp");
  options.num_group = 0;
  options.min_bytes = -1;
  EXPECT_CODE(shw_bench_collectives(context, &options, &made), SHW_INVALID_ARGUMENT);
  options.min_bytes = 0;
  options.dtype = 99;
  EXPECT_CODE(shw_bench_collectives(context, &options, &made), SHW_INVALID_ARGUMENT);
  options.dtype = 0;
  options.device = SHW_DEVICE_NULL;
  EXPECT_CODE(shw_bench_collectives(context, &options, &made), SHW_FAILED_PRECONDITION);
  EXPECT(made == NULL);
}

static void exports(shw_context* context, shw_planner* planner) {
  shw_plan* plan = plan_with(context, NULL, 0);
  shw_blob *json = NULL, *tree = NULL, *trace = NULL;
  char total[64];
  EXPECT_OK(shw_planner_export(planner, NULL, &json));
  EXPECT(strstr((const char*)shw_blob_data(json), "\"placeholder_kind\": \"param\"") != NULL);
  snprintf(total, sizeof total, "\"total\": %.6g", objective_of(plan));
  EXPECT(strstr((const char*)shw_blob_data(json), total) != NULL);
  EXPECT_OK(shw_plan_to_module_tree(plan, &tree));
  EXPECT(strstr((const char*)shw_blob_data(tree), "\"name\": \"w1\"") != NULL);
  EXPECT_OK(shw_plan_to_trace(plan, NULL, &trace));
  EXPECT(strstr((const char*)shw_blob_data(trace), "\"traceEvents\"") != NULL);
  shw_blob_destroy(trace);
  EXPECT_REFUSED(shw_plan_to_trace(plan, "nowhere", &trace), SHW_NOT_FOUND,
                 "there is no entry 'nowhere'; there are: step");
  EXPECT(trace == NULL);
  benchmarks(plan);
  times_of_collectives(context);
  shw_plan_destroy(plan);
  shw_blob_destroy(json);
  shw_blob_destroy(tree);
}

static int32_t stop(void* user, const shw_progress* progress) {
  (void)progress;
  ++*(int*)user;
  return 1;
}

static void changes_are_checked_and_cancel(shw_planner* planner) {
  static const shw_pin kPin = {"nothing.of.that.name", "RR"};
  shw_planner_changes changes = SHW_PLANNER_CHANGES_INIT;
  shw_plan* plan = NULL;
  shw_explanation* explanation = NULL;
  int calls = 0;
  changes.pins = &kPin;
  changes.num_pins = 1;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &plan), SHW_INVALID_ARGUMENT,
                 "nothing.of.that.name");
  changes.num_pins = 0;
  changes.flags = 1;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &plan), SHW_INVALID_ARGUMENT, "flags");
  changes.flags = 0;
  changes.time_limit_s = -1;
  EXPECT_REFUSED(shw_planner_compile(planner, &changes, &plan), SHW_INVALID_ARGUMENT,
                 "time_limit_s");
  changes.time_limit_s = 0;
  changes.progress = stop;
  changes.progress_user = &calls;
  EXPECT_CODE(shw_planner_compile(planner, &changes, &plan), SHW_CANCELLED);
  EXPECT_CODE(shw_planner_explain(planner, "output", NULL, &changes, &explanation), SHW_CANCELLED);
  EXPECT(calls == 2);
  changes.progress = NULL;
  EXPECT_OK(shw_cancel_create((shw_cancel**)&changes.cancel));
  shw_cancel_raise((shw_cancel*)changes.cancel);
  EXPECT_CODE(shw_planner_compile(planner, &changes, &plan), SHW_CANCELLED);
  shw_cancel_destroy((shw_cancel*)changes.cancel);
  EXPECT_OK(shw_planner_compile(planner, NULL, &plan)); /* the earlier calls left no trace */
  shw_plan_destroy(plan);
}

static void plans_outlive_their_planner(shw_context* context) {
  shw_planner* planner = new_planner(context);
  shw_plan* plan = NULL;
  EXPECT_OK(shw_planner_compile(planner, NULL, &plan));
  shw_planner_destroy(planner);
  EXPECT(shw_plan_num_ranks(plan) == 8 && objective_of(plan) > 0);
  shw_plan_destroy(plan);
}

/* With this option, curves, explanations and reports describe the plan that is chosen by simulated
 * steps. */
static void answers_by_simulated_steps(shw_context* context) {
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 4);
  shw_pareto_options few = SHW_PARETO_OPTIONS_INIT;
  shw_pareto_point point = SHW_PARETO_POINT_INIT, last = SHW_PARETO_POINT_INIT;
  shw_explanation_summary summary = SHW_EXPLANATION_SUMMARY_INIT;
  shw_explanation_alternative alternative = SHW_EXPLANATION_ALTERNATIVE_INIT;
  shw_planner* planner = NULL;
  shw_plan* plan = NULL;
  shw_pareto* pareto = NULL;
  shw_explanation* explanation = NULL;
  shw_plan_explanation* whole = NULL;
  shw_blob *graph = mlp_graph(context), *page = NULL;
  size_t i;
  options.overlap = SHW_OVERLAP_SIMULATED;
  EXPECT_OK(shw_planner_create(context, bytes_of(graph), &options, &planner));
  shw_blob_destroy(graph);
  EXPECT_OK(shw_planner_compile(planner, NULL, &plan));
  few.num_points = 3;
  EXPECT_OK(shw_planner_pareto(planner, &few, NULL, &pareto));
  EXPECT(shw_pareto_num_points(pareto) >= 2);
  for (i = 0; i < shw_pareto_num_points(pareto); ++i) {
    EXPECT_OK(shw_pareto_get_point(pareto, i, &point));
    EXPECT(point.step_us > last.step_us && point.program_bytes > 0);
    EXPECT(i == 0 || point.program_bytes < last.program_bytes);
    last = point;
  }
  EXPECT_OK(shw_planner_explain(planner, "output", NULL, NULL, &explanation));
  EXPECT_OK(shw_explanation_get_summary(explanation, &summary));
  EXPECT(summary.step_us > 0 && summary.objective_us <= objective_of(plan));
  for (i = 0; i < shw_explanation_num_alternatives(explanation); ++i) {
    EXPECT_OK(shw_explanation_get_alternative(explanation, i, &alternative));
    EXPECT((alternative.step_us > 0) == (alternative.forced && alternative.possible));
  }
  EXPECT_REFUSED(shw_planner_explain_plan(planner, NULL, &whole), SHW_UNIMPLEMENTED, "simulated");
  EXPECT_OK(shw_planner_to_report(planner, NULL, plan, NULL, pareto, &page));
  EXPECT(blob_has(page, "\"step\":"));
  shw_blob_destroy(page);
  shw_explanation_destroy(explanation);
  shw_pareto_destroy(pareto);
  shw_plan_destroy(plan);
  shw_planner_destroy(planner);
}

static void searches(shw_context* context) {
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_search_options search = SHW_SEARCH_OPTIONS_INIT;
  shw_mesh_axis axes[2];
  shw_search_candidate candidate = SHW_SEARCH_CANDIDATE_INIT;
  shw_search* found = NULL;
  shw_blob *graph = mlp_graph(context), *json = NULL;
  double cheapest = 0, last = 0;
  size_t i, planned = 0;
  search.num_devices = 8;
  search.max_mesh_dims = 2;
  search.num_threads = 2;
  EXPECT_OK(shw_search_create(context, bytes_of(graph), &options, &search, &found));
  EXPECT(shw_search_num_candidates(found) == 3);
  for (i = 0; i < shw_search_num_candidates(found); ++i) {
    EXPECT_OK(shw_search_get_candidate(found, i, &candidate));
    EXPECT(candidate.code == SHW_OK && candidate.error[0] == 0 && !candidate.given_up);
    EXPECT(candidate.proven == 1 && candidate.objective_us >= last);
    EXPECT(candidate.step_us > 0);
    last = candidate.objective_us;
    if (i == 0) cheapest = last;
    planned += strcmp(candidate.mesh, "d0=2,d1=4") == 0;
  }
  EXPECT(planned == 1);
  EXPECT_CODE(shw_search_get_candidate(found, i, &candidate), SHW_OUT_OF_RANGE);
  EXPECT_OK(shw_search_to_json(found, &json));
  EXPECT(strstr((const char*)shw_blob_data(json), "\"mesh\": \"d0=2,d1=4\"") != NULL);
  shw_blob_destroy(json);
  shw_search_destroy(found);
  search.num_best = 1; /* the same candidate, though the search may stop earlier */
  EXPECT_OK(shw_search_create(context, bytes_of(graph), &options, &search, &found));
  EXPECT_OK(shw_search_get_candidate(found, 0, &candidate));
  EXPECT(candidate.objective_us == cheapest);
  shw_search_destroy(found);
  search.num_best = 0;
  search.reserved = 1;
  EXPECT_REFUSED(shw_search_create(context, bytes_of(graph), &options, &search, &found),
                 SHW_INVALID_ARGUMENT, "reserved");
  search.reserved = 0;
  options = mlp_options(axes, 2, 4);
  EXPECT_REFUSED(shw_search_create(context, bytes_of(graph), &options, &search, &found),
                 SHW_INVALID_ARGUMENT, "its own meshes");
  shw_blob_destroy(graph);
}

int main(void) {
  shw_context* context = new_context();
  shw_planner* planner = new_planner(context);
  plans_are_those_of_one_compilation(context, planner);
  placements_make_the_same_plan_again(context, planner);
  explains(context, planner);
  trades_time_for_memory(planner);
  compares_recipes(planner, 0);
  compares_recipes_by_price(context);
  every_constraint_can_change(context, planner);
  a_constraint_is_left_out_by_its_name(planner);
  options_leave_constraints_out(context);
  inputs_and_outputs_lie_as_each_is_told(context, planner);
  exports(context, planner);
  changes_are_checked_and_cancel(planner);
  searches(context);
  answers_by_simulated_steps(context);
  shw_planner_destroy(planner);
  plans_outlive_their_planner(context);
  shw_context_destroy(context);
  return test_result();
}
