// Prints two tables in Markdown. Families: LLaMA-3 8B with linear layers as einsums, as plain mm,
// and as mm with strided shards. Mesh ranks: the cost of strategies and prices up to the solver,
// and of the whole pipeline, on meshes of two to four dims.
//   usage: bench_strategy [RUNS=5]
// Prints medians. Every row is measured in its own process, so that its peak memory is its own.
// Rows 32 and 2 are the numbers of layers. Graphs come from examples/data and tests/data.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"

namespace {

using Times = std::map<std::string, std::vector<double>>;  // seconds, by phase

struct Row {
  std::string what, graph;
  shw::CompileOptions options;
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void print_family(const Row& row, const shw::PlanSummary& s, const Times& t) {
  std::printf("| %s | %llu | %llu | %.3f | %.3f | %s | %.4f | %.4f | %.4f | %.0f |\n",
              row.what.c_str(), static_cast<unsigned long long>(s.num_nodes),
              static_cast<unsigned long long>(s.num_strategies), s.objective_us, s.bound_us,
              s.proven ? "yes" : "no", median(t.at("strategies")) + median(t.at("price")),
              median(t.at("solve")), median(t.at("total")), peak_mib());
}

void print_rank(const Row& row, const shw::PlanSummary& s, const Times& t) {
  std::printf("| %s | %llu | %.4f | %.4f | %.4f | %.4f | %.4f | %.0f | %.3f | %s |\n",
              row.what.c_str(), static_cast<unsigned long long>(s.num_strategies),
              median(t.at("strategies")), median(t.at("price")), median(t.at("solve")),
              median(t.at("lower")), median(t.at("total")), peak_mib(), s.objective_us,
              s.proven ? "yes" : "no");
}

int run(const Row& row, int runs,
        void (*print)(const Row&, const shw::PlanSummary&, const Times&)) {
  const auto json = shw::import::read_json_file(std::string(SHW_TEST_DATA) + row.graph);
  if (!json.ok()) return std::fprintf(stderr, "%s\n", json.status().message().c_str()), 1;
  const auto graph = shw::import::import_fx_json(*json);
  if (!graph.ok()) return std::fprintf(stderr, "%s\n", graph.status().message().c_str()), 1;
  const std::vector<uint8_t> bytes = shw::write_graph(*graph);
  Times times;
  shw::PlanSummary summary;
  for (int i = 0; i < runs; ++i) {
    shw::Monitor monitor;
    const auto compiled = shw::compile(bytes, row.options, monitor);
    if (!compiled.ok()) return std::fprintf(stderr, "%s\n", compiled.status().message().c_str()), 1;
    double total = 0;
    for (const auto& p : compiled->phases) {
      times[std::string(p.name)].push_back(p.seconds);
      total += p.seconds;
    }
    times["total"].push_back(total);
    summary = compiled->plan.summary;
  }
  print(row, summary, times);
  return 0;
}

bool in_own_process(const Row& row, int runs,
                    void (*print)(const Row&, const shw::PlanSummary&, const Times&)) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int code = run(row, runs, print);
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

shw::CompileOptions llama8b(bool einsum, bool strided) {
  shw::CompileOptions o;
  o.mesh = "dp=8,tp=8";
  o.input_layout = "S(0)R";
  o.output_layout = "S(0)S(2)";
  o.grad_reduce_dtype = shw::Dtype::kF32;
  o.einsum = einsum;
  o.strided = strided;
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  bool ok = true;
  std::printf(
      "| LLaMA-3 8B, 8x8, full rules | nodes | strategies | objective µs | bound µs | proven | "
      "strategies + prices s | solve s | total s | peak MiB "
      "|\n|---|---|---|---|---|---|---|---|---|"
      "---|\n");
  for (const char* layers : {"2", "32"})
    for (const auto& [name, einsum, strided] :
         {std::tuple("einsum", true, false), std::tuple("mm, strided shards", false, true),
          std::tuple("mm, plain", false, false)})
      ok &= in_own_process(
          {std::string(layers) + " layers, " + name,
           std::string("/../../examples/data/llama8b_L") + layers + "_8x8_einsum.graph.pre.json.gz",
           llama8b(einsum, strided)},
          runs, print_family);
  std::printf(
      "\n| graph, mesh, rules | strategies | strategies s | prices s | solve s | lower s | total s "
      "| peak MiB | objective µs | proven |\n|---|---|---|---|---|---|---|---|---|---|\n");
  const std::string block = "/graphs/block_3d4x4x4.graph.pre.json.gz",
                    tiny = "/graphs/llama_tiny_2x4.graph.pre.json.gz";
  for (const auto rules : {shw::Rules::kFull, shw::Rules::kCompat})
    for (const auto& [name, graph, mesh] :
         {std::tuple("block 4x4x4", block, "a=4,b=4,c=4"),
          std::tuple("llama_tiny 2x4", tiny, "a=2,b=4"),
          std::tuple("llama_tiny 2x2x2", tiny, "a=2,b=2,c=2"),
          std::tuple("llama_tiny 2x2x2x2", tiny, "a=2,b=2,c=2,d=2")}) {
      shw::CompileOptions o;
      o.mesh = mesh;
      o.rules = rules;
      o.solver.threads = 0;
      ok &=
          in_own_process({std::string(name) + ", " + std::string(shw::rules_name(rules)), graph, o},
                         runs, print_rank);
    }
  return ok ? 0 : 1;
}
