// shardwise calibrate: fits a hardware description to output of nccl-tests.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cost/calibrate.h"
#include "cost/hardware_description.h"
#include "import/file.h"
#include "import/nccl_tests.h"
#include "support/json_writer.h"
#include "tools/commands.h"
#include "tools/hardware_option.h"

namespace shw::tools {
namespace {

constexpr std::string_view kCollectives[] = {"all_gather", "reduce_scatter", "all_reduce",
                                             "all_to_all"};

struct Options {
  std::vector<std::string> files;
  std::string base = "h100", output, name;
  bool json = false;
};

struct Source {
  std::string file;
  int line;
};

// "FILE", or "all_gather=FILE" if the file does not name the collective.
Status read_runs(const std::string& argument, std::vector<cost::Measurement>& measurements,
                 std::vector<Source>& sources) {
  std::string file = argument, collective;
  if (const size_t equals = argument.find('='); equals != argument.npos) {
    const std::string name = argument.substr(0, equals);
    if (std::find(std::begin(kCollectives), std::end(kCollectives), name) != std::end(kCollectives))
      collective = name, file = argument.substr(equals + 1);
  }
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(file));
  const auto runs = import::parse_nccl_tests(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, collective);
  if (!runs.ok()) return invalid_argument(file + ": " + runs.status().message());
  for (const import::NcclTestRun& run : *runs) {
    cost::Measurement& m = measurements.emplace_back();
    m.collective = static_cast<cost::Collective>(
        std::find(std::begin(kCollectives), std::end(kCollectives), run.collective) -
        std::begin(kCollectives));
    m.nodes = run.nodes, m.devices_per_node = run.devices_per_node;
    for (const import::NcclTestRow& row : run.rows) m.samples.push_back({row.bytes, row.us});
    sources.push_back({file, run.line});
  }
  return {};
}

void print_text(const cost::Calibration& c, const std::vector<cost::Measurement>& measurements,
                const Options& o) {
  std::printf("%-15s %-9s %6s  %15s %15s %15s   mean and maximum error\n", "collective", "devices",
              "sizes", o.base.c_str(), "fitted model", "lines");
  const auto percent = [](const cost::FitError& e) {
    char text[32];
    std::snprintf(text, sizeof text, "%5.1f %% %5.0f %%", e.mean * 100, e.max * 100);
    return std::string(text);
  };
  for (size_t i = 0; i < measurements.size(); ++i) {
    const cost::Measurement& m = measurements[i];
    const cost::CalibratedCollective& fit = c.collectives[i];
    std::printf("%-15s %3lld x %-3lld %6zu  %15s %15s %15s\n",
                std::string(kCollectives[static_cast<size_t>(m.collective)]).c_str(),
                static_cast<long long>(m.nodes), static_cast<long long>(m.devices_per_node),
                m.samples.size(), percent(fit.base).c_str(), percent(fit.model).c_str(),
                percent(fit.lines).c_str());
  }
  for (const cost::CalibratedFigure& f : c.figures) {
    if (f.told)
      std::printf("%-24s %10.4g -> %.4g\n", f.name.c_str(), f.before, f.after);
    else
      std::printf("%-24s %10.4g, no price of these runs depends on it\n", f.name.c_str(), f.before);
  }
  std::printf("written  %s\n", o.output.c_str());
}

void write_error(const char* name, const cost::FitError& e, JsonWriter& out) {
  out.key(name).begin_object().member("mean", e.mean).member("max", e.max).end_object();
}

std::string report_json(const cost::Calibration& c,
                        const std::vector<cost::Measurement>& measurements,
                        const std::vector<Source>& sources) {
  JsonWriter out;
  out.begin_object().key("collectives").begin_array();
  for (size_t i = 0; i < measurements.size(); ++i) {
    const cost::Measurement& m = measurements[i];
    out.begin_object()
        .member("file", sources[i].file)
        .member("line", sources[i].line)
        .member("collective", kCollectives[static_cast<size_t>(m.collective)])
        .member("nodes", m.nodes)
        .member("devices_per_node", m.devices_per_node)
        .member("sizes", m.samples.size());
    write_error("base_error", c.collectives[i].base, out);
    write_error("model_error", c.collectives[i].model, out);
    write_error("lines_error", c.collectives[i].lines, out);
    out.end_object();
  }
  out.end_array().key("figures").begin_array();
  for (const cost::CalibratedFigure& f : c.figures)
    out.begin_object()
        .member("name", f.name)
        .member("before", f.before)
        .member("after", f.after)
        .member("told", f.told)
        .end_object();
  return out.end_array().end_object().take();
}

Status run(const Options& o) {
  SHW_ASSIGN_OR_RETURN(const cost::Hardware base, read_hardware(o.base));
  std::vector<cost::Measurement> measurements;
  std::vector<Source> sources;
  for (const std::string& file : o.files)
    SHW_RETURN_IF_ERROR(read_runs(file, measurements, sources));
  SHW_ASSIGN_OR_RETURN(cost::Calibration c, cost::calibrate(base, measurements));
  c.hardware.name = o.name.empty() ? base.name + "-calibrated" : o.name;
  const std::string text = cost::hardware_json(c.hardware) + "\n";
  if (const auto reads = cost::parse_hardware(text); !reads.ok()) return reads.status();
  SHW_RETURN_IF_ERROR(import::write_file(
      o.output, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size())));
  if (o.json)
    std::printf("%s\n", report_json(c, measurements, sources).c_str());
  else
    print_text(c, measurements, o);
  return {};
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("calibrate", "Fit a hardware description to output of nccl-tests");
  verb->add_option("FILES", o->files,
                   "Output of all_gather_perf, reduce_scatter_perf, all_reduce_perf, alltoall_perf "
                   "(or rccl-tests); all_gather=FILE if the file does not name the collective")
      ->required();
  verb->add_option("--base", o->base, "The hardware to start from: a name or a description (.json)")
      ->capture_default_str();
  verb->add_option("--name", o->name,
                   "Name of the result; default: the base's name and '-calibrated'");
  verb->add_option("-o,--output", o->output, "Description file to write (.json)")->required();
  verb->add_flag("--json", o->json, "Report the fit as JSON");
  verb->callback([o, &exit_code] {
    if (const Status status = run(*o); !status.ok()) exit_code = print_error(status);
  });
}

}  // namespace shw::tools
