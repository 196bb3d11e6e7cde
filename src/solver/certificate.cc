#include "solver/certificate.h"

#include <algorithm>
#include <cmath>

#include "solver/budget_rows.h"
#include "solver/parameters.h"
#include "solver/trws.h"

namespace shw::solver {
namespace {

using namespace parameters::certificate;

constexpr double kCertificateRounding = 1e-13;  // of the priced limits

// The labels that are allowed and fit, by variable.
std::vector<std::vector<uint32_t>> candidates(const PlacementProblem& problem) {
  const std::vector<uint8_t> fits = BudgetRows(problem).fitting(problem);
  std::vector<std::vector<uint32_t>> labels(problem.num_variables());
  for (uint32_t v = 0; v < labels.size(); ++v)
    for (uint32_t i = 0; i < problem.num_labels(v); ++i)
      if (problem.unary(v)[i] != kForbidden && fits[problem.first_label(v) + i] != 0)
        labels[v].push_back(i);
  return labels;
}

}  // namespace

std::vector<double> priced_usages(const PlacementProblem& problem,
                                  std::span<const BudgetPrice> prices) {
  std::vector<double> by_label(problem.first_label(problem.num_variables()));
  std::vector<std::vector<BudgetPrice>> by_budget(problem.budget_limits().size());
  for (const BudgetPrice& p : prices) by_budget[p.budget].push_back(p);
  std::vector<std::vector<double>> before(by_budget.size());  // prefix sums of the prices
  for (size_t b = 0; b < by_budget.size(); ++b) {
    std::ranges::sort(by_budget[b], {}, &BudgetPrice::point);
    before[b].push_back(0);
    for (const BudgetPrice& p : by_budget[b]) before[b].push_back(before[b].back() + p.price);
  }
  for (const auto& u : problem.usages()) {
    const auto& own = by_budget[u.budget];
    const auto up_to = [&](uint32_t point) {
      return before[u.budget][static_cast<size_t>(
          std::ranges::lower_bound(own, point, {}, &BudgetPrice::point) - own.begin())];
    };
    const double price = u.first < u.end ? up_to(u.end) - up_to(u.first) : 0;
    double* out = by_label.data() + problem.first_label(u.variable);
    for (const double usage : problem.usage_of(u)) *out++ += price * usage;
  }
  return by_label;
}

Result<Certificate> certify(const PlacementProblem& problem, std::span<const BudgetPrice> prices,
                            uint32_t sweeps, Monitor& monitor, const Deadline& deadline) {
  SHW_RETURN_IF_ERROR(problem.validate());
  double offset = 0, size = 0;
  for (const BudgetPrice& p : prices) {
    if (p.budget >= problem.budget_limits().size() || !(p.price >= 0) || p.price == kForbidden)
      return invalid_argument("a price is negative or of a budget that does not exist");
    offset += p.price * problem.budget_limits()[p.budget];
    size += std::abs(p.price * problem.budget_limits()[p.budget]);
  }
  Watch watch(monitor, deadline);
  Trws trws(problem, candidates(problem), watch);
  SHW_ASSIGN_OR_RETURN(const bool possible, trws.drop_unsupported());
  if (!possible) return failed_precondition("some variable has no label that is allowed and fits");
  trws.reprice(priced_usages(problem, prices));
  double stall_bound = -kForbidden;
  for (uint32_t s = 0; s < sweeps; ++s) {
    SHW_RETURN_IF_ERROR(trws.sweep());
    if (watch.expired()) break;
    if (s % 8 != 7) continue;
    if (trws.bound() - stall_bound <= kCertificateStallShare * std::abs(trws.bound())) break;
    stall_bound = trws.bound();
  }
  Certificate certificate;
  certificate.prices.assign(prices.begin(), prices.end());
  SHW_ASSIGN_OR_RETURN(const double bound, trws.proof(certificate.messages));
  certificate.bound = bound - offset - kCertificateRounding * size;
  for (uint32_t v = 0; v < problem.num_variables(); ++v)
    certificate.labels.emplace_back(trws.labels(v).begin(), trws.labels(v).end());
  return certificate;
}

}  // namespace shw::solver
