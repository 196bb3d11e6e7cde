// shardwise solve: solves an exported placement problem exactly.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "answers/solve_problem.h"
#include "import/file.h"
#include "tools/commands.h"
#include "tools/max_text_option.h"
#include "tools/progress_line.h"

namespace shw::tools {
namespace {

struct SolveOptions {
  std::string path;
  bool json = false;
  bool tied = false;
  std::string format = "ap-problem-1";
  double time_limit_s = 0;
  uint32_t threads = 0;
  std::string max_text = "2GiB";  // the largest instance of the IOPDDL contest has 1.3 GB
};

Status solve_file(const SolveOptions& options) {
  SHW_ASSIGN_OR_RETURN(const uint64_t max_text, parse_max_text(options.max_text));
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(options.path));
  const auto format = options.format == "iopddl" ? answers::ProblemFormat::kIopddl
                                                 : answers::ProblemFormat::kApProblem;
  solver::SolveOptions how;
  how.deadline = Deadline::in(options.time_limit_s);
  how.threads = options.threads;
  Monitor monitor;
  ProgressLine line(monitor);
  SHW_ASSIGN_OR_RETURN(
      const answers::SolvedProblem solved,
      answers::solve_problem(format, bytes, options.path, options.tied, how, monitor, max_text));
  line.end();
  std::printf("%s", options.json ? (to_json(solved) + "\n").c_str() : to_text(solved).c_str());
  return {};
}

}  // namespace

void add_solve(CommandLine& command_line) {
  auto options = std::make_shared<SolveOptions>();
  Verb verb = command_line.verb(
      "solve",
      "Solve an exported placement problem or an IOPDDL instance (JSON, optionally gzipped)");
  verb.option("PROBLEM", options->path, "Problem file").required();
  verb.flag("--json", options->json,
            "Print JSON; `chosen` has one strategy per node of the file, null for outputs");
  verb.flag("--tied", options->tied,
            "Constrain tied nodes to one common strategy; default: each has its own");
  verb.option("--format", options->format, "File format").one_of({"ap-problem-1", "iopddl"});
  verb.option("--threads", options->threads,
              "Maximum number of threads, used for hard problems with budgets; 0: one per core");
  verb.option("--time-limit", options->time_limit_s,
              "Seconds after which to print the best solution so far")
      .not_negative();
  add_max_text(verb, options->max_text);
  verb.runs([options] { return solve_file(*options); });
}

}  // namespace shw::tools
