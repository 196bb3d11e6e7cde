// The branching rule for parts with budgets. Prefers the variable on whose priced usage the recent
// labellings disagree most and separates its labels at their mean price; if prices do not
// distinguish any labels, separates the most frequent label of the least decided variable.
#include <algorithm>
#include <cmath>

#include "solver/budget_close.h"

namespace shw::solver {

std::array<std::vector<uint8_t>, 2> split_labels(const Part& part, const Relaxation& relaxation,
                                                 const RestrictedProblem& source) {
  const PlacementProblem& p = part.stage->problem;
  const PlacementProblem& q = source.problem;
  double best_score = -1;
  uint32_t variable = 0;
  std::vector<uint8_t> first_half, half;
  double first_share = 0;
  for (uint32_t v = 0; v < q.num_variables(); ++v) {
    const uint32_t k = q.num_labels(v);
    if (k < 2) continue;
    const auto label = std::span(source.label).subspan(q.first_label(v), k);
    const auto price = [&](uint32_t i) {
      return relaxation.label_prices()[p.first_label(v) + label[i]];
    };
    const auto share = [&](uint32_t i) {
      return relaxation.frequency()[p.first_label(v) + label[i]];
    };
    double mean = 0, total = 1e-30;
    for (uint32_t i = 0; i < k; ++i) total += share(i), mean += share(i) * price(i);
    mean /= total;
    double spread = 0;
    uint32_t favourite = 0;
    for (uint32_t i = 0; i < k; ++i) {
      spread += share(i) * std::abs(price(i) - mean);
      if (share(i) > share(favourite)) favourite = i;
    }
    double least = kForbidden, most = -kForbidden;
    for (uint32_t i = 0; i < k; ++i)
      least = std::min(least, price(i)), most = std::max(most, price(i));
    const bool by_price = spread > 1e-9 * (1 + std::abs(mean)) && most > least;
    const double score = by_price ? 1 + spread : (1 - share(favourite)) * 0.5;
    if (score <= best_score) continue;
    best_score = score;
    variable = v;
    half.assign(k, 0);
    const double at = std::clamp(mean, least, std::nextafter(most, -kForbidden));
    first_share = 0;
    for (uint32_t i = 0; i < k; ++i) {
      half[i] = by_price ? price(i) <= at : i == favourite;
      if (half[i]) first_share += share(i) / total;
    }
    first_half = half;
  }
  std::array<std::vector<uint8_t>, 2> halves;
  const bool first_likely = first_share >= 0.5;
  for (const bool first : {!first_likely, first_likely}) {
    std::vector<uint8_t>& keep = halves[first == first_likely ? 1 : 0];
    keep.assign(q.first_label(q.num_variables()), 1);
    for (uint32_t i = 0; i < first_half.size(); ++i)
      keep[q.first_label(variable) + i] = (first_half[i] != 0) == first;
  }
  return halves;
}

}  // namespace shw::solver
