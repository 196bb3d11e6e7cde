// Plans a training step under ever lower memory limits with --recompute auto, and prints one line
// of JSON for each. Fails if a plan exceeds its limit, or if, at the end of a sweep, a plan takes
// longer than a plan under a lower limit.
//   bench_budget GRAPH MESH [LIMITS=16] [INPUT OUTPUT]
//   bench_budget --all [GRAPH MESH]...
//   bench_budget --host GB ...
//   bench_budget examples/data/llama8b_L32_8x8_einsum.graph.pre.json.gz dp=8,tp=8 16 'S(0)R'
//   'S(0)S(2)'
//
// --all: LLaMA-3 8B with 2 and with 32 layers, one block of it, the tiny LLaMA and GPT-2 of the
// test data, and then the listed graphs, such as a GPT-2 of full size and a mixture of experts.
// --host: each rank has so many gigabytes of host memory, in which results may be kept. Tags of the
// graph are left out. The highest limit is the memory of the plan that repeats nothing. The lowest
// is the lowest that could be planned in five halvings. held: ports, arena and session; arena: the
// scratch alone. gap: an upper bound of how much of the step the repetitions take too long; see
// src/recompute.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "compiler/pipeline.h"
#include "graph/reader.h"
#include "graph/writer.h"
#include "import/file.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "plan/report.h"
#include "rewrite/verify.h"
#include "simulate/simulate.h"

namespace {

using namespace shw;

Result<Graph> read_graph(const std::string& path) {
  if (!path.ends_with(".json.gz")) {
    SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(path));
    return load_graph(bytes);
  }
  SHW_ASSIGN_OR_RETURN(const auto json, import::read_json_file(path));
  return import::import_fx_json(json);
}

struct Point {
  int64_t held_bytes = 0, arena_bytes = 0;
  double us = 0, excess_us = 0, objective_us = 0, repeated_us = 0, ms = 0;
  int64_t host_bytes = 0;
  double bound_us = 0;  // a bound over all placements with all repetitions
};

class Sweep {
 public:
  Sweep(const std::vector<uint8_t>& graph, CompileOptions options)
      : graph_(graph), options_(std::move(options)) {}

  Result<Point> plan(int64_t limit_bytes) {
    options_.memory_limit_bytes = limit_bytes;
    Monitor monitor;
    const std::clock_t start = std::clock();
    SHW_ASSIGN_OR_RETURN(const Compiled compiled, compile(graph_, options_, monitor));
    const PlanSummary& s = compiled.plan.summary;
    const Program& p = compiled.plan.program;
    Point point{s.memory_program_bytes,
                p.arena_bytes,
                simulate(p, p.entries[0]).total_us,
                s.recompute_excess_us,
                s.objective_us,
                recomputation(p).us,
                0,
                host_memory_bytes(p),
                std::max(s.step_bound_us, 0.0)};
    point.ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    return point;
  }

  // Plans under limits that decrease by equal factors.
  Status run(int limits) {
    SHW_ASSIGN_OR_RETURN(const Point free, plan(0));
    int64_t low = 0, high = free.held_bytes;
    for (int i = 0; i < kHalvings; ++i) {
      const int64_t middle = low + (high - low) / 2;
      (plan(middle).ok() ? high : low) = middle;
    }
    const double factor = std::pow(static_cast<double>(high) / static_cast<double>(free.held_bytes),
                                   1.0 / (limits - 1));
    double last_us = 0;
    int faster = 0;
    for (int i = 0; i < limits; ++i) {
      const int64_t limit =
          i + 1 == limits
              ? high
              : static_cast<int64_t>(static_cast<double>(free.held_bytes) * std::pow(factor, i));
      SHW_ASSIGN_OR_RETURN(const Point point, plan(limit));
      print(limit, point);
      if (point.held_bytes > limit) return internal_error("the plan exceeds its limit");
      faster += point.us < last_us - 1e-9 * last_us;
      last_us = std::max(last_us, point.us);
    }
    std::printf("{\"lowest_of_none\": %.3f}\n",
                static_cast<double>(high) / static_cast<double>(free.held_bytes));
    if (faster != 0)
      return internal_error(std::to_string(faster) +
                            " lower limits gave a faster plan than a higher one");
    return {};
  }

 private:
  static constexpr int kHalvings = 5;

  static void print(int64_t limit, const Point& p) {
    const auto gib = [](int64_t bytes) { return static_cast<double>(bytes) / 0x1p30; };
    std::printf(
        "{\"limit_gib\": %.4f, \"held_gib\": %.4f, \"arena_gib\": %.4f, \"host_gib\": %.4f, "
        "\"simulated_us\": %.1f, "
        "\"repeated_us\": %.1f, \"gap\": %.5f, \"bound_us\": %.1f, \"objective_us\": %.1f, "
        "\"cpu_ms\": %.0f}\n",
        gib(limit), gib(p.held_bytes), gib(p.arena_bytes), gib(p.host_bytes), p.us, p.repeated_us,
        p.excess_us / p.us, p.bound_us, p.objective_us, p.ms);
    std::fflush(stdout);
  }

  const std::vector<uint8_t>& graph_;
  CompileOptions options_;
};

struct Question {
  std::string graph, mesh;
  int limits = 16;
  std::string input_layout{}, output_layout{};  // with them, gradients are reduced in f32
};
int64_t host_limit_bytes = 0;

Status ask(const Question& q) {
  SHW_ASSIGN_OR_RETURN(Graph graph, read_graph(q.graph));
  for (uint32_t n = 0; n < graph.num_nodes(); ++n)
    graph.set_recompute(NodeId{n}, Recompute::kUnset);
  const std::vector<uint8_t> bytes = write_graph(graph);
  CompileOptions options;
  options.mesh = q.mesh;
  if (!q.input_layout.empty()) {
    options.input_layout = q.input_layout;
    options.output_layout = q.output_layout;
    options.grad_reduce_dtype = Dtype::kF32;
  }
  options.keep_graph = false;
  options.recompute = {.kind = RecomputePolicy::Kind::kAuto};
  options.host_memory_bytes = host_limit_bytes;
  return Sweep(bytes, options).run(q.limits);
}

Status ask_all(int argc, char** argv) {
  const std::string data = SHW_TEST_DATA, end = ".graph.pre.json.gz";
  std::vector<Question> questions = {
      {data + "/graphs/llama8b_L2_8x8_einsum" + end, "dp=8,tp=8", 16, "S(0)R", "S(0)S(2)"},
      {data + "/../../examples/data/llama8b_L32_8x8_einsum" + end, "dp=8,tp=8", 16, "S(0)R",
       "S(0)S(2)"},
      {data + "/graphs/block_1d8" + end, "dp=8"},
      {data + "/graphs/llama_tiny_2x4" + end, "dp=2,tp=4"},
      {data + "/../../examples/data/gpt2_tiny_2x4" + end, "dp=2,tp=4"},
  };
  for (int i = 2; i + 1 < argc; i += 2) questions.push_back({argv[i], argv[i + 1]});
  for (const Question& q : questions) {
    std::printf("{\"graph\": \"%s\", \"mesh\": \"%s\"}\n",
                q.graph.substr(q.graph.rfind('/') + 1).c_str(), q.mesh.c_str());
    SHW_RETURN_IF_ERROR(ask(q));
  }
  return {};
}

Status run(int argc, char** argv) {
  if (argv[1] == std::string("--all")) return ask_all(argc, argv);
  Question q{argv[1], argv[2], argc > 3 ? std::max(std::atoi(argv[3]), 2) : 16};
  if (argc > 5) q.input_layout = argv[4], q.output_layout = argv[5];
  return ask(q);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && argv[1] == std::string("--host")) {
    host_limit_bytes = static_cast<int64_t>(1e9 * std::atof(argv[2]));
    argv += 2;
    argc -= 2;
  }
  if (argc < 3 && !(argc == 2 && argv[1] == std::string("--all"))) {
    std::fprintf(stderr,
                 "usage: bench_budget [--host GB] GRAPH MESH [LIMITS=16] [INPUT OUTPUT]\n"
                 "       bench_budget [--host GB] --all [GRAPH MESH]...\n");
    return 2;
  }
  const Status status = run(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
