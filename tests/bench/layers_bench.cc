// Measures how planning time grows with depth, from graph bytes to plan bytes on 8×8. The models
// are LLaMA-3 8B with 2 to 128 layers, made from the graph with two. Prints a table, and writes a
// chart if a file is given.
//   bench_layers [OUT.svg] [RUNS=5] [full|compat]
// The fastest of the runs counts. "us/layer" is the cost of one more layer, (time with n layers -
// time with 2) / (n - 2). It is CPU time, which other programs disturb less than wall time.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "bench/deeper_model.h"
#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "import/file.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "support/format.h"
#include "support/svg_chart.h"

namespace shw::bench {
namespace {

constexpr std::array<uint32_t, 7> kLayers = {2, 4, 8, 16, 32, 64, 128};
// Each phase, named as in the pipeline, and its colour.
constexpr std::pair<const char*, const char*> kPhases[] = {
    {"load", "#8a6d3b"},  {"rewrite", "#7a4a9e"}, {"strategies", "#999999"}, {"price", "#2f8f8f"},
    {"solve", "#b0503c"}, {"lower", "#4b8b3b"},   {"passes", "#d08a1d"},     {"write", "#555555"}};
constexpr size_t kNumPhases = std::size(kPhases);

struct Row {
  uint32_t layers = 0, nodes = 0;
  double total_ms = 0, cpu_ms = 0;
  std::array<double, kNumPhases> phase_ms{};
  double peak_mib = 0;  // of the process so far
  bool proven = false;
};

Result<Row> measure(const Graph& two, uint32_t layers, int runs, Rules rules) {
  SHW_ASSIGN_OR_RETURN(const Graph graph, deeper_model(two, layers, {}));
  const std::vector<uint8_t> bytes = write_graph(graph);
  const CompileOptions options{.mesh = "dp=8,tp=8",
                               .rules = rules,
                               .input_layout = "S(0)R",
                               .output_layout = "S(0)S(2)",
                               .grad_reduce_dtype = Dtype::kF32};
  std::vector<Row> rows;
  for (int run = 0; run < runs; ++run) {
    Monitor monitor;
    const std::clock_t start = std::clock();
    SHW_ASSIGN_OR_RETURN(const Compiled compiled, compile(bytes, options, monitor));
    Row& row = rows.emplace_back();
    row.cpu_ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    row.layers = layers;
    row.nodes = compiled.plan.summary.num_nodes;
    row.proven = compiled.plan.summary.proven;
    for (const PhaseTime& phase : compiled.phases) {
      row.total_ms += 1e3 * phase.seconds;
      for (size_t p = 0; p < kNumPhases; ++p)
        if (phase.name == kPhases[p].first) row.phase_ms[p] += 1e3 * phase.seconds;
    }
  }
  Row best = *std::min_element(rows.begin(), rows.end(),
                               [](const Row& a, const Row& b) { return a.total_ms < b.total_ms; });
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  best.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  return best;
}

void print_header() {
  std::printf("%6s %7s %9s %9s %9s", "layers", "nodes", "total ms", "cpu ms", "us/layer");
  for (const auto& [name, colour] : kPhases) std::printf(" %10s", name);
  std::printf(" %9s\n", "peak MiB");
}

void print(const Row& row, const Row& first) {
  std::printf("%6u %7u %9.1f %9.1f", row.layers, row.nodes, row.total_ms, row.cpu_ms);
  if (row.layers == first.layers)
    std::printf(" %9s", "");
  else
    std::printf(" %9.0f", 1e3 * (row.cpu_ms - first.cpu_ms) / (row.layers - first.layers));
  for (const double ms : row.phase_ms) std::printf(" %10.2f", ms);
  std::printf(" %9.0f%s\n", row.peak_mib, row.proven ? "" : "  not proven");
  std::fflush(stdout);
}

std::string drawing(const std::vector<Row>& rows, const char* rules) {
  const Row &first = rows.front(), &last = rows.back();
  SvgChart chart({.title = "Planning time against depth, LLaMA-3 8B on 8×8",
                  .subtitle = format("graph bytes to plan bytes, %s rules, one thread", rules),
                  .note = "dashed: straight from the first to the last",
                  .x_axis = "layers",
                  .y_axis = "ms"},
                 {0, static_cast<double>(last.layers)}, {0, last.total_ms});
  const auto curve_of = [&](auto value) {
    std::vector<SvgChart::Point> points;
    for (const Row& row : rows) points.emplace_back(row.layers, value(row));
    return points;
  };
  const auto total = curve_of([](const Row& row) { return row.total_ms; });
  const SvgChart::Point ends[] = {total.front(), total.back()};
  chart.curve(ends, "#999999", "", /*dashed=*/true);
  chart.curve(total, SvgChart::kInk, "total");
  for (const Row& row : rows)
    chart.mark({row.layers, row.total_ms}, row.proven,
               format("%u layers: %.1f ms", row.layers, row.total_ms));
  for (size_t p = 0; p < kNumPhases; ++p) {
    const auto points = curve_of([&](const Row& row) { return row.phase_ms[p]; });
    const bool counts = points.back().second - first.phase_ms[p] > 0.1 * last.total_ms;
    chart.curve(points, kPhases[p].second, counts ? kPhases[p].first : "");
  }
  return chart.take();
}

Status run(const char* out, int runs, const char* rules) {
  SHW_ASSIGN_OR_RETURN(
      const auto json,
      import::read_json_file(SHW_TEST_DATA "/graphs/llama8b_L2_8x8_einsum.graph.pre.json.gz"));
  SHW_ASSIGN_OR_RETURN(const Graph two, import::import_fx_json(json));
  print_header();
  std::vector<Row> rows;
  for (const uint32_t layers : kLayers) {
    SHW_ASSIGN_OR_RETURN(
        rows.emplace_back(),
        measure(two, layers, runs,
                std::strcmp(rules, "compat") == 0 ? Rules::kCompat : Rules::kFull));
    print(rows.back(), rows.front());
  }
  if (out == nullptr) return {};
  const std::string svg = drawing(rows, rules);
  return import::write_file(out, {reinterpret_cast<const uint8_t*>(svg.data()), svg.size()});
}

}  // namespace
}  // namespace shw::bench

int main(int argc, char** argv) {
  const shw::Status status =
      shw::bench::run(argc > 1 ? argv[1] : nullptr, argc > 2 ? std::max(1, std::atoi(argv[2])) : 5,
                      argc > 3 ? argv[3] : "full");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
