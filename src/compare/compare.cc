#include "compare/compare.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "compare/differences.h"
#include "compare/foreign_plan.h"
#include "compiler/fastest.h"
#include "compiler/finish.h"
#include "compiler/place.h"
#include "compiler/programs.h"
#include "plan/report.h"
#include "recipes/recipe_layouts.h"
#include "simulate/entry_times.h"
#include "simulate/simulate.h"

namespace shw::compare {
namespace {

// The options without constraints on layouts, which recipes set and the optimum chooses freely.
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

// Whether the optimum should be the fastest. With prices that discount hidden communication, prices
// are compared instead.
bool wants_fastest(const CompileOptions& options) {
  return options.overlap.kind == Overlap::kDefault || options.overlap.kind == Overlap::kSimulated;
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
    if (wants_fastest(stated_)) SHW_RETURN_IF_ERROR(find_fastest());
    for (Planned& planned : planned_) SHW_RETURN_IF_ERROR(score(planned));
    return std::move(table_);
  }

 private:
  struct Planned {
    Row row;
    const CompileOptions* options = nullptr;
    std::optional<Placed> placed;
  };

  Status add_optimum() {
    Row row = row_of(RowKind::kOptimum, "optimum",
                     wants_fastest(stated_) ? "the fastest found of all placements"
                                            : "the cheapest of all placements");
    SHW_RETURN_IF_ERROR(add_planned(std::move(row), free_, {}));
    if (!planned_.front().placed) return failed_precondition(planned_.front().row.why_not);
    if (agree(OptionPart::kQuestion, free_, stated_)) return {};
    return add_planned(row_of(RowKind::kOptions, "options", "the plan that the options give"),
                       stated_, {});
  }

  // Starts from the cheapest placement. All rows are candidates, so none of them is faster than the
  // result.
  Status find_fastest() {
    std::vector<KnownPlacement> known;
    for (Planned& p : std::span(planned_).subspan(1)) {
      if (!p.placed) continue;
      SHW_RETURN_IF_ERROR(lower(*p.placed));
      known.push_back(
          {p.row.kind == RowKind::kRecipe ? p.row.name : std::string_view(), *p.placed});
    }
    SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                         ConstrainedModel::create(model_, free_, monitor_));
    Placed& optimum = *planned_.front().placed;
    SHW_ASSIGN_OR_RETURN(Fastest fastest,
                         fastest_of(optimum, known, question, question.memory_limit(),
                                    solve_options(free_), monitor_));
    optimum = std::move(fastest.placed);
    return {};
  }

  // Lowers the placement once, so that the search for the fastest and the row share one program.
  Status lower(Placed& placed) {
    if (placed.program != nullptr) return {};
    SHW_ASSIGN_OR_RETURN(Program program, program_of(model_, placed, monitor_));
    placed.program = std::make_shared<const Program>(std::move(program));
    return {};
  }

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
        planned_.push_back({std::move(row), &free_, {}});
        continue;
      }
      recipes::RecipeLayouts layouts = recipes::layouts_of(recipe, model_.graph(), model_.mesh(),
                                                           model_.strategies(), parts, cuts);
      row.num_free = layouts.num_free;
      SHW_RETURN_IF_ERROR(add_planned(std::move(row), free_, std::move(layouts.choices)));
    }
    return {};
  }

  // If there is no plan, adds a row with the reason.
  Status add_planned(Row row, const CompileOptions& options, std::vector<AllowedLabels> choices) {
    SHW_ASSIGN_OR_RETURN(PlacementConstraints constraints, constraints_of(model_, options));
    if (!choices.empty()) constraints.choices = std::move(choices);
    SHW_ASSIGN_OR_RETURN(const ConstrainedModel question,
                         ConstrainedModel::create(model_, std::move(constraints), monitor_));
    Result<Placed> placed = place_row(row.kind, question, solve_options(options));
    if (!placed.ok()) {
      row.why_not = why_no_plan(placed.status(), question.memory_limit() > 0);
      if (row.why_not.empty()) return placed.status();
    }
    planned_.push_back({std::move(row), &options,
                        placed.ok() ? std::optional<Placed>(*std::move(placed)) : std::nullopt});
    return {};
  }

  Result<Placed> place_row(RowKind kind, const ConstrainedModel& question,
                           const solver::SolveOptions& solve) {
    if (kind == RowKind::kOptions) return answer(question, solve, monitor_);
    const double limit = question.memory_limit();
    return kind == RowKind::kOptimum ? place(question, limit, solve, monitor_)
                                     : try_place(question, limit, solve, monitor_);
  }

  // Options with an equal share of the remaining time.
  solver::SolveOptions solve_options(const CompileOptions& options) {
    solver::SolveOptions solve = options.solver;
    solve.deadline = solve.deadline.after_share(1.0 / static_cast<double>(left_));
    left_ -= left_ > 1;
    return solve;
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

  Status score(Planned& planned) {
    Row row = std::move(planned.row);
    if (planned.placed) {
      SHW_ASSIGN_OR_RETURN(Compiled compiled,
                           finish(model_, *planned.options, *planned.placed, monitor_));
      row.figures = figures_of(compiled.plan);
      row.proven = planned.placed->proven;
      planned.placed.reset();
      if (!optimum_)
        optimum_ = std::move(compiled.plan);
      else
        row.difference = difference_text(model_.graph(), table_.optimum().figures, *optimum_,
                                         row.figures, compiled.plan);
    }
    table_.rows.push_back(std::move(row));
    return {};
  }

  const PreparedModel& model_;
  const CompileOptions stated_, free_;
  size_t left_;  // number of solves that share the remaining time
  Monitor& monitor_;
  std::vector<Planned> planned_;  // the optimum first
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
  return Comparer(model, options, 3 + recipes::all().size() + wanted.plans.size(), monitor)
      .run(wanted);
}

}  // namespace shw::compare
