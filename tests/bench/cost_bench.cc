// Measures prices per second: of one collective, of one redistribution, and of the matrices of
// whole problems.
#include <benchmark/benchmark.h>

#include <vector>

#include "cost/redistribute.h"

namespace shw::cost {
namespace {

CollectiveModel model_on(const char* mesh) {
  return *CollectiveModel::create(*hardware_by_name("h100"), *Mesh::parse(mesh));
}

void create(benchmark::State& state) {
  const Hardware hardware = *hardware_by_name("h100");
  const Mesh mesh = *Mesh::parse("dp=8,tp=8");
  for (auto _ : state) benchmark::DoNotOptimize(CollectiveModel::create(hardware, mesh));
}
BENCHMARK(create);

// The sizes differ from call to call, so that branch prediction does not help.
void collective(benchmark::State& state) {
  const CollectiveModel model = model_on("dp=8,tp=8");
  const auto kind = static_cast<Collective>(state.range(0));
  const auto mesh_dim = static_cast<int>(state.range(1));
  uint64_t bytes = 1;
  for (auto _ : state) {
    bytes = bytes * 6364136223846793005u + 1442695040888963407u;
    benchmark::DoNotOptimize(
        model.us(kind, mesh_dim, static_cast<int64_t>(bytes >> (34 + bytes % 16))));
  }
}
BENCHMARK(collective)->ArgNames({"kind", "dim"})->ArgsProduct({{0, 2, 3}, {0, 1}});

std::vector<Layout> layouts(int mesh_rank, int tensor_rank) {
  std::vector<Layout> all(1);
  for (int d = 0; d < mesh_rank; ++d) {
    std::vector<Layout> longer;
    for (Layout layout : all) {
      for (int p = -2; p < tensor_rank; ++p) {
        layout[d] = p == -2   ? Placement::partial()
                    : p == -1 ? Placement::replicate()
                              : Placement::shard(p);
        longer.push_back(layout);
      }
    }
    all = longer;
  }
  return all;
}

void one_by_one(benchmark::State& state) {
  const CollectiveModel model = model_on("dp=8,tp=8");
  const Roofline roofline(model.hardware().device);
  const std::vector<Layout> all = layouts(2, 3);
  double bytes = 2.0 * 16 * 8192 * 4096;
  for (auto _ : state)
    for (const Layout& from : all)
      for (const Layout& to : all)
        benchmark::DoNotOptimize(redistribute_us(model, roofline, bytes, true, from, to));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(all.size() * all.size()));
}
BENCHMARK(one_by_one);

// Every layout occurs four times, as in the strategies of an op with several operands.
void matrix(benchmark::State& state) {
  const CollectiveModel model = model_on(state.range(0) == 2 ? "dp=8,tp=8" : "a=4,b=4,c=4");
  const Roofline roofline(model.hardware().device);
  std::vector<Layout> all = layouts(model.mesh().rank(), 3);
  for (int twice = 0; twice < 2; ++twice) {
    const std::vector<Layout> copy = all;
    all.insert(all.end(), copy.begin(), copy.end());
  }
  std::vector<double> out(all.size() * all.size());
  for (auto _ : state) {
    redistribute_matrix(model, roofline, 2.0 * 16 * 8192 * 4096, true, all, all, out);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(out.size()));
}
BENCHMARK(matrix)->ArgName("mesh_rank")->Arg(2)->Arg(3);

}  // namespace
}  // namespace shw::cost

BENCHMARK_MAIN();
