#include "answers/calibration.h"

#include <algorithm>
#include <iterator>

#include "cost/hardware_description.h"
#include "import/nccl_tests.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw::answers {
namespace {

// By cost::Collective.
constexpr std::string_view kCollectives[] = {"all_gather", "reduce_scatter", "all_reduce",
                                             "all_to_all", "collective_permute"};

Status read_runs(const MeasuredFile& file, CalibrationReport& report) {
  const auto runs = import::parse_nccl_tests(
      {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()}, file.collective);
  if (!runs.ok()) return invalid_argument(file.name + ": " + runs.status().message());
  for (const import::NcclTestRun& run : *runs) {
    cost::Measurement& m = report.measurements.emplace_back();
    m.collective = static_cast<cost::Collective>(
        std::find(std::begin(kCollectives), std::end(kCollectives), run.collective) -
        std::begin(kCollectives));
    m.nodes = run.nodes, m.devices_per_node = run.devices_per_node;
    for (const import::NcclTestRow& row : run.rows) m.samples.push_back({row.bytes, row.us});
    report.sources.push_back({file.name, run.line});
  }
  return {};
}

Status fit(const cost::Hardware& base, const std::string& name, CalibrationReport& report) {
  report.base = base.name;
  SHW_ASSIGN_OR_RETURN(report.calibration, cost::calibrate(base, report.measurements));
  cost::Hardware& made = report.calibration.hardware;
  made.name = name.empty() ? base.name + "-calibrated" : name;
  for (const cost::CalibratedFigure& f : report.calibration.figures) {
    std::erase_if(made.bases, [&](const cost::FigureBasis& old) { return old.figure == f.name; });
    made.bases.push_back(
        {f.name, f.determined ? cost::Basis::kInterpolated : cost::Basis::kFallback});
  }
  report.description = cost::hardware_json(made) + "\n";
  return cost::parse_hardware(report.description).status();
}

std::string percent(const cost::FitError& e) {
  return format("%5.1f %% %5.0f %%", e.mean * 100, e.max * 100);
}

void write_error(const char* name, const cost::FitError& e, JsonWriter& out) {
  out.key(name).begin_object().member("mean", e.mean).member("max", e.max).end_object();
}

}  // namespace

bool is_collective(std::string_view name) {
  return std::find(std::begin(kCollectives), std::end(kCollectives), name) !=
         std::end(kCollectives);
}

std::string_view collective_name(cost::Collective collective) {
  return kCollectives[static_cast<size_t>(collective)];
}

Result<CalibrationReport> calibrate(const cost::Hardware& base, std::span<const MeasuredFile> files,
                                    const std::string& name) {
  CalibrationReport report;
  for (const MeasuredFile& file : files) SHW_RETURN_IF_ERROR(read_runs(file, report));
  SHW_RETURN_IF_ERROR(fit(base, name, report));
  return report;
}

Result<CalibrationReport> calibrate(const cost::Hardware& base,
                                    std::vector<cost::Measurement> measurements,
                                    const std::string& name) {
  CalibrationReport report;
  report.measurements = std::move(measurements);
  report.sources.resize(report.measurements.size());
  SHW_RETURN_IF_ERROR(fit(base, name, report));
  return report;
}

std::string to_json(const CalibrationReport& report) {
  JsonWriter out;
  out.begin_object().key("collectives").begin_array();
  for (size_t i = 0; i < report.measurements.size(); ++i) {
    const cost::Measurement& m = report.measurements[i];
    const cost::CalibratedCollective& fit = report.calibration.collectives[i];
    out.begin_object()
        .member("file", std::string_view(report.sources[i].file))
        .member("line", report.sources[i].line)
        .member("collective", collective_name(m.collective))
        .member("nodes", m.nodes)
        .member("devices_per_node", m.devices_per_node)
        .member("sizes", m.samples.size());
    write_error("base_error", fit.base, out);
    write_error("model_error", fit.model, out);
    write_error("lines_error", fit.lines, out);
    out.end_object();
  }
  out.end_array().key("figures").begin_array();
  for (const cost::CalibratedFigure& f : report.calibration.figures)
    out.begin_object()
        .member("name", std::string_view(f.name))
        .member("before", f.before)
        .member("after", f.after)
        .member("determined", f.determined)
        .end_object();
  out.end_array();
  if (const auto& kernels = report.calibration.hardware.device.kernels; !kernels.empty()) {
    out.key("kernels").begin_array();
    for (const cost::KernelTimes& t : kernels) {
      const auto [least, most] = std::ranges::minmax(t.us);
      out.begin_object()
          .member("kernel", std::string_view(t.kernel))
          .member("dtype", dtype_name(t.dtype))
          .member("sizes", t.us.size())
          .member("least_us", least)
          .member("most_us", most)
          .end_object();
    }
    out.end_array();
  }
  return out.end_object().take();
}

std::string to_text(const CalibrationReport& report) {
  std::string text =
      format("%-15s %-9s %6s  %15s %15s %15s   mean and maximum error\n", "collective", "devices",
             "sizes", report.base.c_str(), "fitted model", "lines");
  for (size_t i = 0; i < report.measurements.size(); ++i) {
    const cost::Measurement& m = report.measurements[i];
    const cost::CalibratedCollective& fit = report.calibration.collectives[i];
    text +=
        format("%-15s %3lld x %-3lld %6zu  %15s %15s %15s\n",
               std::string(collective_name(m.collective)).c_str(), static_cast<long long>(m.nodes),
               static_cast<long long>(m.devices_per_node), m.samples.size(),
               percent(fit.base).c_str(), percent(fit.model).c_str(), percent(fit.lines).c_str());
  }
  for (const cost::CalibratedFigure& f : report.calibration.figures) {
    if (f.determined)
      text += format("%-24s %10.4g -> %.4g\n", f.name.c_str(), f.before, f.after);
    else
      text +=
          format("%-24s %10.4g, no price of these runs depends on it\n", f.name.c_str(), f.before);
  }
  for (const cost::KernelTimes& t : report.calibration.hardware.device.kernels) {
    const auto [least, most] = std::ranges::minmax(t.us);
    text += format("%-28s %-5s %4zu sizes  %10.3f to %.1f us\n", t.kernel.c_str(),
                   std::string(dtype_name(t.dtype)).c_str(), t.us.size(), least, most);
  }
  return text;
}

}  // namespace shw::answers
