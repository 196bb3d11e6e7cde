// Solves instances of the IOPDDL contest, each within SECONDS of CPU time on one thread. Prints one
// row of a Markdown table for each instance.
//   bench_contest SECONDS INSTANCE.json[.gz]…      --trace: also what was found when, to stderr
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "import/file.h"
#include "import/iopddl.h"
#include "solver/problem.h"

namespace {

constexpr uint64_t kMostText = uint64_t{4} << 30;

double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The result when the limit was reached, or when the solve ended.
struct Outcome {
  double cost = shw::solver::kForbidden, bound = -shw::solver::kForbidden;
  double found_s = 0, end_s = 0;  // found_s: when the last labelling was found
  bool proven = false;
};

shw::Result<Outcome> run(const std::string& path, double limit_s, bool trace) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, shw::import::read_file(path));
  SHW_ASSIGN_OR_RETURN(const shw::solver::PlacementProblem problem,
                       shw::import::parse_iopddl(bytes, path, kMostText));
  Outcome out;
  const double start = cpu_s();
  shw::Monitor monitor;
  // The solver's own deadline is wall time, which includes the time of other processes.
  monitor.on_progress = [&](const shw::Progress& p) {
    const double now = cpu_s() - start;
    if (now > limit_s) return true;
    if (p.best_cost_us < out.cost) {
      out.found_s = now;
      if (trace)
        std::fprintf(stderr, "%6.1f s  %.12g  %.12g\n", now, p.best_cost_us, p.lower_bound_us);
    }
    out.cost = p.best_cost_us;
    out.bound = p.lower_bound_us;
    return false;
  };
  const auto solved = shw::solver::solve(problem, {}, monitor);
  out.end_s = cpu_s() - start;
  if (!solved.ok()) {
    if (solved.status().code() != shw::Code::kCancelled) return solved.status();
    return out;
  }
  out.cost = solved->cost;
  out.bound = solved->bound;
  out.proven = solved->proven;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const bool trace = argc > 1 && std::string_view(argv[1]) == "--trace";
  const int first = trace ? 2 : 1;
  if (argc < first + 2) {
    std::fprintf(stderr, "usage: bench_contest [--trace] SECONDS INSTANCE.json[.gz]…\n");
    return 2;
  }
  std::printf("| instance | cost | bound | found after CPU s | CPU s |\n|---|---|---|---|---|\n");
  for (int i = first + 1; i < argc; ++i) {
    const auto out = run(argv[i], std::atof(argv[first]), trace);
    if (!out.ok()) {
      std::fprintf(stderr, "%s: %s\n", argv[i], out.status().message().c_str());
      return 1;
    }
    std::printf("| %s | %.12g | %s%.12g | %.1f | %.1f |\n", argv[i], out->cost,
                out->proven ? "proven " : "", out->bound, out->found_s, out->end_s);
    std::fflush(stdout);
  }
  return 0;
}
