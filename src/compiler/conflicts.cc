#include "compiler/conflicts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "support/quiet.h"

namespace shw {
namespace {

// U. Junker, AAAI 2004: candidates are halved, and a half is searched only if the rest alone does
// not conflict. With k of n constraints in conflict it needs O(k · log(n / k)) feasibility tests;
// each is a solve that stops at the first placement.
class QuickXplain {
 public:
  // holds(active): whether the active constraints can hold together.
  using Holds = std::function<Result<bool>(const std::vector<uint8_t>& active)>;
  QuickXplain(size_t count, Holds holds) : active_(count, 0), holds_(std::move(holds)) {}

  // A minimal conflicting subset. Empty: there is no conflict, or there is one without any
  // constraint.
  Result<std::vector<uint32_t>> run() {
    SHW_ASSIGN_OR_RETURN(const bool base, holds_(active_));
    std::vector<uint32_t> all(active_.size());
    std::iota(all.begin(), all.end(), 0u);
    set(all, 1);
    SHW_ASSIGN_OR_RETURN(const bool whole, holds_(active_));
    set(all, 0);
    if (!base || whole) return std::vector<uint32_t>();
    return among(all, /*news=*/false);
  }

 private:
  void set(std::span<const uint32_t> of, uint8_t value) {
    for (uint32_t i : of) active_[i] = value;
  }

  // The subset of `candidates` that conflicts with the active constraints. `news`: constraints were
  // activated since the last test.
  Result<std::vector<uint32_t>> among(std::span<const uint32_t> candidates, bool news) {
    if (news) {
      SHW_ASSIGN_OR_RETURN(const bool holds, holds_(active_));
      if (!holds) return std::vector<uint32_t>();
    }
    if (candidates.size() == 1) return std::vector<uint32_t>(candidates.begin(), candidates.end());
    const auto first = candidates.first(candidates.size() / 2);
    const auto second = candidates.subspan(first.size());
    set(first, 1);
    auto of_second = among(second, true);
    set(first, 0);
    if (!of_second.ok()) return of_second;
    set(*of_second, 1);
    auto of_first = among(first, !of_second->empty());
    set(*of_second, 0);
    if (!of_first.ok()) return of_first;
    of_first->insert(of_first->end(), of_second->begin(), of_second->end());
    return of_first;
  }

  std::vector<uint8_t> active_;
  Holds holds_;
};

}  // namespace

Status find_conflict(const ConstrainedModel& model, const Deadline& deadline, Monitor& monitor) {
  const SideConditions& conditions = model.conditions();
  solver::SolveOptions any;
  any.relative_gap = 1e12;  // the first placement ends the solve
  any.deadline = deadline;
  const std::vector<bool> all_may_communicate(conditions.no_comm.size(), false);
  const auto holds = [&](const std::vector<uint8_t>& active) -> Result<bool> {
    const uint32_t casts = conditions.no_comm_source;
    const bool as_casts_want = casts < active.size() && active[casts] != 0;
    SHW_ASSIGN_OR_RETURN(
        solver::PlacementProblem problem,
        model.model().costs(as_casts_want ? conditions.no_comm : all_may_communicate, monitor));
    add_conditions(conditions, problem, active);
    Monitor muted = quiet(monitor);
    const auto solution = solver::solve(problem, any, muted);
    if (!solution.ok() && solution.status().code() != Code::kFailedPrecondition)
      return solution.status();
    return solution.ok();
  };
  Result<std::vector<uint32_t>> found = QuickXplain(conditions.sources.size(), holds).run();
  if (found.status().code() == Code::kDeadlineExceeded) return {};
  SHW_RETURN_IF_ERROR(found.status());
  std::vector<uint32_t>& set = *found;
  if (set.empty()) return {};
  std::sort(set.begin(), set.end());
  std::string list;
  std::vector<std::string> names;
  for (uint32_t i : set) {
    names.push_back(conditions.sources[i]);
    list += (list.empty() ? "" : "; ") + names.back();
  }
  Status conflict = failed_precondition(
      set.size() == 1 ? "no placement satisfies this constraint: " + list
                      : "no placement satisfies these constraints together, though leaving out any "
                        "one of them helps: " +
                            list);
  return std::move(conflict.with_conflicts(std::move(names)));
}

}  // namespace shw
