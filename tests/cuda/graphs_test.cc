// Executors that launch CUDA graphs. They give the same bits as eager runs in fewer launches,
// whatever changes between runs and whichever call fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

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
using testing::Injected;
using testing::make_tensor;
using testing::open_fakes;
using testing::ProgramBuilder;
using testing::small_integer;
using testing::view_of;

// A plan of four launches on one rank.
std::shared_ptr<const Plan> plan_of_one() {
  ProgramBuilder b({{"a", 1}});
  const TensorType f32 = row_major(Dtype::kF32, {4, 4});
  const ValueId x = b.input("x", Dtype::kF32, {4, 4}, Layout{}),
                w = b.input("w", Dtype::kF32, {4, 4}, Layout{});
  const ValueId r = b.compute("relu", {x}, f32);
  const ValueId y = b.compute("mm", {r, w}, f32);
  const ValueId z = b.compute("neg", {y}, f32);
  b.output("z", z, {4, 4}, Layout{});
  return b.finish();
}

// A plan for two ranks: two launches, a collective, and two launches.
std::shared_ptr<const Plan> plan_of_two() {
  ProgramBuilder b({{"a", 2}});
  const Layout rows = *parse_layout("S(0)", 1), same = *parse_layout("R", 1);
  const TensorType f32 = row_major(Dtype::kF32, {2, 4});
  const ValueId x = b.input("x", Dtype::kF32, {4, 4}, rows);
  const ValueId w = b.input("w", Dtype::kF32, {4, 4}, same);
  const ValueId r = b.compute("relu", {x}, f32);
  const ValueId y = b.compute("mm", {r, w}, f32);
  const ValueId all = b.collective(CollectiveKind::kAllReduce, {0}, y, {2, 4});
  const ValueId n = b.compute("neg", {all}, f32);
  const ValueId s = b.compute("mul", {n, n}, f32);
  b.output("s", s, {2, 4}, same);
  return b.finish();
}

// A plan that keeps a result in host memory. It has two more streams, ordered by events, and no
// collective.
std::shared_ptr<const Plan> plan_with_host_memory() {
  ProgramBuilder b({{"a", 1}});
  const TensorType f32 = row_major(Dtype::kF32, {4, 4});
  const ValueId x = b.input("x", Dtype::kF32, {4, 4}, Layout{}),
                w = b.input("w", Dtype::kF32, {4, 4}, Layout{});
  const ValueId r = b.compute("relu", {x}, f32);
  const ValueId away = b.compute("clone", {r}, f32);
  const ValueId y = b.compute("mm", {x, w}, f32);
  const ValueId back = b.compute("clone", {away}, f32);
  const ValueId z = b.compute("mul", {y, back}, f32);
  b.output("z", z, {4, 4}, Layout{});
  Program& p = b.program();
  ProgramStorage& host = p.storages[p.values[away].storage];
  host.kind = StorageKind::kHost;
  host.offset_bytes = 0;
  p.host_bytes = kArenaAlignment;
  p.steps[1].stream = host_stream(p, HostCopy::kToHost);
  p.steps[3].stream = host_stream(p, HostCopy::kFromHost);
  p.num_events = 3;
  for (const auto& [from, to, event] : {std::array{0u, 1u, 0u}, {1u, 3u, 1u}, {3u, 4u, 2u}}) {
    p.steps[from].records = event;
    p.steps[to].waits = {event};
  }
  return b.finish();
}

struct Job {
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<VirtualRanks> ranks;
  Status status;
};
Job make_job(const std::shared_ptr<const Plan>& plan, int ranks, bool graphs,
             int max_in_flight = 2) {
  const auto fakes = open_fakes(ranks);
  if (!fakes.ok()) return {plan, nullptr, fakes.status()};
  ExecutorOptions options;
  options.graphs = graphs;
  options.max_in_flight = max_in_flight;
  options.time_limit = std::chrono::seconds(20);  // so that a hang fails
  auto made = VirtualRanks::create(plan, options, *fakes);
  if (!made.ok()) return {plan, nullptr, made.status()};
  return {plan, std::move(*made), {}};
}

HostTensor input(int64_t seed) {
  return make_tensor(Dtype::kF32, {4, 4}, [seed](int64_t i) { return small_integer(i + seed); });
}
Result<std::vector<HostTensor>> run(const Job& job, int64_t seed) {
  SHW_RETURN_IF_ERROR(job.status);
  const HostTensor x = input(seed), w = input(2 * seed + 1);
  const HostTensorView views[] = {view_of(x), view_of(w)};
  return job.ranks->run("step", views);
}
void expect_same_bits(const Job& graphs, const Job& eager, int runs) {
  for (int64_t seed = 0; seed < runs; ++seed) {
    const auto got = run(graphs, seed), want = run(eager, seed);
    ASSERT_TRUE(got.ok()) << got.status().message();
    ASSERT_TRUE(want.ok()) << want.status().message();
    for (size_t i = 0; i < got->size(); ++i) EXPECT_EQ((*got)[i].data, (*want)[i].data) << seed;
  }
}

TEST(CudaGraphs, AnEntryWithoutCollectivesIsOneGraph) {
  const Job graphs = make_job(plan_of_one(), 1, true), eager = make_job(plan_of_one(), 1, false);
  const int launched = fake_calls("cuGraphLaunch"),
            made = fake_calls("cuGraphInstantiateWithFlags");
  expect_same_bits(graphs, eager, 7);
  EXPECT_EQ(fake_calls("cuGraphLaunch") - launched, 7) << "one a run";
  EXPECT_EQ(fake_calls("cuGraphInstantiateWithFlags") - made, 2) << "one for each run in flight";
}

TEST(CudaGraphs, StreamsThatEventsJoinAreOneGraph) {
  const auto plan = plan_with_host_memory();
  const Job graphs = make_job(plan, 1, true), eager = make_job(plan, 1, false);
  ASSERT_TRUE(graphs.status.ok()) << graphs.status.message();
  const int launched = fake_calls("cuGraphLaunch");
  expect_same_bits(graphs, eager, 5);
  EXPECT_EQ(fake_calls("cuGraphLaunch") - launched, 5);
}

// One rank, run with buffers of the caller.
class OneRank {
 public:
  OneRank() : job_(make_job(plan_of_one(), 1, true, 1)), device_(open_fakes(1)->device(0)) {
    EXPECT_TRUE(job_.status.ok()) << job_.status.message();
  }
  BufferRef buffer(int64_t seed) {
    auto made = std::move(*Buffer::allocate(device_, {64}));
    const HostTensor values = input(seed);
    EXPECT_TRUE(device_->copy(made->data(), values.data.data(), 64, CopyKind::kHostToDevice).ok());
    return made;
  }
  Status run(const BufferRef& x, const BufferRef& z) {
    const BufferRef inputs[] = {x, w_};
    BufferRef outputs[] = {z};
    SHW_ASSIGN_OR_RETURN(
        const Completion done,
        job_.ranks->executor(0).enqueue(job_.plan->program.entries[0], inputs, outputs));
    return done.wait();
  }
  std::vector<std::byte> result(const BufferRef& x, const BufferRef& z) {
    const Status status = run(x, z);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<std::byte> bytes(64);
    EXPECT_TRUE(device_->copy(bytes.data(), z->data(), 64, CopyKind::kDeviceToHost).ok());
    return bytes;
  }
  void reset() { job_.ranks->reset(); }

 private:
  const Job job_;
  const std::shared_ptr<Device> device_;
  const BufferRef w_ = buffer(1);
};

// If the pointers of inputs and outputs stay the same, the executor does not capture again. If they
// change, it captures again and updates the same graph.
TEST(CudaGraphs, WhatChangesIsCapturedAgain) {
  OneRank rank;
  const BufferRef first = rank.buffer(2), second = rank.buffer(3), z = rank.buffer(0),
                  other = rank.buffer(0);
  const int captured = fake_calls("cuStreamBeginCapture_v2"),
            made = fake_calls("cuGraphInstantiateWithFlags");
  const auto captures = [&] { return fake_calls("cuStreamBeginCapture_v2") - captured; };
  const auto want = rank.result(first, z);
  EXPECT_EQ(captures(), 1);
  EXPECT_EQ(rank.result(first, z), want);
  EXPECT_EQ(captures(), 1) << "nothing has changed";
  EXPECT_EQ(rank.result(first, other), want);
  EXPECT_EQ(captures(), 2) << "another output";
  EXPECT_NE(rank.result(second, other), want);
  EXPECT_EQ(captures(), 3) << "another input";
  EXPECT_EQ(rank.result(first, z), want);
  EXPECT_EQ(fake_calls("cuGraphInstantiateWithFlags") - made, 1) << "the graph is changed";
}

TEST(CudaGraphs, AChangeThatFailsIsAnErrorOfTheRun) {
  OneRank rank;
  const BufferRef x = rank.buffer(2), z = rank.buffer(0), other = rank.buffer(0);
  const auto want = rank.result(x, z);
  {
    const Injected fault("cuGraphExecUpdate_v2", 999);
    const Status status = rank.run(x, other);
    EXPECT_NE(status.message().find("changing a CUDA graph"), std::string::npos)
        << status.message();
  }
  rank.reset();
  EXPECT_EQ(rank.result(x, other), want);
}

// A launch that fails during the capture must not leave a graph that lacks this launch.
TEST(CudaGraphs, ALaunchThatFailsInACaptureNamesItsStep) {
  OneRank rank;
  const BufferRef x = rank.buffer(2), z = rank.buffer(0), other = rank.buffer(0);
  {
    const Injected fault("cublasLtMatmul", 13);
    EXPECT_EQ(rank.run(x, z).node_name(), "mm");
  }
  rank.reset();
  EXPECT_EQ(rank.result(x, z), rank.result(x, other));
}

TEST(CudaGraphs, AGraphThatCannotBeChangedIsMadeAnew) {
  OneRank rank;
  const BufferRef x = rank.buffer(2), z = rank.buffer(0), other = rank.buffer(0);
  const auto want = rank.result(x, z);
  const Injected refuses("cuGraphExecUpdate_v2", 910);
  const int made = fake_calls("cuGraphInstantiateWithFlags");
  EXPECT_EQ(rank.result(x, other), want);
  EXPECT_EQ(fake_calls("cuGraphInstantiateWithFlags") - made, 1);
}

TEST(CudaGraphs, ADeviceWithoutGraphsRefusesThem) {
  ExecutorOptions options;
  options.graphs = true;
  const Status status = VirtualRanks::create(plan_of_one(), options).status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("a cpu device captures no graphs"), std::string::npos)
      << status.message();
}

// Each call fails in turn, at different times. The job must end with an error and leak nothing.
// After a reset it must work again with the right bits.
TEST(CudaGraphs, AFailureOfAnyCallEndsTheJobAndIsForgotten) {
  const int leaks = fake_leaks();
  for (const int ranks : {1, 2}) {
    const auto plan = ranks == 1 ? plan_of_one() : plan_of_two();
    const Job eager = make_job(plan, ranks, false);
    for (const char* call :
         {"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
          "cuGraphLaunch", "cuLaunchKernel", "cublasLtMatmul"})
      for (const int after : {0, 1, 3}) {
        SCOPED_TRACE(std::string(call) + " after " + std::to_string(after));
        const Job job = make_job(plan, ranks, true, 1);
        ASSERT_TRUE(job.status.ok()) << job.status.message();
        bool failed = false;
        {
          const Injected fault(call, 999, after);
          for (int64_t seed = 0; seed < 4 && !failed; ++seed) failed = !run(job, seed).ok();
        }
        EXPECT_TRUE(failed || after > 0);
        job.ranks->reset();
        expect_same_bits(job, eager, 2);
      }
  }
  EXPECT_EQ(fake_leaks(), leaks);
}

}  // namespace
}  // namespace shw::runtime::cuda
