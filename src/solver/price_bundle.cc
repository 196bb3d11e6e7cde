// The projection is solved in its dual, which has one variable per cut, by Newton steps.
#include "solver/price_bundle.h"
#include "solver/parameters.h"
#include "support/stable_sort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace shw::solver {
namespace {

using namespace parameters::price_bundle;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum[4] = {};  // independent partial sums, for instruction-level parallelism
  size_t i = 0;
  for (; i + 4 <= a.size(); i += 4)
    for (size_t j = 0; j < 4; ++j) sum[j] += a[i + j] * b[i + j];
  for (; i < a.size(); ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Solves A x = b in place of b; A is n × n, row-major and positive definite.
void solve_in_place(std::vector<double>& a, std::span<double> b) {
  const size_t n = b.size();
  for (size_t j = 0; j < n; ++j) {  // Cholesky
    for (size_t k = 0; k < j; ++k)
      for (size_t i = j; i < n; ++i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
    const double root = std::sqrt(std::max(a[j * n + j], std::numeric_limits<double>::min()));
    for (size_t i = j; i < n; ++i) a[i * n + j] /= root;
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
}

}  // namespace

// Weights μ of the cuts and the resulting dual value.
struct PriceBundle::Point {
  std::vector<double> prices;    // max(0, centre + Σ μ g)
  std::vector<double> gradient;  // by cut: level − its cost there
  double value = 0;              // ½ |prices − centre|² + Σ μ · gradient
};

void PriceBundle::make_room() {
  if (cuts_.size() < kMaxCuts) return;
  const auto oldest = std::ranges::max_element(cuts_, {}, &Cut::idle);
  if (oldest->idle > 0) {
    cuts_.erase(oldest);
    return;
  }
  // All have weight: the two smallest are merged.
  sort_stably(cuts_, {}, [](const Cut& c) { return -c.weight; });
  const Cut last = std::move(cuts_.back());
  cuts_.pop_back();
  if (last.weight == 0) return;
  Cut& kept = cuts_.back();
  const double share = last.weight / (last.weight + kept.weight);
  kept.cost += share * (last.cost - kept.cost);
  for (size_t r = 0; r < kept.overload.size(); ++r)
    kept.overload[r] += share * (last.overload[r] - kept.overload[r]);
  kept.weight += last.weight;
}

void PriceBundle::add(double cost, std::span<const double> overload) {
  for (const Cut& cut : cuts_)
    if (cut.cost == cost && std::ranges::equal(cut.overload, overload)) return;
  make_room();
  cuts_.push_back({cost, {overload.begin(), overload.end()}});
}

double PriceBundle::least(std::span<const double> prices) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Cut& cut : cuts_) least = std::min(least, cut.cost + dot(prices, cut.overload));
  return least;
}

PriceBundle::Point PriceBundle::at(std::span<const double> weights, std::span<const double> centre,
                                   double level) const {
  Point point;
  point.prices.assign(centre.begin(), centre.end());
  for (size_t k = 0; k < cuts_.size(); ++k)
    if (weights[k] > 0)
      for (size_t r = 0; r < centre.size(); ++r)
        point.prices[r] += weights[k] * cuts_[k].overload[r];
  for (size_t r = 0; r < centre.size(); ++r) {
    point.prices[r] = std::max(point.prices[r], 0.0);
    const double moved = point.prices[r] - centre[r];
    point.value += 0.5 * moved * moved;
  }
  for (size_t k = 0; k < cuts_.size(); ++k) {
    point.gradient.push_back(level - cuts_[k].cost - dot(point.prices, cuts_[k].overload));
    point.value += weights[k] * point.gradient[k];
  }
  return point;
}

// A step for the weights. Weights at zero with a negative gradient stay there, and so do prices at
// zero unless the step raises them.
std::vector<double> PriceBundle::newton_step(const Point& point, std::span<const double> weights,
                                             double ridge) const {
  std::vector<uint8_t> pays;
  for (const double price : point.prices) pays.push_back(price > 0);
  std::vector<double> step = newton_step(point, weights, pays, ridge);
  bool more = false;
  for (size_t r = 0; r < pays.size(); ++r) {
    if (pays[r]) continue;
    double rise = 0;
    for (size_t k = 0; k < cuts_.size(); ++k) rise += step[k] * cuts_[k].overload[r];
    pays[r] = rise > 0;
    more |= pays[r] != 0;
  }
  return more ? newton_step(point, weights, pays, ridge) : step;
}

std::vector<double> PriceBundle::newton_step(const Point& point, std::span<const double> weights,
                                             std::span<const uint8_t> pays, double ridge) const {
  std::vector<size_t> moving;
  for (size_t k = 0; k < cuts_.size(); ++k)
    if (weights[k] > 0 || point.gradient[k] > 0) moving.push_back(k);
  std::vector<std::vector<double>> rows;
  double size = std::numeric_limits<double>::min();
  for (const size_t k : moving) {
    std::vector<double>& row = rows.emplace_back();
    for (size_t r = 0; r < pays.size(); ++r)
      if (pays[r]) row.push_back(cuts_[k].overload[r]);
    size += dot(cuts_[k].overload, cuts_[k].overload);
  }
  const size_t n = moving.size();
  std::vector<double> hessian(n * n), by_moving(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) hessian[i * n + j] = dot(rows[i], rows[j]);
    hessian[i * n + i] += ridge * size;
    by_moving[i] = point.gradient[moving[i]];
  }
  solve_in_place(hessian, by_moving);
  std::vector<double> step(cuts_.size());
  for (size_t i = 0; i < n; ++i) step[moving[i]] = by_moving[i];
  return step;
}

// Line search along a step; false: no decrease.
bool PriceBundle::advance(std::span<const double> step, std::span<const double> centre,
                          double level, std::vector<double>& weights, Point& point) const {
  std::vector<double> next(weights.size());
  for (double length = 1; length > kMinLength; length /= 2) {
    double promised = 0;
    for (size_t k = 0; k < next.size(); ++k) {
      next[k] = std::max(0.0, weights[k] + length * step[k]);
      promised += point.gradient[k] * (next[k] - weights[k]);
    }
    Point there = at(next, centre, level);
    if (there.value <= point.value + kShareKept * promised) continue;
    point = std::move(there);
    weights = std::move(next);
    return true;
  }
  return false;
}

// A row without a price at the centre that no cut overloads keeps the price zero. Of many rows,
// such as those of a long program, few are others.
Result<Projection> PriceBundle::project(std::span<const double> centre, double level,
                                        double tolerance, std::vector<double>& prices,
                                        Watch& watch) {
  std::vector<uint32_t> active;
  for (uint32_t r = 0; r < centre.size(); ++r)
    if (centre[r] > 0 ||
        std::ranges::any_of(cuts_, [&](const Cut& cut) { return cut.overload[r] > 0; }))
      active.push_back(r);
  SHW_RETURN_IF_ERROR(watch.poll(cuts_.size() * centre.size()));
  PriceBundle compact;
  std::vector<double> near;
  for (const uint32_t r : active) near.push_back(centre[r]);
  for (const Cut& cut : cuts_) {
    compact.cuts_.push_back({cut.cost, {}, cut.weight, cut.idle});
    for (const uint32_t r : active) compact.cuts_.back().overload.push_back(cut.overload[r]);
  }
  std::vector<double> found;
  SHW_ASSIGN_OR_RETURN(const Projection projection,
                       compact.project_active(near, level, tolerance, found, watch));
  for (size_t k = 0; k < cuts_.size(); ++k) {
    cuts_[k].weight = compact.cuts_[k].weight;
    cuts_[k].idle = compact.cuts_[k].idle;
  }
  if (projection != Projection::kFound) return projection;
  prices.assign(centre.size(), 0);
  for (size_t i = 0; i < active.size(); ++i) prices[active[i]] = found[i];
  return projection;
}

Result<Projection> PriceBundle::project_active(std::span<const double> centre, double level,
                                               double tolerance, std::vector<double>& prices,
                                               Watch& watch) {
  std::vector<double> weights;
  for (const Cut& cut : cuts_) weights.push_back(cut.weight);
  Point point = at(weights, centre, level);
  const double sum = std::accumulate(centre.begin(), centre.end(), 0.0);
  const double farthest =
      sum > 0 ? kFarthest * sum * kFarthest * sum : std::numeric_limits<double>::infinity();
  const auto wrong = [&] {
    double most = 0;
    for (size_t k = 0; k < cuts_.size(); ++k)
      most = std::max(most, weights[k] > 0 ? std::abs(point.gradient[k]) : point.gradient[k]);
    return most;
  };
  double ridge = kMinRidge;
  for (int i = 0; i < kMaxSteps && ridge < kMaxRidge && wrong() > tolerance; ++i) {
    if (point.value > farthest) break;
    SHW_RETURN_IF_ERROR(watch.poll(cuts_.size() * cuts_.size() * centre.size()));
    const bool better = advance(newton_step(point, weights, ridge), centre, level, weights, point);
    ridge = better ? std::max(kMinRidge, ridge / kRidgeFalls) : kRidgeGrows * ridge;
  }
  // Any prices that reach the level will do, even if nearer ones exist.
  const bool found = std::ranges::max(point.gradient) <= tolerance;
  for (size_t k = 0; k < cuts_.size(); ++k) {
    cuts_[k].weight = found ? weights[k] : 0;
    cuts_[k].idle = weights[k] > 0 ? 0 : cuts_[k].idle + 1;
  }
  if (!found) return point.value > farthest ? Projection::kNone : Projection::kUnknown;
  prices = std::move(point.prices);
  return Projection::kFound;
}

}  // namespace shw::solver
