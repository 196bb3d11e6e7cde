// Finds the best mesh for LLaMA-3 8B. Plans and ranks every ordered factorisation of 64 devices
// into up to three mesh dims.
//   bench_search [LAYERS=32] [DEVICES=64] [THREADS=0: all cores]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "answers/search.h"
#include "bench/deeper_model.h"
#include "graph/writer.h"
#include "import/fx_json.h"
#include "import/json_file.h"

namespace shw::bench {
namespace {

Status run(uint32_t layers, const answers::SearchOptions& search) {
  SHW_ASSIGN_OR_RETURN(
      const auto json,
      import::read_json_file(SHW_TEST_DATA "/graphs/llama8b_L2_8x8_einsum.graph.pre.json.gz"));
  SHW_ASSIGN_OR_RETURN(const Graph two, import::import_fx_json(json));
  SHW_ASSIGN_OR_RETURN(const Graph graph, deeper_model(two, layers, {}));
  const std::vector<uint8_t> bytes = write_graph(graph);
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  Monitor monitor;
  SHW_ASSIGN_OR_RETURN(
      const auto found,
      answers::search_meshes(bytes, {.grad_reduce_dtype = Dtype::kF32}, search, monitor));
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double cpu_s = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  std::printf("%s%zu meshes in %.1f s, %.1f CPU s\n", answers::to_text(found).c_str(), found.size(),
              wall_s, cpu_s);
  return {};
}

}  // namespace
}  // namespace shw::bench

int main(int argc, char** argv) {
  shw::answers::SearchOptions search;
  search.devices = argc > 2 ? std::atoi(argv[2]) : 64;
  search.threads = argc > 3 ? std::atoi(argv[3]) : 0;
  const shw::Status status =
      shw::bench::run(argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 32, search);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
