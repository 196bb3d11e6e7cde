// shardwise calibrate: describes a machine, by output of nccl-tests or by measuring this one.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "answers/calibration.h"
#include "import/file.h"
#include "measure/measure.h"
#include "tools/commands.h"
#include "tools/hardware_option.h"

namespace shw::tools {
namespace {

struct CalibrateOptions {
  std::vector<std::string> files;
  std::string base = "h100", output, name, device;
  bool json = false;
};

// "FILE", or "all_gather=FILE" if the file does not name the collective.
answers::MeasuredFile measured_file(const std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals == argument.npos || !answers::is_collective(argument.substr(0, equals)))
    return {argument, {}, ""};
  return {argument.substr(equals + 1), {}, argument.substr(0, equals)};
}

Result<answers::CalibrationReport> fit_files(const CalibrateOptions& o) {
  SHW_ASSIGN_OR_RETURN(const cost::Hardware base, read_hardware(o.base));
  std::vector<answers::MeasuredFile> files;
  std::vector<std::vector<uint8_t>> contents;
  for (const std::string& argument : o.files) {
    files.push_back(measured_file(argument));
    SHW_ASSIGN_OR_RETURN(contents.emplace_back(), import::read_file(files.back().name));
    files.back().bytes = contents.back();
  }
  return answers::calibrate(base, files, o.name);
}

Status run_calibrate(const CalibrateOptions& o) {
  if (o.device.empty() == o.files.empty())
    return invalid_argument("calibrate takes either FILES or --device");
  SHW_ASSIGN_OR_RETURN(const answers::CalibrationReport report,
                       o.device.empty() ? fit_files(o) : measure::measure(o.device, o.name));
  const std::string& text = report.description;
  SHW_RETURN_IF_ERROR(import::write_file(o.output, text));
  if (o.json)
    std::printf("%s\n", to_json(report).c_str());
  else
    std::printf("%swritten  %s\n", to_text(report).c_str(), o.output.c_str());
  return {};
}

}  // namespace

void add_calibrate(CommandLine& command_line) {
  auto o = std::make_shared<CalibrateOptions>();
  Verb verb = command_line.verb(
      "calibrate", "Describe a machine: by output of nccl-tests, or by measuring this one");
  verb.option("FILES", o->files,
              "Output of all_gather_perf, reduce_scatter_perf, all_reduce_perf, alltoall_perf, "
              "sendrecv_perf (or rccl-tests, or bench --collectives); all_gather=FILE if the file "
              "does not name the collective");
  verb.option(
      "--device", o->device,
      "In place of FILES, measure this machine: cpu or cuda. Takes some seconds on all of it");
  verb.option("--base", o->base, "The hardware to start from: a name or a description (.json)")
      .shows_default();
  verb.option("--name", o->name, "Name of the result; default: the base's name and '-calibrated'");
  verb.option("-o,--output", o->output, "Description file to write (.json)").required();
  verb.flag("--json", o->json, "Report the fit as JSON");
  verb.runs([o] { return run_calibrate(*o); });
}

}  // namespace shw::tools
