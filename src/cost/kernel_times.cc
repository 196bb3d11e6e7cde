#include "cost/kernel_times.h"

#include <algorithm>
#include <cmath>

namespace shw::cost {
namespace {

// The position of a size on one axis: between point `at` and the next, or by a factor beyond the
// last point.
struct AxisPlace {
  size_t at = 0;
  double share = 0, log_factor = 0;

  AxisPlace() = default;
  AxisPlace(const std::vector<int64_t>& points, int64_t size) {
    if (size <= points.front()) return;
    if (size >= points.back()) {
      at = points.size() - 1;
      log_factor = std::log(static_cast<double>(size) / static_cast<double>(points.back()));
      return;
    }
    at =
        static_cast<size_t>(std::upper_bound(points.begin(), points.end(), size) - points.begin()) -
        1;
    const double from = std::log(static_cast<double>(points[at])),
                 to = std::log(static_cast<double>(points[at + 1]));
    share = (std::log(static_cast<double>(size)) - from) / (to - from);
  }
};

// Interpolates between the points around a place, along the axes from `axis` on.
double log_us(const KernelTimes& times, std::span<const AxisPlace> places, size_t axis,
              size_t point) {
  if (axis == places.size()) return std::log(times.us[point]);
  const AxisPlace& p = places[axis];
  const size_t first = point * times.sizes[axis].size() + p.at;
  const double low = log_us(times, places, axis + 1, first);
  if (p.share == 0) return low + p.log_factor;
  return std::lerp(low, log_us(times, places, axis + 1, first + 1), p.share);
}

}  // namespace

const KernelTimes* find_times(std::span<const KernelTimes> all, std::string_view kernel,
                              Dtype dtype) {
  const auto it = std::ranges::find_if(
      all, [&](const KernelTimes& t) { return t.kernel == kernel && t.dtype == dtype; });
  return it == all.end() ? nullptr : &*it;
}

const KernelTimes* times_of(std::span<const KernelTimes> all, std::string_view kernel,
                            Dtype dtype) {
  if (const KernelTimes* own = find_times(all, kernel, dtype)) return own;
  if (const KernelTimes* in_f32 = find_times(all, kernel, Dtype::kF32)) return in_f32;
  const size_t variant = kernel.rfind('.');
  return variant == kernel.npos ? nullptr : times_of(all, kernel.substr(0, variant), dtype);
}

double us_at(const KernelTimes& times, const std::array<int64_t, KernelTimes::kMaxAxes>& sizes) {
  std::array<AxisPlace, KernelTimes::kMaxAxes> places;
  const size_t axes = times.sizes.size();
  for (size_t a = 0; a < axes; ++a) places[a] = AxisPlace(times.sizes[a], sizes[a]);
  return std::exp(log_us(times, std::span(places).first(axes), 0, 0));
}

}  // namespace shw::cost
