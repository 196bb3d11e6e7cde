// Measures planning from graph bytes to plan bytes, as `shardwise plan` does it. Prints the best
// and the median of several runs for each phase as JSON, and CPU time, which other programs disturb
// less. With several entries it also prints the ratio of the time of the joint plan to that of the
// first entry alone.
// usage: bench_plan GRAPH.swgraph MESH [RUNS=10] [ENTRY,ENTRY…]
//   bench_plan build/quickstart/llama8b_L32.swgraph dp=8,tp=8
// The reference takes about 130 CPU s and 4.7 GB for LLaMA-3 8B with 32 layers on 8×8 (autoparallel
// a54c252, two cores of such a machine).
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "import/file.h"

namespace {

using Times = std::map<std::string, std::vector<double>>;  // ms, by phase

// Makes one plan. Returns false if it failed, and prints the cause.
bool measure(const std::vector<uint8_t>& graph, const shw::CompileOptions& options, Times& ms) {
  shw::Monitor monitor;
  const std::clock_t start = std::clock();
  const auto compiled = shw::compile(graph, options, monitor);
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s\n", compiled.status().message().c_str());
    return false;
  }
  ms["cpu"].push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  double total = 0;
  for (const auto& p : compiled->phases) {
    ms[std::string(p.name)].push_back(p.seconds * 1e3);
    total += p.seconds * 1e3;
  }
  ms["total"].push_back(total);
  return true;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s GRAPH.swgraph MESH [RUNS] [ENTRY,ENTRY...]\n", argv[0]);
    return 2;
  }
  const auto graph = shw::import::read_file(argv[1]);
  if (!graph.ok()) {
    std::fprintf(stderr, "%s\n", graph.status().message().c_str());
    return 1;
  }
  shw::CompileOptions options;
  options.mesh = argv[2];
  options.rules = shw::Rules::kCompat;
  options.input_layout = "S(0)R";
  options.output_layout = "S(0)S(2)";
  options.grad_reduce_dtype = shw::Dtype::kF32;
  std::istringstream entries(argc > 4 ? argv[4] : "");
  for (std::string name; std::getline(entries, name, ',');) options.entries.push_back(name);
  const int runs = argc > 3 ? std::max(1, std::atoi(argv[3])) : 10;
  shw::CompileOptions alone = options;  // plans the first entry by itself
  const bool joint = options.entries.size() > 1;
  if (joint) alone.entries.resize(1);
  Times ms, ms_alone;
  for (int i = 0; i < runs; ++i)  // alternates, so that both see the same load of the machine
    if (!measure(*graph, options, ms) || (joint && !measure(*graph, alone, ms_alone))) return 1;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"runs\": %d, \"peak_rss_mib\": %.1f", runs,
              static_cast<double>(usage.ru_maxrss) / 1024);
  for (auto& [phase, times] : ms) {
    std::sort(times.begin(), times.end());
    std::printf(", \"%s_ms\": {\"min\": %.2f, \"median\": %.2f}", phase.c_str(), times.front(),
                times[times.size() / 2]);
  }
  for (const char* time : {"cpu", "total"})
    if (joint)
      std::printf(", \"%s_times_that_of_%s\": %.2f", time, alone.entries[0].c_str(),
                  median(ms[time]) / median(ms_alone[time]));
  std::printf("}\n");
  return 0;
}
