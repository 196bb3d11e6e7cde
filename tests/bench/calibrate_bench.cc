// How well plans for a measured machine predict their steps on it: measures this machine, plans
// graphs of tests/data and examples/data for it under layouts that are free or stated, runs each
// plan on virtual ranks, and prints both times.
// usage: bench_calibrate [REPEATS] [HARDWARE.json]
//
// Two times are printed beside the predicted one. `cores` is the CPU time of all ranks together,
// shared by the cores that they can keep busy: what a step takes where nothing else runs; threads
// that look for work are part of it, but no step takes longer than by the wall. `wall` is
// the median from the begin of a run to its end; other work on the machine is part of it. To start
// and to end a run is no part of a step: what a plan of one tiny step takes is taken off of both;
// `run` is that of `cores`. The figures at the end are rank correlations (Spearman) and shares
// within 15 %. Some models that no part of this was looked at with come last.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "cost/hardware_description.h"
#include "import/file.h"
#include "import/graph_import.h"
#include "measure/measure.h"
#include "measure/probe.h"
#include "runtime/bench/bench.h"
#include "simulate/simulate.h"

namespace {

struct Case {
  const char *file, *mesh, *input_layout, *recompute;  // layout, policy: null: free, none
};
constexpr Case kCases[] = {
    {"/../../examples/data/llama_tiny_2x4.graph.pre.json.gz", "one=1", nullptr, nullptr},
    {"/../../examples/data/llama_tiny_2x4.graph.pre.json.gz", "dp=2", "S(0)", nullptr},
    {"/../../examples/data/llama_tiny_2x4.graph.pre.json.gz", "tp=4", "R", nullptr},
    {"/../../examples/data/llama_tiny_2x4.graph.pre.json.gz", "dp=2,tp=2", "S(0)R", nullptr},
    {"/../../examples/data/llama_tiny_2x4.graph.pre.json.gz", "dp=2,tp=4", nullptr, nullptr},
    {"/../../examples/data/llama_tiny_2x4.graph.pre.json.gz", "dp=8", "S(0)", nullptr},
    {"/../../examples/data/llama_tiny_2x4.graph.pre.json.gz", "dp=2", "S(0)", "full"},
    {"/../../examples/data/gpt2_tiny_2x4.graph.pre.json.gz", "one=1", nullptr, nullptr},
    {"/../../examples/data/gpt2_tiny_2x4.graph.pre.json.gz", "dp=2", nullptr, nullptr},
    {"/../../examples/data/gpt2_tiny_2x4.graph.pre.json.gz", "tp=4", "R", nullptr},
    {"/../../examples/data/gpt2_tiny_2x4.graph.pre.json.gz", "dp=2,tp=4", nullptr, nullptr},
    {"/graphs/bert_mlm.graph.pre.json.gz", "one=1", nullptr, nullptr},
    {"/graphs/bert_mlm.graph.pre.json.gz", "dp=2", nullptr, nullptr},
    {"/graphs/bert_mlm.graph.pre.json.gz", "dp=2,tp=2", nullptr, nullptr},
    {"/graphs/apertus.graph.pre.json.gz", "dp=4", nullptr, nullptr},
    {"/torch/qwen3_moe.graph.json.gz", "one=1", nullptr, nullptr},
    {"/torch/qwen3_moe.graph.json.gz", "ep=2", nullptr, nullptr},
    {"/torch/t5.graph.json.gz", "dp=2", nullptr, nullptr},
    {"/torch/whisper.graph.json.gz", "dp=2,tp=2", nullptr, nullptr},
    {"/bench/llama_29m.graph.pre.json.gz", "dp=2", nullptr, nullptr},
};

// Kinds of models that the 20 above have none of: whether what was mended for those serves others.
constexpr Case kHeldOut[] = {
    {"/torch/resnet.graph.json.gz", "one=1", nullptr, nullptr},
    {"/torch/resnet.graph.json.gz", "dp=2", nullptr, nullptr},
    {"/torch/regnet.graph.json.gz", "one=1", nullptr, nullptr},
    {"/torch/regnet.graph.json.gz", "dp=2", nullptr, nullptr},
    {"/torch/convmixer.graph.json.gz", "dp=2", nullptr, nullptr},
    {"/torch/recurrent_gemma.graph.json.gz", "one=1", nullptr, nullptr},
    {"/torch/deepseek_v3.graph.json.gz", "dp=4", nullptr, nullptr},
    {"/graphs/qwen2_bf16.graph.pre.json.gz", "one=1", nullptr, nullptr},
};

struct Row {
  double predicted_us = 0, cores_us = 0, run_us = 0, wall_us = 0;
};

// Of all ranks together, shared by the cores.
double cores_us(const shw::runtime::BenchResult& result, int64_t cores) {
  const auto ranks = static_cast<int64_t>(result.ranks.size());
  return result.cpu_seconds * 1e6 / static_cast<double>(std::min(ranks, cores));
}

// What a run takes that is no part of its steps.
shw::Result<shw::runtime::BenchResult> empty_run(int64_t ranks,
                                                 const shw::runtime::BenchOptions& bench) {
  shw::measure::ProbeMaker maker({{"rank", ranks}}, 256, 256);
  const shw::TensorType one = shw::row_major(shw::Dtype::kF32, {1});
  shw::ProgramStep step;
  step.kernel = "neg";
  step.inputs = {maker.operand(shw::measure::Source::kFirst, one)};
  maker.add_entry({{step, {one}}});
  SHW_ASSIGN_OR_RETURN(const auto plan, maker.finish());
  return shw::runtime::bench(plan, bench);
}

shw::Result<std::vector<uint8_t>> graph_of(const std::string& path) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> file, shw::import::read_file(path));
  SHW_ASSIGN_OR_RETURN(shw::import::ImportedGraph graph,
                       shw::import::import_graph(shw::import::GraphFormat::kFxJson, file, path));
  return std::move(graph.bytes);
}

shw::Result<Row> run(const Case& c, const std::string& hardware, int64_t cores, int64_t repeats) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph,
                       graph_of(std::string(SHW_TEST_DATA) + c.file));
  shw::CompileOptions options;
  options.mesh = c.mesh;
  options.hardware = hardware;
  if (c.input_layout != nullptr) options.inputs = {{"*", c.input_layout}};
  if (c.recompute != nullptr) {
    SHW_ASSIGN_OR_RETURN(options.recompute, shw::recompute_policy(c.recompute));
  }
  shw::Monitor monitor;
  SHW_ASSIGN_OR_RETURN(const shw::Compiled compiled, shw::compile(graph, options, monitor));
  SHW_ASSIGN_OR_RETURN(shw::Plan plan, shw::read_plan(compiled.bytes));
  Row row;
  row.predicted_us = shw::simulated_us(plan.program);
  shw::runtime::BenchOptions bench;
  bench.repeats = repeats;
  SHW_ASSIGN_OR_RETURN(
      const shw::runtime::BenchResult result,
      shw::runtime::bench(std::make_shared<const shw::Plan>(std::move(plan)), bench));
  SHW_ASSIGN_OR_RETURN(const shw::runtime::BenchResult empty,
                       empty_run(static_cast<int64_t>(result.ranks.size()), bench));
  row.run_us = cores_us(empty, cores);
  row.cores_us = cores_us(result, cores) - row.run_us;
  row.wall_us = (result.seconds.median - empty.seconds.median) * 1e6;
  row.cores_us = std::min(row.cores_us, row.wall_us);
  return row;
}

std::vector<double> places(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> place(values.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<double>(i);
  return place;
}

void print_figures(const char* name, const std::vector<Row>& rows, double Row::*measured) {
  std::vector<double> predicted, times;
  double within = 0, log_error = 0;
  for (const Row& r : rows) {
    predicted.push_back(r.predicted_us);
    times.push_back(r.*measured);
    const double ratio = r.predicted_us / r.*measured;
    within += ratio >= 0.85 && ratio <= 1.15;
    log_error += std::abs(std::log(ratio));
  }
  const std::vector<double> a = places(predicted), b = places(times);
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i) distance += (a[i] - b[i]) * (a[i] - b[i]);
  const auto n = static_cast<double>(rows.size());
  std::printf("%-6s rank correlation %.3f, %.0f of %.0f within 15 %%, mean error %.1f %%\n", name,
              1 - 6 * distance / (n * (n * n - 1)), within, n, 100 * std::expm1(log_error / n));
}

shw::Result<std::string> hardware_text(int argc, char** argv) {
  if (argc > 2) {
    SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> file, shw::import::read_file(argv[2]));
    return std::string(file.begin(), file.end());
  }
  SHW_ASSIGN_OR_RETURN(const shw::answers::CalibrationReport report,
                       shw::measure::measure("cpu", ""));
  return report.description;
}

int fail(const std::string& what, const shw::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), status.message().c_str());
  return 1;
}

bool run_all(std::span<const Case> cases, const std::string& hardware, int64_t cores,
             int64_t repeats) {
  std::vector<Row> rows;
  for (const Case& c : cases) {
    const auto row = run(c, hardware, cores, repeats);
    const std::string name = std::string(c.file).substr(std::string(c.file).rfind('/') + 1);
    if (!row.ok()) return fail(name + " on " + c.mesh, row.status()) == 0;
    std::printf("%-32s %-10s %12.0f %12.0f %8.0f %12.0f %8.2f%s\n", name.c_str(), c.mesh,
                row->predicted_us, row->cores_us, row->run_us, row->wall_us,
                row->predicted_us / row->cores_us, c.recompute != nullptr ? "  recomputed" : "");
    rows.push_back(*row);
  }
  print_figures("cores", rows, &Row::cores_us);
  print_figures("wall", rows, &Row::wall_us);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t repeats = argc > 1 ? std::atoll(argv[1]) : 15;
  const auto text = hardware_text(argc, argv);
  if (!text.ok()) return fail("measuring", text.status());
  const auto hardware = shw::cost::find_hardware(*text);
  if (!hardware.ok()) return fail("the description", hardware.status());
  const int64_t cores = std::max<int64_t>(1, hardware->device.shared_cores);
  std::printf("%-32s %-10s %12s %12s %8s %12s %8s\n", "graph", "mesh", "predicted us", "cores us",
              "run us", "wall us", "ratio");
  if (!run_all(kCases, *text, cores, repeats)) return 1;
  std::printf("held out\n");
  return run_all(kHeldOut, *text, cores, repeats) ? 0 : 1;
}
