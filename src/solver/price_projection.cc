#include "solver/price_projection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/kernels.h"
#include "solver/parameters.h"

namespace shw::solver {
namespace {

using namespace parameters::price_projection;

constexpr double kEndless = std::numeric_limits<double>::infinity();
size_t padded_rows(size_t rows) { return (rows + kWide - 1) / kWide * kWide; }

// Solves A x = b in place of b; A is n × n, row-major, symmetric and positive definite.
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

double square(std::span<const double> a) {
  double sum = 0;
  for (const double x : a) sum += x * x;
  return sum;
}

// The t at which φ' = linear + d/dt ½ |max(0, sum + t · change)|² is zero, but at most `end`.
// Safeguarded Newton method between two bounds. Infinity: there is none.
double least_along(const double* sum, const double* change, size_t n, double linear, double end) {
  double low = 0, high = kEndless, t = std::min(1.0, end);
  const double at_start = std::abs(linear + positive_part(sum, change, 0, n).first);
  for (uint32_t i = 0; i < kMaxLineSteps; ++i) {
    const Derivatives d = positive_part(sum, change, t, n);
    const double slope = linear + d.first;
    if (std::abs(slope) <= kLineTolerance * at_start) return t;
    if (slope < 0 && t >= end) return end;
    (slope < 0 ? low : high) = t;
    double next = d.second > 0 ? t - slope / d.second : kEndless;
    if (!(next > low && next < high)) next = high < kEndless ? (low + high) / 2 : 4 * t;
    if (next > kFarAlong) return end;
    t = std::min(next, end);
  }
  return low > 0 ? low : t;
}

}  // namespace

PriceProjection::PriceProjection(std::span<const double> centre)
    : num_rows_(centre.size()), stride_(padded_rows(centre.size())) {
  centre_.assign(centre.begin(), centre.end());
  centre_.resize(stride_);
  change_.resize(stride_);
}

void PriceProjection::add_cut(double cost, std::span<const double> overload, double weight) {
  cost_.push_back(cost);
  weights_.push_back(weight);
  overload_.insert(overload_.end(), overload.begin(), overload.end());
  overload_.resize(num_cuts() * stride_);
}

void PriceProjection::move_to_weights() {
  sum_ = centre_;
  for (size_t k = 0; k < num_cuts(); ++k)
    if (weights_[k] > 0) add_scaled(sum_.data(), overload(k), weights_[k], stride_);
  prices_ = sum_;
  for (double& price : prices_) price = std::max(price, 0.0);
}

// The derivatives of φ by weight: how far each cut is above the level.
void PriceProjection::find_slopes(double level) {
  slope_.resize(num_cuts());
  for (size_t k = 0; k < num_cuts(); ++k)
    slope_[k] = cost_[k] - level + dot(prices_.data(), overload(k), stride_);
}

double PriceProjection::error() const {
  double most = 0;
  for (size_t k = 0; k < num_cuts(); ++k)
    most = std::max(most, weights_[k] > 0 ? std::abs(slope_[k]) : -slope_[k]);
  return most;
}

// A lower bound on the distance of such prices from the centre, by duality.
double PriceProjection::distance_at_least(double level) const {
  double twice = square(centre_) - square(prices_);
  for (size_t k = 0; k < num_cuts(); ++k) twice -= 2 * weights_[k] * (cost_[k] - level);
  return std::sqrt(std::max(twice, 0.0));
}

std::vector<size_t> PriceProjection::moving_weights() const {
  std::vector<size_t> moving;
  for (size_t k = 0; k < num_cuts(); ++k)
    if (weights_[k] > 0 || slope_[k] < 0) moving.push_back(k);
  return moving;
}

// The second derivatives of φ by each pair of the moving weights.
std::vector<double> PriceProjection::curvatures(std::span<const size_t> moving) const {
  const size_t n = moving.size();
  std::vector<double> by_cuts(num_cuts() * num_cuts(), 0), at_row(n);
  for (size_t r = 0; r < num_rows_; ++r) {
    if (!(prices_[r] > 0)) continue;
    for (size_t i = 0; i < n; ++i) at_row[i] = overload(moving[i])[r];
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        by_cuts[moving[i] * num_cuts() + moving[j]] += at_row[i] * at_row[j];
  }
  return by_cuts;
}

// Takes the Newton direction. If that hardly reduces the slopes, takes the remaining slopes
// instead, a direction that moves no positive price. Weights of zero must not fall. False: there is
// no descent direction.
bool PriceProjection::find_direction() {
  std::vector<size_t> moving = moving_weights();
  const std::vector<double> curvature = curvatures(moving);
  const auto at = [&](size_t i, size_t j) { return curvature[moving[i] * num_cuts() + moving[j]]; };
  double size = 0;
  for (size_t i = 0; i < moving.size(); ++i) size = std::max(size, at(i, i));
  while (!moving.empty()) {
    const size_t n = moving.size();
    std::vector<double> matrix(n * n), step(n);
    for (size_t i = 0; i < n; ++i) {
      step[i] = -slope_[moving[i]];
      for (size_t j = 0; j < n; ++j) matrix[i * n + j] = at(i, j);
      matrix[i * n + i] += size > 0 ? kRidge * size : 1;
    }
    const double before = square(step);
    solve_in_place(matrix, step);
    std::vector<double> left(n);
    for (size_t i = 0; i < n; ++i) {
      left[i] = -slope_[moving[i]];
      for (size_t j = 0; j < n; ++j) left[i] -= at(i, j) * step[j];
    }
    is_flat_ = square(left) > kFlat * before;
    if (is_flat_) step = left;
    direction_.assign(num_cuts(), 0);
    for (size_t i = 0; i < n; ++i) direction_[moving[i]] = step[i];
    const size_t stuck =
        std::erase_if(moving, [&](size_t k) { return !(weights_[k] > 0) && direction_[k] < 0; });
    if (stuck == 0) return true;
  }
  return false;
}

PriceProjection::Step PriceProjection::advance(double level) {
  if (!find_direction()) return Step::kNoStep;
  std::ranges::fill(change_, 0.0);
  double linear = 0, end = kEndless;
  for (size_t k = 0; k < num_cuts(); ++k) {
    if (direction_[k] == 0) continue;
    add_scaled(change_.data(), overload(k), direction_[k], stride_);
    linear += direction_[k] * (cost_[k] - level);
    if (direction_[k] < 0) end = std::min(end, weights_[k] / -direction_[k]);
  }
  if (is_flat_)  // the remaining changes of positive prices are rounding errors
    for (size_t r = 0; r < num_rows_; ++r)
      if (prices_[r] > 0) {
        linear += change_[r] * prices_[r];
        change_[r] = 0;
      }
  const double length = least_along(sum_.data(), change_.data(), stride_, linear, end);
  if (length == kEndless) return Step::kEndless;
  for (size_t k = 0; k < num_cuts(); ++k) {
    const bool ends = direction_[k] < 0 && length >= end && weights_[k] / -direction_[k] <= end;
    weights_[k] = ends ? 0 : std::max(0.0, weights_[k] + length * direction_[k]);
  }
  return Step::kTaken;
}

Result<Projection> PriceProjection::run(double level, double tolerance, double farthest,
                                        Watch& watch) {
  for (uint32_t step = 0;; ++step) {
    move_to_weights();
    find_slopes(level);
    if (error() <= tolerance) return Projection::kFound;
    if (distance_at_least(level) > farthest) return Projection::kNone;
    if (step == kMaxSteps) break;
    SHW_RETURN_IF_ERROR(watch.poll(num_cuts() * stride_));
    const Step taken = advance(level);
    if (taken == Step::kEndless) return Projection::kNone;
    if (taken == Step::kNoStep) break;
  }
  // Any prices that reach the level suffice, even if nearer ones exist.
  return std::ranges::min(slope_) >= -tolerance ? Projection::kFound : Projection::kUnknown;
}

}  // namespace shw::solver
