// The order of the phases. Each shrinks the problem, raises the bound or improves the incumbent;
// the solve ends when bound and cost meet.
#include <chrono>
#include <string>
#include <utility>

#include "solver/problem.h"
#include "solver/search.h"
#include "solver/warm.h"

namespace shw::solver {
namespace {

class Stopwatch {
 public:
  double lap_s() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

SolveStats size_of(const PlacementProblem& problem) {
  SolveStats stats;
  stats.variables = problem.num_variables();
  stats.edges = static_cast<uint32_t>(problem.edges().size());
  stats.matrices = static_cast<uint32_t>(problem.matrices().size());
  stats.labels = problem.first_label(problem.num_variables());
  return stats;
}

// Found no labelling, without proof that none exists.
Status gave_up(const Watch& watch, const std::string& what) {
  return watch.is_late() ? Status(Code::kDeadlineExceeded, what + " was found in time")
                         : Status(Code::kResourceExhausted,
                                  what + " was found within the work limit of the solve");
}

Status no_labelling_found(const Search& search, const Watch& watch, const Stage& stage) {
  constexpr uint32_t kMaxNamed = 8;
  if (search.bound() == kForbidden) {  // every part was searched
    std::string names;
    for (uint32_t v = 0; v < stage.problem.num_variables() && v <= kMaxNamed; ++v)
      names += v == kMaxNamed
                   ? ", …"
                   : (v > 0 ? ", " : "") + std::to_string(stage.undo.original_variable(v));
    return failed_precondition("no labelling has finite cost: the constraints among variables " +
                               names + " cannot all be satisfied");
  }
  return gave_up(watch, "no labelling of finite cost");
}

Solution answer(Search& search, const PlacementProblem& problem) {
  search.stats().cells = search.watch().cells();
  Solution solution;
  solution.cost = search.cost();
  solution.bound = search.bound();
  solution.proven = search.proven();
  solution.stats = search.stats();
  solution.prices = std::move(search.prices());
  solution.choice = search.take_choice();
  if (search.options().keep_warm)
    solution.warm = std::make_shared<const WarmStart>(
        WarmStart{problem.share(), solution.choice, search.take_floors(), solution.prices,
                  search.messages()});
  return solution;
}

}  // namespace

Result<Solution> solve(const PlacementProblem& problem, const SolveOptions& options,
                       Monitor& monitor) {
  SHW_RETURN_IF_ERROR(problem.validate());
  Watch watch(monitor, options.deadline, {options.threads, options.tasks});
  const Watch::WorkLimit work(watch, options.max_cells);
  Search search(problem, options, watch);
  SolveStats& stats = search.stats();
  stats = size_of(problem);
  Stopwatch clock;

  SHW_RETURN_IF_ERROR(watch.report(kForbidden, -kForbidden));
  if (!problem.budget_limits().empty()) {
    SHW_RETURN_IF_ERROR(close_gap_within_budgets(search, problem));
    stats.search_s = clock.lap_s();
    if (!search.found() && search.proven())
      return failed_precondition("no labelling within the budgets costs less than what was asked");
    if (!search.found()) return gave_up(watch, "no labelling within the budgets");
    return answer(search, problem);
  }
  if (options.warm != nullptr) {
    SHW_ASSIGN_OR_RETURN(const bool closed, search.close_warm(*options.warm));
    stats.search_s = clock.lap_s();
    if (closed) return answer(search, problem);
  }
  if (options.keep_warm) search.keep_floors();
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> keep, search.prefilter_labels());
  SHW_ASSIGN_OR_RETURN(const std::shared_ptr<const Stage> small, search.root_stage(keep));
  stats.variables_after_presolve = small->problem.num_variables();
  stats.labels_after_presolve = small->problem.first_label(small->problem.num_variables());
  stats.presolve_s = clock.lap_s();

  if (!search.proven()) SHW_RETURN_IF_ERROR(close_gap(search, small));
  stats.search_s = clock.lap_s();

  if (search.cost() == kForbidden) return no_labelling_found(search, watch, *small);
  return answer(search, problem);
}

}  // namespace shw::solver
