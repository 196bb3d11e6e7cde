// Measures the simulator on each entry of a plan: the best and the median time of several runs.
// Also prints the simulator's result.
// usage: bench_simulate PLAN.swplan [RUNS=50]
//   bench_simulate llama8b_L32.swplan
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "import/file.h"
#include "plan/plan.h"
#include "simulate/simulate.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PLAN.swplan [RUNS]\n", argv[0]);
    return 2;
  }
  const auto bytes = shw::import::read_file(argv[1]);
  if (!bytes.ok()) {
    std::fprintf(stderr, "%s\n", bytes.status().message().c_str());
    return 1;
  }
  const auto plan = shw::read_plan(*bytes);
  if (!plan.ok()) {
    std::fprintf(stderr, "%s\n", plan.status().message().c_str());
    return 1;
  }
  using Clock = std::chrono::steady_clock;
  const int runs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 50;
  for (const shw::ProgramEntry& entry : plan->program.entries) {
    std::vector<double> ms;
    shw::Simulation simulation;
    for (int i = 0; i < runs; ++i) {
      const auto start = Clock::now();
      simulation = shw::simulate(plan->program, entry);
      ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    std::sort(ms.begin(), ms.end());
    std::printf(
        "{\"entry\": \"%s\", \"steps\": %u, \"best_ms\": %.3f, \"median_ms\": %.3f, \"total_us\": "
        "%.3f, \"exposed_us\": %.3f, \"lower_bound_us\": %.3f}\n",
        entry.name.c_str(), entry.num_steps, ms.front(), ms[ms.size() / 2], simulation.total_us,
        simulation.exposed_us, simulation.lower_bound_us);
  }
  return 0;
}
