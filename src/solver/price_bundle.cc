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

}  // namespace

void PriceBundle::make_room() {
  if (cuts_.size() < kMaxCuts) return;
  const auto oldest = std::ranges::max_element(cuts_, {}, &Cut::idle);
  if (oldest->idle > 0) {
    cuts_.erase(oldest);
    return;
  }
  // All cuts have weight, so the two of the smallest weights are merged.
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

// A row with price zero at the centre that no cut overloads keeps the price zero, and is left out.
// This holds for most rows of a long program.
Result<Projection> PriceBundle::project(std::span<const double> centre, double level,
                                        double tolerance, std::vector<double>& prices,
                                        Watch& watch) {
  std::vector<uint32_t> active;
  for (uint32_t r = 0; r < centre.size(); ++r)
    if (centre[r] > 0 ||
        std::ranges::any_of(cuts_, [&](const Cut& cut) { return cut.overload[r] > 0; }))
      active.push_back(r);
  SHW_RETURN_IF_ERROR(watch.poll(cuts_.size() * centre.size()));
  std::vector<double> at_active;
  const auto take_active = [&](std::span<const double> by_row) {
    at_active.clear();
    for (const uint32_t r : active) at_active.push_back(by_row[r]);
    return std::span<const double>(at_active);
  };
  PriceProjection projection(take_active(centre));
  for (const Cut& cut : cuts_) projection.add_cut(cut.cost, take_active(cut.overload), cut.weight);
  const double sum = std::accumulate(centre.begin(), centre.end(), 0.0);
  const double farthest = sum > 0 ? kFarthest * sum : std::numeric_limits<double>::infinity();
  SHW_ASSIGN_OR_RETURN(const Projection found, projection.run(level, tolerance, farthest, watch));
  for (size_t k = 0; k < cuts_.size(); ++k) {
    const double weight = projection.weights()[k];
    cuts_[k].weight = found == Projection::kFound ? weight : 0;
    cuts_[k].idle = weight > 0 ? 0 : cuts_[k].idle + 1;
  }
  if (found != Projection::kFound) return found;
  prices.assign(centre.size(), 0);
  for (size_t i = 0; i < active.size(); ++i) prices[active[i]] = projection.prices()[i];
  return found;
}

}  // namespace shw::solver
