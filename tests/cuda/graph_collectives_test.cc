// Collectives in CUDA graphs. They give the same bits as eager runs and are watched at every
// launch. Time-outs and aborts end them, and afterwards the graph is captured anew.
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/fake_ranks.h"
#include "cuda/fakes.h"
#include "runtime/collective/local.h"
#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime::cuda {
namespace {

using testing::fake_calls;
using testing::fake_leaks;
using testing::fake_ranks;
using testing::Injected;
using testing::make_tensor;
using testing::ProgramBuilder;
using testing::small_integer;
using testing::view_of;

// A plan for four ranks (2 x 2). It has compute steps and collectives of every kind, in groups of
// one mesh dim and of both, on several streams that events join.
std::shared_ptr<const Plan> plan_of_all_kinds() {
  ProgramBuilder b({{"a", 2}, {"b", 2}});
  const Layout rows = *parse_layout("S(0)S(0)", 2);
  const TensorType f32 = row_major(Dtype::kF32, {2, 4});
  const ValueId x = b.input("x", Dtype::kF32, {8, 4}, rows);
  ValueId y = b.compute("relu", {x}, f32);
  y = b.collective(CollectiveKind::kAllReduce, {0}, y, {2, 4});
  y = b.collective(CollectiveKind::kAllToAll, {1}, y, {2, 4});
  y = b.compute("neg", {y}, f32);
  y = b.collective(CollectiveKind::kAllGather, {0, 1}, y, {8, 4});
  y = b.collective(CollectiveKind::kReduceScatter, {0, 1}, y, {2, 4}, ReduceOp::kAvg);
  y = b.collective(CollectiveKind::kPermute, {0, 1}, y, {2, 4});
  b.output("y", b.compute("mul", {y, x}, f32), {8, 4}, rows);
  return b.finish();
}

std::unique_ptr<VirtualRanks> make_ranks(const std::shared_ptr<const Plan>& plan, bool graphs,
                                         Timeout timeout = std::chrono::minutes(1)) {
  ExecutorOptions options;
  options.graphs = graphs;
  options.time_limit = std::chrono::seconds(20);  // so that a hang fails
  auto made = VirtualRanks::create(plan, options, fake_ranks(timeout));
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? std::move(*made) : nullptr;
}

HostTensor rows_of(int64_t seed) {
  return make_tensor(Dtype::kF32, {8, 4}, [seed](int64_t i) { return small_integer(i + seed); });
}
Result<std::vector<HostTensor>> run(VirtualRanks& ranks, int64_t seed) {
  const HostTensor x = rows_of(seed);
  const HostTensorView views[] = {view_of(x)};
  return ranks.run("step", views);
}
void expect_same_bits(VirtualRanks& graphs, VirtualRanks& eager, int runs) {
  for (int64_t seed = 0; seed < runs; ++seed) {
    const auto got = run(graphs, seed), want = run(eager, seed);
    ASSERT_TRUE(got.ok()) << got.status().message();
    ASSERT_TRUE(want.ok()) << want.status().message();
    EXPECT_EQ((*got)[0].data, (*want)[0].data) << seed;
  }
}

TEST(CudaGraphCollectives, OfEveryKindArePartOfTheGraph) {
  const int leaks = fake_leaks();
  {
    const auto plan = plan_of_all_kinds();
    const auto graphs = make_ranks(plan, true), eager = make_ranks(plan, false);
    const int launched = fake_calls("cuGraphLaunch");
    expect_same_bits(*graphs, *eager, 5);
    EXPECT_EQ(fake_calls("cuGraphLaunch") - launched, 5 * 4) << "one a run and rank";
  }
  EXPECT_EQ(fake_leaks(), leaks);
}

// One rank does not start its run. The others must report a time-out that names the collective.
TEST(CudaGraphCollectives, ThatNobodyJoinsTimeOut) {
  const auto plan = plan_of_all_kinds();
  const auto eager = make_ranks(plan, false);
  const auto ranks = make_ranks(plan, true, std::chrono::milliseconds(100));
  expect_same_bits(*ranks, *eager, 1);
  const auto device = fake_ranks({}).or_cpu().device(0);
  std::vector<std::byte> zeros(32);
  const BufferRef x = std::move(*Buffer::allocate(device, {32}));
  ASSERT_TRUE(device->copy(x->data(), zeros.data(), 32, CopyKind::kHostToDevice).ok());
  const BufferRef inputs[] = {x};
  BufferRef outputs[] = {nullptr};
  const auto done = ranks->executor(0).enqueue(plan->program.entries[0], inputs, outputs);
  ASSERT_TRUE(done.ok()) << done.status().message();
  const Status status = done->wait();
  for (const char* word :
       {"has not ended after 0.1 s on rank 0", "all_reduce(sum)[a] #2 of f32[8]", "(not finished)"})
    EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
  ranks->reset();
  expect_same_bits(*ranks, *eager, 3);
}

TEST(CudaGraphCollectives, AnAbortEndsTheGraphAndAResetCapturesItAgain) {
  const auto plan = plan_of_all_kinds();
  const auto eager = make_ranks(plan, false), ranks = make_ranks(plan, true);
  expect_same_bits(*ranks, *eager, 2);
  ranks->executor(1).abort();
  EXPECT_FALSE(run(*ranks, 0).ok());
  const int captured = fake_calls("cuStreamBeginCapture_v2");
  ranks->reset();
  expect_same_bits(*ranks, *eager, 2);
  EXPECT_EQ(fake_calls("cuStreamBeginCapture_v2") - captured, 2 * 4)
      << "graphs of communicators that are gone";
  for (const char* call : {"cuGraphLaunch", "ncclReduceScatter"}) {
    SCOPED_TRACE(call);
    {
      const Injected fault(call, 999, 2);  // not in the first rank's call
      Status status;
      for (int64_t seed = 0; seed < 3 && status.ok(); ++seed) status = run(*ranks, seed).status();
      EXPECT_FALSE(status.ok());
    }
    ranks->reset();
    expect_same_bits(*ranks, *eager, 2);
  }
}

// The device is lost in the middle of a graph launch.
TEST(CudaGraphCollectives, ADeviceLostInAGraphEndsTheJob) {
  const auto ranks = make_ranks(plan_of_all_kinds(), true);
  ASSERT_TRUE(run(*ranks, 0).ok());
  const Injected fault("a kernel", 999, 9);
  EXPECT_FALSE(run(*ranks, 0).ok());
}

// The channels and streams of two ranks of a job, without an executor.
class TwoRanks {
 public:
  explicit TwoRanks(Timeout timeout) {
    const auto backend = fake_ranks(timeout);
    const uint8_t axes[] = {0};
    for (int64_t r : {0, 1}) {
      devices_.push_back(backend.device(r));
      providers_.push_back(std::move(*backend.channels(hub_->provider(r), *devices_.back())));
      channels_.push_back(std::move(*providers_.back()->channel(axes)));
      kernels_.push_back(std::move(*channels_.back()->prepare(
          {CollectiveKind::kAllReduce, ReduceOp::kSum, Dtype::kF32, 1})));
      streams_.push_back(std::move(*devices_.back()->create_stream({.fault = &faults_[r]})));
      for (int b = 0; b < 2; ++b) buffers_[r][b] = *devices_.back()->allocate(MemorySpec{4});
    }
  }
  ~TwoRanks() {
    streams_.clear();
    for (size_t r : {0u, 1u})
      for (int b = 0; b < 2; ++b) devices_[r]->free(buffers_[r][b], MemorySpec{4});
  }
  Stream& stream(size_t rank) { return *streams_[rank]; }
  ChannelProvider& provider(size_t rank) { return *providers_[rank]; }
  void launch(size_t rank, int times) {
    for (int i = 0; i < times; ++i) kernels_[rank]->launch(*streams_[rank], buffers_[rank]);
  }

 private:
  const std::shared_ptr<LocalHub> hub_ = LocalHub::create(*Mesh::parse("x=2"));
  std::vector<std::shared_ptr<Device>> devices_;
  std::vector<std::unique_ptr<ChannelProvider>> providers_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<PreparedKernel>> kernels_;
  Fault faults_[2];
  std::vector<std::unique_ptr<Stream>> streams_;
  void* buffers_[2][3] = {};
};

// A graph may have more collectives than an error message can list. The message lists those around
// the collective that does not complete.
TEST(CudaGraphCollectives, ATimeOutNamesTheCollectiveThatStands) {
  TwoRanks ranks(std::chrono::milliseconds(200));
  ASSERT_TRUE(ranks.stream(0).begin_capture().ok());
  ranks.launch(0, 40);
  const auto graph = ranks.stream(0).end_capture();
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  (*graph)->launch(ranks.stream(0));
  ranks.launch(1, 23);
  EXPECT_TRUE(ranks.stream(0).synchronize().ok()) << "the stream drains";
  const Status status = ranks.provider(0).async_status();
  EXPECT_NE(status.message().find("dispatched: all_reduce(sum)[x] #24 of f32[1] (not finished), "
                                  "all_reduce(sum)[x] #23 of f32[1], "),
            std::string::npos)
      << status.message();
  EXPECT_FALSE((*graph)->is_usable());
}

// An abort during a capture with collectives waits until the capture ends. The capture does not
// wait for anything.
TEST(CudaGraphCollectives, AnAbortDuringACaptureRefusesTheGraph) {
  TwoRanks ranks(std::chrono::minutes(1));
  ASSERT_TRUE(ranks.stream(0).begin_capture().ok());
  ranks.launch(0, 2);
  ranks.provider(0).abort(Status(Code::kInternal, "broke"));
  while (ranks.provider(0).async_status().ok()) std::this_thread::yield();
  // gives the abort time to begin its wait
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto graph = ranks.stream(0).end_capture();
  EXPECT_EQ(graph.status().code(), Code::kAborted) << graph.status().message();
  EXPECT_NE(graph.status().message().find("broke"), std::string::npos) << graph.status().message();
}

}  // namespace
}  // namespace shw::runtime::cuda
