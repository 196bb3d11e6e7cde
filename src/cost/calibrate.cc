#include "cost/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "cost/collective.h"
#include "support/stable_sort.h"

namespace shw::cost {
namespace {

using Sample = Measurement::Sample;
using Line = MeasuredCollective::Line;

constexpr size_t kMaxLines = 3;
constexpr size_t kMaxCuts = 48;  // candidates, if there are more measured sizes
constexpr size_t kMaxSamples = 4096;
constexpr double kLineMustSave = 0.8;  // another line must reduce the mean error below this share

// A mesh on which the group occupies whole nodes, and the mask of the group's dims.
struct MeasuredGroup {
  Mesh mesh;
  uint32_t group;
};

Result<MeasuredGroup> group_of(const Measurement& m, const Hardware& hardware) {
  const int64_t per_node = hardware.devices_per_node();
  const std::string shape = std::to_string(m.nodes) + " × " + std::to_string(m.devices_per_node);
  if (m.nodes < 1 || m.devices_per_node < 1 || m.nodes * m.devices_per_node < 2)
    return invalid_argument("calibrate: a group of " + shape + " devices");
  // For a single node without NCCL's model, the other devices of the node are irrelevant.
  const bool alone = m.nodes == 1 && !hardware.nccl;
  if (m.devices_per_node > per_node || (!alone && per_node % m.devices_per_node != 0))
    return invalid_argument("calibrate: measured " + shape + " devices, but nodes of '" +
                            hardware.name + "' have " + std::to_string(per_node) +
                            ": say devices_per_node in a description to start from");
  const int64_t others = alone ? 1 : per_node / m.devices_per_node;
  SHW_ASSIGN_OR_RETURN(Mesh mesh, Mesh::parse("nodes=" + std::to_string(m.nodes) +
                                              ",others=" + std::to_string(others) +
                                              ",group=" + std::to_string(m.devices_per_node)));
  return MeasuredGroup{std::move(mesh), 0b101};
}

Result<std::vector<double>> prices(const Hardware& hardware, const Measurement& m,
                                   const MeasuredGroup& measured) {
  SHW_ASSIGN_OR_RETURN(const CollectiveModel model,
                       CollectiveModel::create(hardware, measured.mesh));
  std::vector<double> us;
  for (const Sample& s : m.samples)
    us.push_back(model.us_combined(m.collective, measured.group, s.bytes));
  return us;
}

double distance(double price_us, const Sample& s) { return std::abs(std::log(price_us / s.us)); }

FitError error_of(const std::vector<Sample>& samples, const std::vector<double>& us) {
  double sum = 0, most = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    sum += distance(us[i], samples[i]);
    most = std::max(most, distance(us[i], samples[i]));
  }
  return {std::expm1(sum / static_cast<double>(samples.size())), std::expm1(most)};
}

// --- model parameters ---

struct Figure {
  const char* name;
  double* value;
  bool is_rate;  // searched on a logarithmic scale; times on a linear scale from 0
};

std::vector<Figure> figures_of(Hardware& h) {
  if (h.nccl)
    return {{"nccl.intra_gb_per_s", &h.nccl->bw_intra_gbps, true},
            {"nccl.inter_gb_per_s", &h.nccl->bw_inter_gbps, true},
            {"nccl.net_latency_us", &h.nccl->net_latency_us, false}};
  return {{"ring.intra_gb_per_s", &h.ring.bw_intra_gbps, true},
          {"ring.inter_gb_per_s", &h.ring.bw_inter_gbps, true},
          {"ring.start_us", &h.ring.start_us, false},
          {"ring.intra_hop_us", &h.ring.intra_hop_us, false},
          {"ring.inter_hop_us", &h.ring.inter_hop_us, false},
          {"ring.all_to_all_factor", &h.ring.all_to_all_factor, true}};
}

// Coordinate descent: searches the range of one parameter after another, first coarsely, then
// finely.
class FigureFit {
 public:
  FigureFit(Hardware hardware, std::span<const Measurement> measurements,
            std::vector<MeasuredGroup> groups)
      : hardware_(std::move(hardware)),
        measurements_(measurements),
        groups_(std::move(groups)),
        figures_(figures_of(hardware_)) {}
  FigureFit(const FigureFit&) = delete;

  // The parameters before and after, and whether they matter.
  Result<std::vector<CalibratedFigure>> run() {
    std::vector<CalibratedFigure> out;
    for (const Figure& f : figures_) out.push_back({f.name, *f.value, *f.value, false});
    SHW_ASSIGN_OR_RETURN(double best, loss());
    for (int round = 0; round < kRounds; ++round) {
      const double before = best;
      for (size_t i = 0; i < figures_.size(); ++i) {
        SHW_ASSIGN_OR_RETURN(const bool determined, search(figures_[i], best));
        out[i].determined |= determined;
      }
      if (best > before * (1 - 1e-6)) break;
    }
    for (size_t i = 0; i < figures_.size(); ++i) out[i].after = *figures_[i].value;
    return out;
  }
  const Hardware& hardware() const { return hardware_; }

 private:
  static constexpr int kRounds = 100, kCoarse = 48, kFine = 40;
  static constexpr double kRound = 0.05;

  // The terms of FitError::mean, smoothed at zero, where a search along one coordinate would get
  // stuck at the kink. Not squared, so that one outlier does not outweigh many sizes.
  Result<double> loss() const {
    double sum = 0, count = 0;
    for (size_t i = 0; i < measurements_.size(); ++i) {
      SHW_ASSIGN_OR_RETURN(const std::vector<double> us,
                           prices(hardware_, measurements_[i], groups_[i]));
      for (size_t s = 0; s < us.size(); ++s)
        sum += std::hypot(distance(us[s], measurements_[i].samples[s]), kRound), ++count;
    }
    return sum / count;
  }
  static double at(const Figure& f, double position) {  // position from 0 to 1
    return f.is_rate ? std::exp(std::lerp(std::log(1e-3), std::log(1e5), position))
                     : std::expm1(std::lerp(0.0, std::log1p(1e5), position));
  }

  // Whether the loss depends on this parameter. Updates `best`, the loss at the current value.
  Result<bool> search(const Figure& f, double& best) {
    const double was = *f.value;
    double value = was, low = best, high = best;
    const auto attempt = [&](double position) -> Result<double> {
      *f.value = at(f, position);
      SHW_ASSIGN_OR_RETURN(const double l, loss());
      low = std::min(low, l), high = std::max(high, l);
      if (l < best) best = l, value = *f.value;
      return l;
    };
    double coarse = 0, coarse_loss = std::numeric_limits<double>::infinity();
    for (int i = 0; i <= kCoarse; ++i) {
      const double position = static_cast<double>(i) / kCoarse;
      SHW_ASSIGN_OR_RETURN(const double l, attempt(position));
      if (l < coarse_loss) coarse_loss = l, coarse = position;
    }
    // Golden-section search between the neighbours of the best value.
    constexpr double kGolden = 0.6180339887498949;
    double from = std::max(0.0, coarse - 1.0 / kCoarse), to = std::min(1.0, coarse + 1.0 / kCoarse);
    for (int i = 0; i < kFine; ++i) {
      const double a = to - kGolden * (to - from), b = from + kGolden * (to - from);
      SHW_ASSIGN_OR_RETURN(const double left, attempt(a));
      SHW_ASSIGN_OR_RETURN(const double right, attempt(b));
      (left < right ? to : from) = left < right ? b : a;
    }
    *f.value = value;
    return high > low * (1 + 1e-9);
  }

  Hardware hardware_;
  const std::span<const Measurement> measurements_;
  const std::vector<MeasuredGroup> groups_;
  std::vector<Figure> figures_;  // into hardware_
};

// --- straight lines ---

// Least squares of relative errors; both parameters ≥ 0.
Line fit_line(std::span<const Sample> samples) {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (const Sample& s : samples) {
    const double weight = 1 / (s.us * s.us), x = static_cast<double>(s.bytes);
    w += weight, wx += weight * x, wxx += weight * x * x, wy += weight * s.us;
    wxy += weight * x * s.us;
  }
  const double determinant = w * wxx - wx * wx;
  double slope = determinant > 1e-12 * w * wxx ? (w * wxy - wx * wy) / determinant : wxy / wxx;
  double latency = (wy - slope * wx) / w;
  if (latency < 0) latency = 0, slope = wxy / wxx;
  slope = std::max(slope, 1e-12);
  return {.latency_us = latency, .bw_gbps = 1 / (1000 * slope)};
}

std::vector<double> prices(const std::vector<Line>& lines, const std::vector<Sample>& samples) {
  std::vector<double> us;
  for (const Sample& s : samples) {
    double best = std::numeric_limits<double>::infinity();
    for (const Line& l : lines)
      best = std::min(best, l.latency_us + static_cast<double>(s.bytes) / (1000 * l.bw_gbps));
    us.push_back(best);
  }
  return us;
}

// Finds the best partition of the samples, sorted by size, into that many runs with one line each.
// A price is the minimum over all lines.
void try_cuts(const std::vector<Sample>& samples, size_t first, size_t lines_left,
              std::vector<Line>& lines, double& best, std::vector<Line>& best_lines) {
  const auto run = [&](size_t from, size_t to) {
    return std::span(samples).subspan(from, to - from);
  };
  if (lines_left == 1) {
    lines.push_back(fit_line(run(first, samples.size())));
    if (const double e = error_of(samples, prices(lines, samples)).mean; e < best)
      best = e, best_lines = lines;
    lines.pop_back();
    return;
  }
  const size_t step = std::max<size_t>(1, samples.size() / kMaxCuts);
  for (size_t cut = first + 2; cut + 2 <= samples.size(); cut += step) {
    lines.push_back(fit_line(run(first, cut)));
    try_cuts(samples, cut, lines_left - 1, lines, best, best_lines);
    lines.pop_back();
  }
}

std::vector<Line> fit_lines(const std::vector<Sample>& samples) {
  std::vector<Line> chosen, lines;
  double chosen_error = std::numeric_limits<double>::infinity();
  for (size_t n = 1; n <= kMaxLines; ++n) {
    double best = std::numeric_limits<double>::infinity();
    std::vector<Line> found;
    try_cuts(samples, 0, n, lines, best, found);
    if (found.empty() || !(best < kLineMustSave * chosen_error)) break;
    chosen = std::move(found), chosen_error = best;
  }
  return chosen;
}

Status check(std::span<const Measurement> measurements) {
  for (size_t i = 0; i < measurements.size(); ++i) {
    const Measurement& m = measurements[i];
    if (m.samples.size() < 2)
      return invalid_argument("calibrate: one size cannot separate latency from bandwidth");
    if (m.samples.size() > kMaxSamples)
      return invalid_argument("calibrate: " + std::to_string(m.samples.size()) +
                              " sizes of one collective: at most " + std::to_string(kMaxSamples));
    const auto by_us = [](const Sample& a, const Sample& b) { return a.us < b.us; };
    const auto [least, most] = std::minmax_element(m.samples.begin(), m.samples.end(), by_us);
    if (most->us < 1.5 * least->us || most->bytes <= least->bytes)
      return invalid_argument(
          "calibrate: the sizes that were measured take about the same time: measure larger ones, "
          "which tell the bandwidth");
    for (const Measurement& other : measurements.first(i))
      if (other.collective == m.collective && other.nodes == m.nodes &&
          other.devices_per_node == m.devices_per_node)
        return invalid_argument("calibrate: the same collective among " + std::to_string(m.nodes) +
                                " × " + std::to_string(m.devices_per_node) +
                                " devices was measured twice");
  }
  return {};
}

}  // namespace

Result<Calibration> calibrate(const Hardware& base, std::span<const Measurement> measurements) {
  if (measurements.empty()) return invalid_argument("calibrate: nothing was measured");
  SHW_RETURN_IF_ERROR(check(measurements));
  std::vector<Measurement> sorted(measurements.begin(), measurements.end());
  std::vector<MeasuredGroup> groups;
  for (Measurement& m : sorted) {
    sort_stably(m.samples, [](const Sample& a, const Sample& b) { return a.bytes < b.bytes; });
    SHW_ASSIGN_OR_RETURN(MeasuredGroup group, group_of(m, base));
    groups.push_back(std::move(group));
  }
  Hardware modelled = base;  // the base's own measurements of these groups are replaced
  std::erase_if(modelled.measured, [&](const MeasuredCollective& old) {
    return std::any_of(sorted.begin(), sorted.end(), [&](const Measurement& m) {
      return m.collective == old.collective && m.nodes == old.nodes &&
             m.devices_per_node == old.devices_per_node;
    });
  });

  modelled.device.kernels
      .clear();  // no price of a collective reads them, but each model copies them

  Calibration out;
  FigureFit fit(modelled, sorted, groups);
  SHW_ASSIGN_OR_RETURN(out.figures, fit.run());
  out.hardware = fit.hardware();
  out.hardware.device.kernels = base.device.kernels;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Measurement& m = sorted[i];
    SHW_ASSIGN_OR_RETURN(const auto before, prices(base, m, groups[i]));
    SHW_ASSIGN_OR_RETURN(const auto after, prices(fit.hardware(), m, groups[i]));
    MeasuredCollective measured{m.collective, m.nodes, m.devices_per_node, fit_lines(m.samples)};
    out.collectives.push_back({.base = error_of(m.samples, before),
                               .model = error_of(m.samples, after),
                               .lines = error_of(m.samples, prices(measured.lines, m.samples))});
    out.hardware.measured.push_back(std::move(measured));
  }
  SHW_RETURN_IF_ERROR(check_links(out.hardware));
  return out;
}

}  // namespace shw::cost
