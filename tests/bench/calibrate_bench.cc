// Measures how well plans for a measured machine predict their steps on it. Measures this machine,
// plans graphs of tests/data and examples/data for it with free or stated layouts, runs each plan
// on virtual ranks, and prints both times.
// usage: bench_calibrate [VISITS] [HARDWARE.json]
//
// Each plan is run by three executors, VISITS times by each, in turn with all other plans. At each
// visit, all ranks first multiply matrices. This keeps all cores busy, so that the system spreads
// the workers, and it leaves no data of the plan in the caches. Then the plan runs once uncounted,
// and several times counted. With 12 visits these are 180 runs of a plan, or half a second for a
// step of 3 ms.
//
// Two times are printed beside the predicted one. `cores` is the CPU time of all ranks together,
// divided by the number of cores that they can keep busy. This is the time of a step if nothing
// else runs. Threads that look for work are included, but a step never takes longer than its wall
// time. `wall` is the median time from the begin of a run to its end, which includes the effect of
// other work on the machine. Starting and ending a run is no part of a step. So the time of a plan
// with one tiny step is subtracted from both; `run` is that time for `cores`. The figures at the
// end are rank correlations (Spearman) and shares within 15 %. The last models were not used in the
// development of the cost model.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "cost/hardware_description.h"
#include "import/file.h"
#include "import/graph_import.h"
#include "measure/measure.h"
#include "measure/probe.h"
#include "runtime/bench/job.h"
#include "runtime/bench/rate.h"
#include "simulate/simulate.h"

namespace {

struct Case {
  // `input_layout` null: free; `recompute` null: no policy
  const char *file, *mesh, *input_layout, *recompute;
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

// Kinds of models that are not among the 20 above. They show whether corrections made for those
// apply to other models.
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

// Each plan has several executors, since the addresses of their memory differ.
constexpr int kExecutors = 3;
constexpr int kRunsInRow = 5;
const shw::runtime::Product kProduct{1, 512, 512, 512, shw::Dtype::kF32};
constexpr double kLongSeconds = 0.1;  // a run that takes longer is timed once by each executor

struct Row {
  double predicted_us = 0, cores_us = 0, run_us = 0, wall_us = 0;
};

// One run. idle() is the share of time in which cores that the ranks could keep busy were idle.
struct Run {
  double cores_us = 0, wall_us = 0;
  double idle() const { return 1 - cores_us / wall_us; }
};

// If other cores are busy, the system may put two workers on one core. Then ranks do not wait for
// each other and find all data in that core's cache. So only the half of the runs in which cores
// were least idle counts, as in calibration.
class Runs {
 public:
  void add(const Run& run) { runs_.push_back(run); }
  double cores_us() const { return median(&Run::cores_us); }
  double wall_us() const { return median(&Run::wall_us); }

 private:
  double median(double Run::*figure) const {
    std::vector<Run> runs = runs_;
    std::ranges::sort(runs, {}, &Run::idle);
    runs.resize((runs.size() + 1) / 2);
    std::vector<double> values;
    for (const Run& r : runs) values.push_back(r.*figure);
    return shw::runtime::quartiles_of(std::move(values)).median;
  }
  std::vector<Run> runs_;
};

// A plan with its runs. The job and the products exist as long as the current executor.
struct Trial {
  std::shared_ptr<const shw::Plan> plan;
  std::unique_ptr<shw::runtime::Job> job;
  std::optional<shw::runtime::RateMeter> products;
  Runs runs;
};

struct Planned : Trial {
  const Case* of = nullptr;
  double predicted_us = 0;
};

// By the number of ranks: the time of a run that is no part of its steps.
using EmptyRuns = std::map<int64_t, Trial>;

shw::Result<std::shared_ptr<const shw::Plan>> empty_plan(int64_t ranks) {
  shw::measure::ProbeMaker maker({{"rank", ranks}}, 256, 256);
  const shw::TensorType one = shw::row_major(shw::Dtype::kF32, {1});
  shw::ProgramStep step;
  step.kernel = "neg";
  step.inputs = {maker.operand(shw::measure::Source::kFirst, one)};
  maker.add_entry({{step, {one}}});
  return maker.finish();
}

shw::Result<std::vector<uint8_t>> graph_of(const std::string& path) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> file, shw::import::read_file(path));
  SHW_ASSIGN_OR_RETURN(shw::import::ImportedGraph graph,
                       shw::import::import_graph(shw::import::GraphFormat::kFxJson, file, path));
  return std::move(graph.bytes);
}

shw::Result<Planned> planned(const Case& c, const std::string& hardware) {
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
  Planned trial;
  trial.of = &c;
  trial.predicted_us = shw::simulated_us(plan.program);
  trial.plan = std::make_shared<const shw::Plan>(std::move(plan));
  return trial;
}

// Products on all ranks, then one run that is not counted, then the counted runs.
shw::Status visit(Trial& trial, int64_t cores) {
  SHW_RETURN_IF_ERROR(trial.products->best().status());
  SHW_RETURN_IF_ERROR(trial.job->run());
  const int64_t ranks = trial.job->ranks().num_ranks();
  for (int i = 0; i < kRunsInRow; ++i) {
    SHW_ASSIGN_OR_RETURN(const auto took, trial.job->run_timed());
    trial.runs.add(
        {took.cpu_seconds * 1e6 / static_cast<double>(std::min(ranks, cores)), took.seconds * 1e6});
    if (took.seconds > kLongSeconds) break;
  }
  return {};
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

int64_t ranks_of(const shw::Plan& plan) { return shw::num_ranks(plan.program); }

// Runs all plans in turn, so that other work on the machine affects all of them.
shw::Status run_all(std::span<Trial* const> trials, int64_t cores, int visits) {
  for (int executor = 0; executor < kExecutors; ++executor) {
    for (Trial* t : trials) {
      SHW_ASSIGN_OR_RETURN(t->job, shw::runtime::Job::create(t->plan, {}));
      SHW_ASSIGN_OR_RETURN(t->products,
                           shw::runtime::RateMeter::create(t->job->ranks().devices(),
                                                           t->job->ranks().mesh(), {kProduct}));
    }
    for (int i = 0; i < visits; ++i)
      for (Trial* t : trials)
        if (i == 0 || t->runs.wall_us() < kLongSeconds * 1e6) SHW_RETURN_IF_ERROR(visit(*t, cores));
    for (Trial* t : trials) t->products.reset(), t->job.reset();
  }
  return {};
}

Row row_of(const Planned& trial, const EmptyRuns& empty) {
  const Runs& nothing = empty.at(ranks_of(*trial.plan)).runs;
  Row row{trial.predicted_us, 0, nothing.cores_us(), trial.runs.wall_us() - nothing.wall_us()};
  row.cores_us = std::min(trial.runs.cores_us() - row.run_us, row.wall_us);
  return row;
}

void print(std::span<const Planned> trials, const EmptyRuns& empty) {
  std::vector<Row> rows;
  for (const Planned& t : trials) {
    const Row row = row_of(t, empty);
    const std::string name = std::string(t.of->file).substr(std::string(t.of->file).rfind('/') + 1);
    std::printf("%-32s %-10s %12.0f %12.0f %8.0f %12.0f %8.2f%s\n", name.c_str(), t.of->mesh,
                row.predicted_us, row.cores_us, row.run_us, row.wall_us,
                row.predicted_us / row.cores_us, t.of->recompute != nullptr ? "  recomputed" : "");
    rows.push_back(row);
  }
  print_figures("cores", rows, &Row::cores_us);
  print_figures("wall", rows, &Row::wall_us);
}

// Makes the plans, and an empty plan for each number of ranks among them.
shw::Status plan_all(std::span<const Case> cases, const std::string& hardware,
                     std::vector<Planned>& plans, EmptyRuns& empty) {
  for (const Case& c : cases) {
    SHW_ASSIGN_OR_RETURN(plans.emplace_back(), planned(c, hardware));
    const int64_t ranks = ranks_of(*plans.back().plan);
    SHW_ASSIGN_OR_RETURN(empty[ranks].plan, empty_plan(ranks));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int visits = argc > 1 ? std::atoi(argv[1]) : 12;
  const auto text = hardware_text(argc, argv);
  if (!text.ok()) return fail("measuring", text.status());
  const auto hardware = shw::cost::find_hardware(*text);
  if (!hardware.ok()) return fail("the description", hardware.status());
  const int64_t cores = std::max<int64_t>(1, hardware->device.shared_cores);
  std::vector<Planned> plans;
  EmptyRuns empty;
  for (const std::span<const Case> cases :
       {std::span<const Case>(kCases), std::span<const Case>(kHeldOut)})
    if (const auto s = plan_all(cases, *text, plans, empty); !s.ok()) return fail("planning", s);
  std::vector<Trial*> trials;
  for (Trial& t : plans) trials.push_back(&t);
  for (auto& [ranks, t] : empty) trials.push_back(&t);
  if (const auto s = run_all(trials, cores, visits); !s.ok()) return fail("running", s);
  std::printf("%-32s %-10s %12s %12s %8s %12s %8s\n", "graph", "mesh", "predicted us", "cores us",
              "run us", "wall us", "ratio");
  print(std::span(plans).first(std::size(kCases)), empty);
  std::printf("held out\n");
  print(std::span(plans).subspan(std::size(kCases)), empty);
}
