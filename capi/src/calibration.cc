// shw_calibration: a machine fitted to measurements.
#include "answers/calibration.h"

#include "blob.h"
#include "compile_options.h"
#include "cost/hardware_description.h"
#include "measure/measure.h"
#include "shardwise/hardware.h"

using namespace shw;
using namespace shw::capi;

struct shw_calibration {
  ContextRef context;
  answers::CalibrationReport ours;
};

namespace shw::capi {
namespace {

constexpr size_t kCalibrationOptionsSize_0_2 = SHW_SIZE_TO(shw_calibration_options, device);
constexpr size_t kCalibrationCollectiveSize_0_2 =
    SHW_SIZE_TO(shw_calibration_collective, lines_error_max);
constexpr size_t kCalibrationFigureSize_0_2 = SHW_SIZE_TO(shw_calibration_figure, reserved);

Result<std::vector<answers::MeasuredFile>> files_of(const shw_calibration_file* files,
                                                    size_t count) {
  if (count > 0) SHW_WANT(files);
  std::vector<answers::MeasuredFile> ours;
  for (size_t i = 0; i < count; ++i) {
    const shw_calibration_file& file = files[i];
    const std::string name = file.name ? file.name : "file " + std::to_string(i);
    SHW_ASSIGN_OR_RETURN(const auto bytes, bytes_of(file.output, "output"));
    const std::string collective = file.collective ? file.collective : "";
    if (!collective.empty() && !answers::is_collective(collective))
      return invalid_argument(name + ": collective '" + collective + "' is unknown");
    ours.push_back({name, bytes, collective});
  }
  return ours;
}

Result<answers::CalibrationReport> report_of(const shw_calibration_file* files, size_t num_files,
                                             const shw_calibration_options& in) {
  SHW_ASSIGN_OR_RETURN(const std::vector<answers::MeasuredFile> ours, files_of(files, num_files));
  const std::string name = in.name ? in.name : "";
  if (in.device != nullptr) {
    if (num_files > 0 || in.hardware != nullptr || in.hardware_description.size > 0)
      return invalid_argument(
          "with 'device' set, that device is measured: expected no files, and no hardware to fit");
    return measure::measure(in.device, name);
  }
  SHW_ASSIGN_OR_RETURN(const std::string text,
                       hardware_of(in.hardware, in.hardware_description, "hardware_description"));
  SHW_ASSIGN_OR_RETURN(const cost::Hardware base, cost::find_hardware(text));
  return answers::calibrate(base, ours, name);
}

shw_calibration_collective to_c(const answers::CalibrationReport& report, size_t index) {
  const cost::Measurement& m = report.measurements[index];
  const cost::CalibratedCollective& fit = report.calibration.collectives[index];
  shw_calibration_collective c{};
  c.file = report.sources[index].file.c_str();
  c.line = static_cast<size_t>(report.sources[index].line);
  c.collective = answers::collective_name(m.collective).data();  // a literal
  c.num_nodes = m.nodes;
  c.devices_per_node = m.devices_per_node;
  c.num_sizes = m.samples.size();
  c.base_error_mean = fit.base.mean;
  c.base_error_max = fit.base.max;
  c.model_error_mean = fit.model.mean;
  c.model_error_max = fit.model.max;
  c.lines_error_mean = fit.lines.mean;
  c.lines_error_max = fit.lines.max;
  return c;
}

}  // namespace
}  // namespace shw::capi

void shw_calibration_options_init(shw_calibration_options* options, size_t size) {
  init_struct(options, size);
}
void shw_calibration_collective_init(shw_calibration_collective* collective, size_t size) {
  init_struct(collective, size);
}
void shw_calibration_figure_init(shw_calibration_figure* figure, size_t size) {
  init_struct(figure, size);
}

shw_status* shw_calibration_create(shw_context* context, const shw_calibration_file* files,
                                   size_t num_files, const shw_calibration_options* options,
                                   shw_calibration** out_calibration) {
  return make_handle(
      out_calibration, "out_calibration", [&]() -> Result<std::unique_ptr<shw_calibration>> {
        SHW_WANT(context);
        SHW_ASSIGN_OR_RETURN(const shw_calibration_options in,
                             copy_in(options, kCalibrationOptionsSize_0_2));
        SHW_RETURN_IF_ERROR(check_flags(in.flags, 0));
        SHW_ASSIGN_OR_RETURN(answers::CalibrationReport report, report_of(files, num_files, in));
        return std::make_unique<shw_calibration>(shw_calibration{context->ref, std::move(report)});
      });
}

size_t shw_calibration_num_collectives(const shw_calibration* calibration) {
  return calibration ? calibration->ours.measurements.size() : 0;
}

shw_status* shw_calibration_get_collective(const shw_calibration* calibration, size_t index,
                                           shw_calibration_collective* out_collective) {
  return fill_struct(
      out_collective, "out_collective", kCalibrationCollectiveSize_0_2, [&](auto& out) -> Status {
        SHW_WANT(calibration);
        SHW_RETURN_IF_ERROR(check_index(index, calibration->ours.measurements.size(), "run"));
        out = to_c(calibration->ours, index);
        return {};
      });
}

size_t shw_calibration_num_figures(const shw_calibration* calibration) {
  return calibration ? calibration->ours.calibration.figures.size() : 0;
}

shw_status* shw_calibration_get_figure(const shw_calibration* calibration, size_t index,
                                       shw_calibration_figure* out_figure) {
  return fill_struct(out_figure, "out_figure", kCalibrationFigureSize_0_2,
                     [&](auto& out) -> Status {
                       SHW_WANT(calibration);
                       const auto& figures = calibration->ours.calibration.figures;
                       SHW_RETURN_IF_ERROR(check_index(index, figures.size(), "figure"));
                       out.name = figures[index].name.c_str();
                       out.before = figures[index].before;
                       out.after = figures[index].after;
                       out.determined = figures[index].determined;
                       return {};
                     });
}

static shw_status* text_of(const shw_calibration* calibration, shw_blob** out_blob,
                           std::string (*text)(const answers::CalibrationReport&)) {
  return make_handle(out_blob, "out_blob", [&]() -> Result<std::unique_ptr<shw_blob>> {
    SHW_WANT(calibration);
    return make_blob(calibration->context, text(calibration->ours));
  });
}

shw_status* shw_calibration_to_description(const shw_calibration* calibration,
                                           shw_blob** out_blob) {
  return text_of(calibration, out_blob,
                 [](const answers::CalibrationReport& report) { return report.description; });
}

shw_status* shw_calibration_to_json(const shw_calibration* calibration, shw_blob** out_blob) {
  return text_of(calibration, out_blob, answers::to_json);
}

shw_status* shw_calibration_to_text(const shw_calibration* calibration, shw_blob** out_blob) {
  return text_of(calibration, out_blob, answers::to_text);
}

void shw_calibration_destroy(shw_calibration* calibration) { delete calibration; }
