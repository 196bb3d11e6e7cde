// Measures the runtime's own overhead, collectives, and matrix products.
#include <benchmark/benchmark.h>

#include <thread>

#include "runtime/collective/past_caches.h"
#include "runtime/cpu/gemm.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"

namespace shw::runtime {
namespace {

using shw::testing::ProgramBuilder;

// A job with buffers for one entry, which is run repeatedly.
class Job {
 public:
  explicit Job(std::shared_ptr<const Plan> plan) {
    job_ = std::move(*VirtualRanks::create(std::move(plan)));
    const ProgramEntry& entry = job_->program().entries[0];
    for (int64_t r = 0; r < job_->num_ranks(); ++r) {
      const auto buffers = [&](const std::vector<PortId>& ports) {
        std::vector<BufferRef> all;
        for (PortId id : ports) {
          const int64_t bytes = port_bytes(job_->program(), job_->program().ports[id]);
          memory_.emplace_back(static_cast<size_t>(bytes));
          if (job_->program().ports[id].global.dtype == Dtype::kF32) fill(memory_.back());
          all.push_back(Buffer::borrow(memory_.back().data(), bytes, {}));
        }
        return all;
      };
      in_.push_back(buffers(entry.inputs));
      out_.push_back(buffers(entry.outputs));
    }
    last_.resize(in_.size());
    run();  // touches all memory once before the measurement
  }
  void run() {
    const ProgramEntry& entry = job_->program().entries[0];
    for (size_t r = 0; r < in_.size(); ++r)
      last_[r] =
          std::move(*job_->executor(static_cast<int64_t>(r)).enqueue(entry, in_[r], out_[r]));
    for (const Completion& c : last_) (void)c.wait();
  }

 private:
  // Numbers from −4 to 4, since some functions are faster for 0.
  static void fill(std::vector<std::byte>& memory) {
    auto* to = reinterpret_cast<float*>(memory.data());
    for (size_t i = 0; i < memory.size() / sizeof(float); ++i)
      to[i] = static_cast<float>(i * 37 % 1009) / 126 - 4;
  }

  std::vector<std::vector<std::byte>> memory_;
  std::unique_ptr<VirtualRanks> job_;
  std::vector<std::vector<BufferRef>> in_, out_;
  std::vector<Completion> last_;
};

// The steps do almost nothing, so the time of a step is the runtime's overhead for a kernel.
void BM_Steps(benchmark::State& state) {
  constexpr int kSteps = 1000;
  ProgramBuilder b({{"a", 1}});
  ValueId v = b.input("x", Dtype::kF32, {1}, Layout{});
  for (int i = 0; i < kSteps; ++i) v = b.compute("neg", {v}, row_major(Dtype::kF32, {1}));
  b.output("y", v, {1}, Layout{});
  Job job(b.finish());
  for (auto _ : state) job.run();
  state.counters["per_step"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kSteps,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_Steps)->MeasureProcessCPUTime()->UseRealTime();

// Consecutive steps are on different streams, so each needs an event and a wake-up.
void BM_StreamHandOffs(benchmark::State& state) {
  constexpr int kPairs = 100;
  ProgramBuilder b({{"a", 1}});
  ValueId v = b.input("x", Dtype::kF32, {1}, Layout{});
  for (int i = 0; i < kPairs; ++i) {
    v = b.compute("neg", {v}, row_major(Dtype::kF32, {1}));
    v = b.collective(CollectiveKind::kAllReduce, {0}, v, {1});
  }
  b.output("y", v, {1}, Layout{});
  Job job(b.finish());
  for (auto _ : state) job.run();
  state.counters["per_hand_off"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kPairs * 2,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_StreamHandOffs)->MeasureProcessCPUTime()->UseRealTime();

void BM_Collective(benchmark::State& state, CollectiveKind kind) {
  const int64_t ranks = state.range(0), bytes = state.range(1), count = bytes / 4;
  constexpr int kRepeat = 4;
  ProgramBuilder b({{"a", ranks}});
  const ValueId x = b.input("x", Dtype::kF32, {count}, Layout{});
  ValueId v = x;
  for (int i = 0; i < kRepeat; ++i)
    v = b.collective(kind, {0}, x,
                     kind == CollectiveKind::kAllGather       ? Dims{ranks * count}
                     : kind == CollectiveKind::kReduceScatter ? Dims{count / ranks}
                                                              : Dims{count});
  b.output("y", b.view(v, row_major(Dtype::kF32, {1})), {1}, Layout{});
  Job job(b.finish());
  for (auto _ : state) job.run();
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kRepeat,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  // The bus bandwidth as nccl-tests define it, which is independent of the number of ranks.
  const double n = static_cast<double>(ranks);
  const double wire = kind == CollectiveKind::kAllReduce   ? 2 * (n - 1) / n
                      : kind == CollectiveKind::kAllGather ? n - 1
                                                           : (n - 1) / n;
  state.counters["bus_bytes"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kRepeat * static_cast<double>(bytes) * wire,
      benchmark::Counter::kIsRate, benchmark::Counter::kIs1024);
}
BENCHMARK_CAPTURE(BM_Collective, all_reduce, CollectiveKind::kAllReduce)
    ->Args({4, 16 << 20})
    ->Args({4, 256 << 10})
    ->Args({4, 4 << 10})
    ->Args({8, 4 << 10})
    ->Args({64, 4 << 10})
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Collective, all_gather, CollectiveKind::kAllGather)
    ->Args({4, 4 << 20})
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Collective, reduce_scatter, CollectiveKind::kReduceScatter)
    ->Args({4, 16 << 20})
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Collective, all_to_all, CollectiveKind::kAllToAll)
    ->Args({4, 16 << 20})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// The reference for the collectives above: all cores copy as many bytes as an all-reduce of 4 × 16
// MiB reads and writes.
void BM_Copy(benchmark::State& state, void (*copy)(void*, const void*, size_t)) {
  constexpr size_t kBytes = size_t{64} << 20, kPiece = size_t{32} << 10;
  const size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::byte> from(kBytes, std::byte{1}), to(kBytes);
  for (auto _ : state) {
    std::vector<std::jthread> all;
    for (size_t t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        for (int repeat = 0; repeat < 4; ++repeat)  // the number of copies that a collective needs
          for (size_t at = t * kPiece; at < kBytes; at += threads * kPiece)
            copy(to.data() + at, from.data() + at, kPiece);
        fence_past_caches();
      });
  }
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 4,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(BM_Copy, memcpy_64_MiB, copy_through_caches)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Copy, past_caches_64_MiB, copy_past_caches)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void BM_Gemm(benchmark::State& state, bool plain) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  std::vector<float> a(static_cast<size_t>(m * k), 1), b(static_cast<size_t>(k * n), 1),
      c(static_cast<size_t>(m * n));
  cpu::use_one_gemm_thread();
  const cpu::Gemm<float> g{m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, {c.data(), n, 1}};
  for (auto _ : state) {
    if (plain)
      cpu::plain_gemm(g);
    else
      cpu::gemm<float>(g);
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
  state.counters["flop"] = benchmark::Counter(
      2.0 * static_cast<double>(m * n * k) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(BM_Gemm, onednn, false)
    ->Args({64, 64, 64})
    ->Args({512, 512, 512})
    ->Args({256, 1024, 512});
BENCHMARK_CAPTURE(BM_Gemm, plain, true)->Args({64, 64, 64})->Args({512, 512, 512});

void BM_Pointwise(benchmark::State& state, const char* kernel, Dtype dtype) {
  constexpr int64_t kRows = 1024, kColumns = 1024, kElements = kRows * kColumns;
  const Dims shape{kRows, kColumns};
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", dtype, shape, Layout{});
  std::vector<ValueId> operands{x};
  if (std::string_view(kernel) == "add" || std::string_view(kernel) == "mul") operands.push_back(x);
  const bool reduces = std::string_view(kernel) == "sum";
  const ValueId y =
      b.compute(kernel, operands, reduces ? row_major(dtype, {}) : row_major(dtype, shape));
  b.output("y", reduces ? y : b.view(y, row_major(dtype, {})), {}, Layout{});
  Job job(b.finish());
  for (auto _ : state) job.run();
  state.SetItemsProcessed(state.iterations() * kElements);
  state.SetBytesProcessed(state.iterations() * kElements * dtype_size(dtype) *
                          static_cast<int64_t>(operands.size() + (reduces ? 0 : 1)));
}
BENCHMARK_CAPTURE(BM_Pointwise, tanh_f32, "tanh", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, erf_f32, "erf", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, gelu_f32, "gelu", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, log_f32, "log", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, silu_f32, "silu", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, softmax_f32, "softmax", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, log_softmax_f32, "log_softmax", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, add_f32, "add", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, add_bf16, "add", Dtype::kBF16)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, exp_f32, "exp", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, sigmoid_bf16, "sigmoid", Dtype::kBF16)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, mul_c64, "mul", Dtype::kC64)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Pointwise, sum_f32, "sum", Dtype::kF32)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// Selects rows of a table. All indices are 0, so every row is read from the cache.
void BM_IndexSelect(benchmark::State& state) {
  constexpr int64_t kRows = 4096, kColumns = 256;
  ProgramBuilder b({{"a", 1}});
  const ValueId table = b.input("table", Dtype::kF32, {kRows, kColumns}, Layout{}),
                rows = b.input("rows", Dtype::kI64, {kRows}, Layout{});
  Attrs attrs;
  attrs.set(AttrKey::kDim, int64_t{0});
  const ValueId y =
      b.compute("index_select", {table, rows}, row_major(Dtype::kF32, {kRows, kColumns}), attrs);
  b.output("y", b.view(y, row_major(Dtype::kF32, {})), {}, Layout{});
  Job job(b.finish());
  for (auto _ : state) job.run();
  state.SetBytesProcessed(state.iterations() * kRows * kColumns * 4 * 2);
}
BENCHMARK(BM_IndexSelect)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace
}  // namespace shw::runtime

BENCHMARK_MAIN();
