#include "compare/compare.h"

#include <algorithm>
#include <optional>

#include "compare/differences.h"
#include "compare/foreign_plan.h"
#include "compiler/fastest.h"
#include "compiler/finish.h"
#include "compiler/place.h"
#include "plan/report.h"
#include "recipes/recipe_layouts.h"
#include "simulate/entry_times.h"
#include "simulate/simulate.h"

namespace shw::compare {
namespace {

// The options without what binds layouts: what a recipe decides, and the optimum is free to.
CompileOptions without_layouts(CompileOptions options) {
  options.input_layout.clear();
  options.output_layout.clear();
  for (NamedLayouts* list : {&options.inputs, &options.outputs, &options.pins}) list->clear();
  options.placements.clear();
  options.parameter_budget = {ParameterBudget::Kind::kNone};
  std::erase_if(options.without, [](const std::string& name) {
    return !glob_matches(name, std::string(kGradientsAlike)) &&
           !glob_matches(name, std::string(kCastsFirst));
  });
  return options;
}

Figures figures_of(const Plan& plan) {
  Figures f;
  f.price_us = plan.summary.objective_us;
  const std::vector<EntryTime> times = entry_times(plan.program);
  for (size_t i = 0; i < times.size(); ++i) {
    const ProgramEntry& entry = plan.program.entries[i];
    f.step_us += entry.weight * times[i].us;
    f.exposed_us += entry.weight * times[i].exposed_us;
    f.compute_us += entry.weight * times[i].queues.front().busy_us;
    f.peak_bytes = std::max(f.peak_bytes, times[i].device_peak_bytes);
  }
  for (const auto& [kind, total] : collective_totals(plan.program)) {
    f.num_collectives += total.count;
    f.wire_bytes += static_cast<int64_t>(total.wire_bytes);
  }
  return f;
}

bool is_wanted(const recipes::Recipe& recipe, const std::vector<std::string>& names) {
  return names.empty() || std::ranges::find(names, recipe.name) != names.end();
}

Status check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::find(recipes::all(), name, &recipes::Recipe::name) != recipes::all().end())
      continue;
    std::string all;
    for (const recipes::Recipe& recipe : recipes::all())
      all += (all.empty() ? "" : ", ") + std::string(recipe.name);
    return invalid_argument("there is no recipe '" + name + "'; there are " + all);
  }
  return {};
}

Row row_of(RowKind kind, std::string_view name, std::string_view title) {
  Row row;
  row.kind = kind;
  row.name = name;
  row.title = title;
  return row;
}

class Comparer {
 public:
  Comparer(const PreparedModel& model, const CompileOptions& options, size_t num_solves,
           Monitor& monitor)
      : model_(model),
        stated_(options),
        free_(without_layouts(options)),
        left_(num_solves),
        monitor_(monitor) {
    table_.mesh = model.mesh().to_string();
    table_.hardware = model.collectives().hardware().name;
  }

  Result<Table> run(const CompareOptions& wanted) {
    SHW_RETURN_IF_ERROR(add_optimum());
    for (const NamedPlan& plan : wanted.plans) SHW_RETURN_IF_ERROR(add_plan(plan));
    SHW_RETURN_IF_ERROR(add_recipes(wanted.recipes));
    return std::move(table_);
  }

 private:
  Status add_optimum() {
    Row row = row_of(
        RowKind::kOptimum, "optimum",
        is_simulated() ? "the fastest found of all placements" : "the cheapest of all placements");
    SHW_ASSIGN_OR_RETURN(std::optional<Placed> optimum, placed_for(row, free_, {}));
    if (!optimum) return failed_precondition(row.why_not);
    if (agree(OptionPart::kQuestion, free_, stated_)) return add(std::move(row), free_, optimum);
    Row second = row_of(RowKind::kOptions, "options", "the optimum under the options as given");
    SHW_ASSIGN_OR_RETURN(std::optional<Placed> stated, placed_for(second, stated_, {}));
    // What the options allow is among all placements.
    if (is_simulated() && stated &&
        simulated_us(*stated->program) < simulated_us(*optimum->program))
      optimum = stated;
    SHW_RETURN_IF_ERROR(add(std::move(row), free_, optimum));
    return add(std::move(second), stated_, stated);
  }

  bool is_simulated() const { return stated_.overlap.kind == Overlap::kSimulated; }

  Status add_plan(const NamedPlan& plan) {
    SHW_ASSIGN_OR_RETURN(ForeignLayouts layouts, read_foreign_plan(plan.json, model_));
    Row row = row_of(RowKind::kPlan, plan.name, "layouts from a file");
    row.num_unknown = layouts.num_unknown;
    return add_planned(std::move(row), free_, std::move(layouts.choices));
  }

  Status add_recipes(const std::vector<std::string>& names) {
    const auto parts = recipes::ModelParts::of(model_.graph());
    SHW_ASSIGN_OR_RETURN(const recipes::Cuts cuts,
                         recipes::Cuts::of(model_.graph(), parts, monitor_));
    for (const recipes::Recipe& recipe : recipes::all()) {
      if (!is_wanted(recipe, names)) continue;
      Row row = row_of(RowKind::kRecipe, recipe.name, recipe.title);
      row.why_not = why_not(recipe, parts, model_.mesh());
      if (!row.has_plan()) {
        table_.rows.push_back(std::move(row));
        continue;
      }
      recipes::RecipeLayouts layouts = recipes::layouts_of(recipe, model_.graph(), model_.mesh(),
                                                           model_.strategies(), parts, cuts);
      row.num_free = layouts.num_free;
      SHW_RETURN_IF_ERROR(add_planned(std::move(row), free_, std::move(layouts.choices)));
    }
    return {};
  }

  // A question without an answer is a row that says why.
  Status add_planned(Row row, const CompileOptions& options, std::vector<AllowedLabels> choices) {
    SHW_ASSIGN_OR_RETURN(std::optional<Placed> placed,
                         placed_for(row, options, std::move(choices)));
    return add(std::move(row), options, placed);
  }

  Status add(Row row, const CompileOptions& options, const std::optional<Placed>& placed) {
    if (placed) SHW_RETURN_IF_ERROR(score(row, options, *placed));
    table_.rows.push_back(std::move(row));
    return {};
  }

  // None: the row says why.
  Result<std::optional<Placed>> placed_for(Row& row, const CompileOptions& options,
                                           std::vector<AllowedLabels> choices) {
    SHW_ASSIGN_OR_RETURN(PlacementConstraints constraints, constraints_of(model_, options));
    if (!choices.empty()) constraints.choices = std::move(choices);
    SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                         ConstrainedModel::create(model_, std::move(constraints), monitor_));
    solver::SolveOptions solve = options.solver;
    solve.deadline = solve.deadline.after_share(1.0 / static_cast<double>(left_));
    left_ -= left_ > 1;
    const bool is_stated = row.kind == RowKind::kOptimum || row.kind == RowKind::kOptions;
    Result<Placed> placed = is_stated
                                ? answer(question, solve, monitor_)
                                : try_place(question, question.memory_limit(), solve, monitor_);
    if (placed.ok()) return std::optional<Placed>(*std::move(placed));
    row.why_not = why_no_plan(placed.status(), question.memory_limit() > 0);
    if (row.why_not.empty()) return placed.status();
    return std::optional<Placed>();
  }

  // Empty: the failure concerns the whole comparison.
  static std::string why_no_plan(const Status& status, bool has_limit) {
    switch (status.code()) {
      case Code::kDeadlineExceeded:
        return "no plan was found within the time limit";
      case Code::kFailedPrecondition:
        if (!status.message().empty() && !status.conflicts().empty()) return status.message();
        return has_limit ? "no placement of this kind is within the memory limit"
                         : "no placement has all these layouts";
      default:
        return {};
    }
  }

  Status score(Row& row, const CompileOptions& options, const Placed& placed) {
    SHW_ASSIGN_OR_RETURN(Compiled compiled, finish(model_, options, placed, monitor_));
    row.figures = figures_of(compiled.plan);
    row.proven = placed.proven;
    if (!optimum_)
      optimum_ = std::move(compiled.plan);
    else
      row.difference = difference_text(model_.graph(), table_.optimum().figures, *optimum_,
                                       row.figures, compiled.plan);
    return {};
  }

  const PreparedModel& model_;
  const CompileOptions stated_, free_;
  size_t left_;  // solves that the time limit must do for
  Monitor& monitor_;
  std::optional<Plan> optimum_;
  Table table_;
};

}  // namespace

std::string_view row_kind_name(RowKind kind) {
  constexpr std::string_view kNames[] = {"optimum", "options", "recipe", "plan"};
  return kNames[static_cast<size_t>(kind)];
}

bool Table::is_ahead(const Row& row) const {
  constexpr double kRounding = 1e-9;
  return row.has_plan() && row.figures.step_us < optimum().figures.step_us * (1 - kRounding);
}

Result<Table> compare(const PreparedModel& model, const CompileOptions& options,
                      const CompareOptions& wanted, Monitor& monitor) {
  if (!model.serves(options))
    return invalid_argument(
        "these options differ from the planner's in more than constraints and time limit");
  SHW_RETURN_IF_ERROR(check_names(wanted.recipes));
  return Comparer(model, options, 2 + recipes::all().size() + wanted.plans.size(), monitor)
      .run(wanted);
}

}  // namespace shw::compare
