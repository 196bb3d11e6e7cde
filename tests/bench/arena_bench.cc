// Measures how much larger the arenas of plans are than the memory that is live at their fullest
// step, which is a lower bound. Prints one line of JSON for each plan, and the worst plans at the
// end. Fails if a ratio exceeds kMost.
//   bench_arena [--dump FILE] [--large] [GRAPH MESH]...
//
// By default it plans the graphs of the test data and of the examples, each on three meshes with
// six recompute policies. --large: LLaMA-3 8B with 2 and with 32 layers on 64 and 128 ranks, with
// free and stated layouts, with and without early collectives. GRAPH MESH: only these. --dump:
// writes lifetimes for experiments with packing.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "graph/writer.h"
#include "import/file.h"
#include "import/fx_json.h"
#include "import/json_file.h"
#include "passes/lifetimes.h"
#include "plan/report.h"

namespace {

using namespace shw;

constexpr double kMost = 1.003;

struct Arena {
  std::string plan;
  int64_t arena_bytes = 0, live_bytes = 0;
  double ratio() const {
    return live_bytes == 0 ? 1 : static_cast<double>(arena_bytes) / static_cast<double>(live_bytes);
  }
};

struct Question {
  std::string graph;
  std::vector<std::string> meshes = {"dp=8", "dp=2,tp=4", "pp=2,dp=2,tp=2"};
  std::string input_layout = {}, output_layout = {};  // with them, gradients are reduced in f32
  int64_t prefetch_bytes = 0;
};

const char* const kPolicies[] = {"none", "cheap", "selective", "every:2", "full", "auto"};

class Arenas {
 public:
  Status ask(const Question& q) {
    SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> graph, read(q.graph));
    for (const std::string& mesh : q.meshes) {
      int64_t held_bytes = 0;
      for (const char* policy : kPolicies) {
        CompileOptions options{.mesh = mesh, .keep_graph = false};
        options.input_layout = q.input_layout;
        options.output_layout = q.output_layout;
        if (!q.input_layout.empty()) options.grad_reduce_dtype = Dtype::kF32;
        options.prefetch_bytes = q.prefetch_bytes;
        SHW_ASSIGN_OR_RETURN(options.recompute, recompute_policy(policy));
        // Policy auto, within 70 % of the memory that the plan without repetition holds.
        if (options.recompute.kind == RecomputePolicy::Kind::kAuto)
          options.memory_limit_bytes = held_bytes / 10 * 7;
        Monitor monitor;
        const std::clock_t start = std::clock();
        const auto compiled = compile(graph, options, monitor);
        if (!compiled.ok()) continue;  // for example, the ranks cannot divide the batch
        const double ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        if (held_bytes == 0) held_bytes = compiled->plan.summary.memory_program_bytes;
        const std::string name = q.graph.substr(q.graph.rfind('/') + 1);
        note(name.substr(0, name.find('.')) + " " + mesh + " " + policy +
                 (q.input_layout.empty() ? "" : " stated") + (q.prefetch_bytes > 0 ? " late" : ""),
             compiled->plan.program, ms);
      }
    }
    return {};
  }
  // Prints the summary. Returns whether all arenas are small enough.
  bool sum_up() {
    std::ranges::stable_sort(arenas_, std::greater{}, &Arena::ratio);
    const auto above =
        std::ranges::count_if(arenas_, [](const Arena& a) { return a.ratio() > kMost; });
    std::printf("{\"plans\": %zu, \"above\": %td}\n", arenas_.size(), above);
    for (size_t i = 0; i < std::min<size_t>(arenas_.size(), 10); ++i)
      std::printf("%.4f  %s\n", arenas_[i].ratio(), arenas_[i].plan.c_str());
    return above == 0;
  }
  void dump_to(const char* path) { dump_ = std::fopen(path, "w"); }

 private:
  static Result<std::vector<uint8_t>> read(const std::string& path) {
    if (!path.ends_with(".json.gz")) return import::read_file(path);
    SHW_ASSIGN_OR_RETURN(const auto json, import::read_json_file(path));
    SHW_ASSIGN_OR_RETURN(const Graph graph, import::import_fx_json(json));
    return write_graph(graph);
  }
  void note(const std::string& plan, const Program& p, double ms) {
    arenas_.push_back({plan, p.arena_bytes, p.live_peak_bytes});
    const std::vector<Life> lives = lives_of(p);
    std::printf(
        "{\"plan\": \"%s\", \"ratio\": %.5f, \"arena_mib\": %.2f, \"lives\": %zu, "
        "\"steps\": %zu, \"cpu_ms\": %.0f}\n",
        plan.c_str(), arenas_.back().ratio(), static_cast<double>(p.arena_bytes) / 0x1p20,
        lives.size(), p.steps.size(), ms);
    std::fflush(stdout);
    if (dump_ == nullptr) return;
    std::fprintf(dump_, "%s\n%zu %zu\n", plan.c_str(), p.steps.size(), lives.size());
    for (const Life& l : lives)
      std::fprintf(dump_, "%u %u %lld\n", l.begin, l.end, static_cast<long long>(l.bytes));
    std::fflush(dump_);
  }
  std::vector<Arena> arenas_;
  std::FILE* dump_ = nullptr;
};

std::vector<Question> small_questions() {
  const std::string data = SHW_TEST_DATA "/graphs/", end = ".graph.pre.json.gz";
  std::vector<Question> questions;
  for (const char* name :
       {"apertus", "bert_mlm", "block_1d8", "block_3d4x4x4", "ffn_1d8", "llama_tiny_2x4",
        "qwen2_bf16", "llama8b_L2_8x8_einsum", "../../../examples/data/gpt2_tiny_2x4"})
    questions.push_back({data + name + end});
  return questions;
}

std::vector<Question> large_questions() {
  const std::string two = SHW_TEST_DATA "/graphs/llama8b_L2_8x8_einsum.graph.pre.json.gz",
                    many = SHW_TEST_DATA
                    "/../../examples/data/llama8b_L32_8x8_einsum.graph.pre.json.gz";
  const std::vector<std::string> meshes = {"dp=8,tp=8", "dp=16,tp=8"};
  std::vector<Question> questions;
  for (const std::string& graph : {two, many})
    for (const int64_t prefetch_bytes : {0, 1 << 20}) {
      questions.push_back({graph, meshes, "", "", prefetch_bytes});
      questions.push_back({graph, meshes, "S(0)R", "S(0)S(2)", prefetch_bytes});
    }
  return questions;
}

}  // namespace

int main(int argc, char** argv) {
  Arenas arenas;
  std::vector<Question> questions;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--large")
      questions = large_questions();
    else if (arg == "--dump" && i + 1 < argc)
      arenas.dump_to(argv[++i]);
    else if (i + 1 < argc)
      questions.push_back({arg, {argv[++i]}});
  }
  if (questions.empty()) questions = small_questions();
  for (const Question& q : questions)
    if (const Status status = arenas.ask(q); !status.ok())
      return std::fprintf(stderr, "%s\n", status.message().c_str()), 1;
  return arenas.sum_up() ? 0 : 1;
}
