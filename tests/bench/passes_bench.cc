// Measures whether passes over a program save time on this machine. Runs the plan of a graph on
// virtual ranks as it is, and in turn with its steps one after another on one stream and without
// fusion, and prints both times.
// usage: bench_passes [ROUNDS] [GRAPH.json.gz MESH]
//
// The time of a round is the median of several runs, and the result is the median of all rounds.
// Also printed is the share of rounds in which the plan was not slower than without passes. The
// default is the training step of the tiny LLaMA on 8 ranks.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "import/file.h"
#include "import/graph_import.h"
#include "passes/pass.h"
#include "runtime/bench/bench.h"
#include "unscheduled.h"

namespace {

constexpr int64_t kRepeats = 5;

struct Times {
  std::vector<double> wall_us, cpu_us;
};

shw::Result<shw::Plan> planned(const std::string& file, const std::string& mesh) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> text, shw::import::read_file(file));
  SHW_ASSIGN_OR_RETURN(shw::import::ImportedGraph graph,
                       shw::import::import_graph(shw::import::GraphFormat::kFxJson, text, file));
  shw::CompileOptions options;
  options.mesh = mesh;
  shw::Monitor monitor;
  SHW_ASSIGN_OR_RETURN(const shw::Compiled compiled, shw::compile(graph.bytes, options, monitor));
  return shw::read_plan(compiled.bytes);
}

shw::Result<shw::Plan> without_passes(shw::Plan plan) {
  shw::testing::unschedule(plan.program);
  const shw::PassDef* memory[] = {&shw::kPlanMemory};
  shw::Monitor monitor;
  SHW_RETURN_IF_ERROR(shw::run_passes(plan.program, memory, {}, monitor).status());
  return plan;
}

shw::Status add_round(const std::shared_ptr<const shw::Plan>& plan, Times& times) {
  shw::runtime::BenchOptions bench;
  bench.repeats = kRepeats;
  SHW_ASSIGN_OR_RETURN(const shw::runtime::BenchResult result, shw::runtime::bench(plan, bench));
  times.wall_us.push_back(result.seconds.median * 1e6);
  times.cpu_us.push_back(result.cpu_seconds * 1e6);
  return {};
}

double median(std::vector<double> values) {
  return shw::runtime::quartiles_of(std::move(values)).median;
}

int fail(const shw::Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t rounds = argc > 1 ? std::atoll(argv[1]) : 15;
  const std::string file = argc > 2 ? argv[2]
                                    : SHW_TEST_DATA
                               "/../../examples/data/llama_tiny_2x4.graph.pre.json.gz",
                    mesh = argc > 3 ? argv[3] : "dp=2,tp=4";
  auto plan = planned(file, mesh);
  if (!plan.ok()) return fail(plan.status());
  auto plain = without_passes(*plan);
  if (!plain.ok()) return fail(plain.status());
  const auto with = std::make_shared<const shw::Plan>(std::move(*plan)),
             without = std::make_shared<const shw::Plan>(std::move(*plain));
  Times of_with, of_without;
  for (int64_t i = 0; i < rounds; ++i) {
    if (const shw::Status s = add_round(with, of_with); !s.ok()) return fail(s);
    if (const shw::Status s = add_round(without, of_without); !s.ok()) return fail(s);
  }
  int64_t no_slower = 0;
  for (size_t i = 0; i < of_with.wall_us.size(); ++i)
    no_slower += of_with.wall_us[i] <= of_without.wall_us[i];
  std::printf("%-10s %12s %12s\n", "passes", "wall us", "cpu us");
  std::printf("%-10s %12.0f %12.0f\n", "with", median(of_with.wall_us), median(of_with.cpu_us));
  std::printf("%-10s %12.0f %12.0f\n", "without", median(of_without.wall_us),
              median(of_without.cpu_us));
  std::printf("no slower in %lld of %lld rounds\n", static_cast<long long>(no_slower),
              static_cast<long long>(rounds));
  return 0;
}
