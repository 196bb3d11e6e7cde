// Measures the time of solve() on a problem file, including the proof and excluding reading. Prints
// one line of JSON.
//   solver_bench PROBLEM.json[.gz] [RUNS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "import/problem_json.h"
#include "solver/problem.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: solver_bench PROBLEM.json[.gz] [RUNS]\n");
    return 2;
  }
  const auto imported = shw::import::read_problem(argv[1], /*tied=*/false);
  if (!imported.ok()) {
    std::fprintf(stderr, "error: %s\n", imported.status().message().c_str());
    return 1;
  }
  const int runs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 11;
  std::vector<double> ms;
  shw::solver::Solution last;
  for (int i = 0; i < runs; ++i) {
    shw::Monitor monitor;
    const auto start = std::chrono::steady_clock::now();
    auto solved = shw::solver::solve(imported->problem, {}, monitor);
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                     .count());
    if (!solved.ok()) {
      std::fprintf(stderr, "error: %s\n", solved.status().message().c_str());
      return 1;
    }
    last = std::move(*solved);
  }
  std::sort(ms.begin(), ms.end());
  const auto& s = last.stats;
  std::printf(
      "{\"file\": \"%s\", \"runs\": %d, \"min_ms\": %.3f, \"median_ms\": %.3f, \"objective\": "
      "%.9f, "
      "\"bound\": %.9f, \"proven\": %s, \"sweeps\": %u, \"variables\": %u, \"labels\": %llu, "
      "\"variables_after_presolve\": %u, \"labels_after_presolve\": %llu, \"presolve_ms\": %.3f, "
      "\"search_ms\": %.3f}\n",
      argv[1], runs, ms.front(), ms[ms.size() / 2], last.cost, last.bound,
      last.proven ? "true" : "false", s.sweeps, s.variables,
      static_cast<unsigned long long>(s.labels), s.variables_after_presolve,
      static_cast<unsigned long long>(s.labels_after_presolve), 1e3 * s.presolve_s,
      1e3 * s.search_s);
  return last.proven ? 0 : 1;
}
