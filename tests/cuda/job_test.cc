// Whole jobs on the fakes: LLaMA compared with the CPU, faults at every call, and ranks that do not
// join.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "cuda/fake_ranks.h"
#include "cuda/fakes.h"
#include "passes/pass.h"
#include "plan/plan.h"
#include "runtime/collective/local.h"
#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/cuda/plugin/stream.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime::cuda {
namespace {

using testing::fake_alive;
using testing::fake_calls;
using testing::fake_leaks;
using testing::Injected;
using testing::make_tensor;
using testing::open_fakes;
using testing::ProgramBuilder;
using testing::small_integer;
using testing::view_of;

// A planned training step of LLaMA on eight ranks. In the second plan some results of the forward
// pass are kept in host memory. In the third plan scratch may use the memory of outputs. Sums are
// added in another order than on the CPU, so the results agree within the rounding of f32, not to
// the bit.
class CudaTrainingStep : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Plans, CudaTrainingStep,
                         ::testing::Values("llama_tiny_2x4", "llama_tiny_host_2x4",
                                           "llama_tiny_2x4 lent"));

// Plans the memory again, with scratch in the memory of outputs.
Status lend_outputs(Plan& plan) {
  static constexpr const PassDef* kAgain[] = {&kPlanMemory};
  Monitor monitor;
  return run_passes(plan.program, kAgain, {.lends_outputs = true}, monitor).status();
}

TEST_P(CudaTrainingStep, OfLlamaAgreesWithVirtualRanks) {
  const std::string name = GetParam(), lent = " lent";
  const bool lends = name.ends_with(lent);
  const std::string stem = name.substr(0, name.size() - (lends ? lent.size() : 0));
  std::ifstream file(SHW_TEST_DATA "/plans/v1/" + stem + ".swplan", std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  auto read = read_plan(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const int64_t arena_bytes = read->program.arena_bytes;
  if (lends) {
    const Status again = lend_outputs(*read);
    ASSERT_TRUE(again.ok()) << again.message();
    ASSERT_LT(read->program.arena_bytes, arena_bytes);
  }
  const auto plan = std::make_shared<const Plan>(std::move(*read));
  const ProgramEntry& entry = plan->program.entries[0];
  std::vector<HostTensor> inputs;
  std::vector<HostTensorView> views;
  for (PortId id : entry.inputs) {
    const Port& port = plan->program.ports[id];
    const bool whole = port.global.dtype == Dtype::kI64;  // tokens are whole numbers
    inputs.push_back(make_tensor(port.global.dtype, port.global.shape, [&](int64_t i) {
      return whole ? static_cast<double>(i % 7) : small_integer(i) / 8;
    }));
  }
  for (const HostTensor& input : inputs) views.push_back(view_of(input));
  const auto want = (*VirtualRanks::create(plan))->run(entry.name, views);
  ASSERT_TRUE(want.ok()) << want.status().message();
  const auto fakes = open_fakes(8);
  ASSERT_TRUE(fakes.ok()) << fakes.status().message();
  auto job = VirtualRanks::create(plan, {}, *fakes);
  ASSERT_TRUE(job.ok()) << job.status().message();
  std::vector<HostTensor> first;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto got = (*job)->run(entry.name, views);
    ASSERT_TRUE(got.ok()) << got.status().message();
    for (size_t i = 0; i < got->size(); ++i) {
      const std::string& output = plan->program.output(entry, i).name;
      if (repeat == 1) {
        EXPECT_TRUE((*got)[i].data == first[i].data) << output << " differs between two runs";
        continue;
      }
      if ((*want)[i].data.empty()) continue;  // this port has no value
      const TensorType& type = (*want)[i].type;
      double most = 0, apart = 0;
      for (int64_t e = 0; e < type.numel(); ++e) {
        const double w = testing::get((*want)[i].data.data(), type.dtype, e);
        most = std::max(most, std::abs(w));
        apart = std::max(apart, std::abs(w - testing::get((*got)[i].data.data(), type.dtype, e)));
      }
      EXPECT_LE(apart, 1e-5 * most) << output;
    }
    first = *got;
  }
  // One graph for each rank, with all collectives, must give the same bits.
  auto graphs = VirtualRanks::create(plan, {.graphs = true}, *fakes);
  ASSERT_TRUE(graphs.ok()) << graphs.status().message();
  const int launched = fake_calls("cuGraphLaunch");
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto got = (*graphs)->run(entry.name, views);
    ASSERT_TRUE(got.ok()) << got.status().message();
    for (size_t i = 0; i < got->size(); ++i)
      EXPECT_TRUE((*got)[i].data == first[i].data) << plan->program.output(entry, i).name;
  }
  EXPECT_EQ(fake_calls("cuGraphLaunch") - launched, 2 * 8) << "one a run and rank";
}

// The sum over the ranks of relu(x) · w.
std::shared_ptr<const Plan> small_plan() {
  ProgramBuilder b({{"a", 2}});
  const Layout rows = *parse_layout("S(0)", 1), same = *parse_layout("R", 1);
  const ValueId x = b.input("x", Dtype::kF32, {4, 3}, rows);
  const ValueId w = b.input("w", Dtype::kF32, {3, 2}, same);
  const ValueId r = b.compute("relu", {x}, row_major(Dtype::kF32, {2, 3}));
  const ValueId y = b.compute("mm", {r, w}, row_major(Dtype::kF32, {2, 2}));
  const ValueId all = b.collective(CollectiveKind::kAllReduce, {0}, y, {2, 2});
  b.output("y", all, {2, 2}, same);
  return b.finish();
}

Status run_small_plan(Timeout timeout = std::chrono::minutes(1)) {
  SHW_ASSIGN_OR_RETURN(const RankBackend fakes, open_fakes(2, timeout));
  ExecutorOptions options;
  options.time_limit = std::chrono::seconds(20);  // so that a hang fails
  SHW_ASSIGN_OR_RETURN(const auto job, VirtualRanks::create(small_plan(), options, fakes));
  const HostTensor x = make_tensor(Dtype::kF32, {4, 3}, small_integer);
  const HostTensor w = make_tensor(Dtype::kF32, {3, 2}, small_integer);
  const HostTensorView views[] = {view_of(x), view_of(w)};
  return job->run("step", views).status();
}

// Whichever call fails, the whole job must end with an error, without a hang and without a leak.
TEST(CudaJobTest, AFailureOfAnyCallEndsTheJob) {
  ASSERT_TRUE(run_small_plan().ok());
  const int leaks = fake_leaks(), alive = fake_alive();
  for (const char* call : {"cuDevicePrimaryCtxRetain",
                           "cuModuleLoadData",
                           "cuModuleGetFunction",
                           "cuMemAlloc_v2",
                           "cuMemHostAlloc",
                           "cuStreamCreateWithPriority",
                           "cuEventCreate",
                           "cuEventRecord",
                           "cuStreamWaitEvent",
                           "cuStreamWriteValue32_v2",
                           "cuLaunchKernel",
                           "cuLaunchHostFunc",
                           "cuMemcpyHtoDAsync_v2",
                           "cuMemcpyDtoHAsync_v2",
                           "cuStreamSynchronize",
                           "a kernel",
                           "cublasLtCreate",
                           "cublasLtMatmulAlgoGetHeuristic",
                           "cublasLtMatmul",
                           "ncclGetUniqueId",
                           "ncclCommInitRankConfig",
                           "ncclCommSplit",
                           "ncclAllReduce",
                           "ncclCommGetAsyncError"})
    for (int after : {0, 1, 5}) {
      const Injected fault(call, 999, after);
      const Status status = run_small_plan();
      const bool is_called_so_often = after == 0;
      EXPECT_TRUE(!status.ok() || !is_called_so_often) << call << " after " << after;
      EXPECT_NE(status.code(), Code::kDeadlineExceeded) << call << ": " << status.message();
    }
  EXPECT_EQ(fake_leaks(), leaks);
  EXPECT_EQ(fake_alive(), alive) << "streams, events, modules, communicators, contexts";
  EXPECT_TRUE(run_small_plan().ok());
}

TEST(CudaJobTest, CommunicatorsThatDoNotComeAboutAreATimeOut) {
  const Injected never_ready("ncclCommGetAsyncError", 7);  // ncclInProgress
  const Status status = run_small_plan(std::chrono::milliseconds(300));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("NCCL has not connected rank"), std::string::npos)
      << status.message();
}

// NCCL does not accept the collective, because other ranks do not join its connection set-up.
TEST(CudaJobTest, ACollectiveThatIsNotTakenIsATimeOut) {
  const auto fakes = open_fakes(2, std::chrono::milliseconds(300));
  ASSERT_TRUE(fakes.ok()) << fakes.status().message();
  auto job = VirtualRanks::create(small_plan(), {}, *fakes);
  ASSERT_TRUE(job.ok()) << job.status().message();
  const HostTensor x = make_tensor(Dtype::kF32, {4, 3}, small_integer);
  const HostTensor w = make_tensor(Dtype::kF32, {3, 2}, small_integer);
  const HostTensorView views[] = {view_of(x), view_of(w)};
  ASSERT_TRUE((*job)->run("step", views).ok());
  {
    const Injected never("ncclCommGetAsyncError", 7);  // ncclInProgress
    const Status status = (*job)->run("step", views).status();
    EXPECT_NE(status.message().find("NCCL has not taken a collective after 0.3 s on rank"),
              std::string::npos)
        << status.message();
  }
  (*job)->reset();
  EXPECT_TRUE((*job)->run("step", views).ok());
}

TEST(CudaJobTest, ALostDeviceSaysWhatTheDriverSays) {
  const Injected fault("a kernel", 999);
  const Status status = run_small_plan();
  for (const char* word : {"CUDA_ERROR_LAUNCH_FAILED (719)", "as it was told to"})
    EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
}

TEST(CudaJobTest, ALaunchThatFailsNamesItsStep) {
  const Injected fault("cublasLtMatmul", 13);
  const Status status = run_small_plan();
  EXPECT_EQ(status.node_name(), "mm") << status.message();
  EXPECT_NE(status.message().find("cuBLAS status 13"), std::string::npos) << status.message();
}

// The watchdog: no wait is endless, and the message lists the dispatched collectives.
TEST(CudaJobTest, ACollectiveThatNobodyJoinsTimesOut) {
  const Mesh mesh = *Mesh::parse("x=2");
  const auto hub = LocalHub::create(mesh);
  const auto fakes = open_fakes(2, std::chrono::milliseconds(50));
  ASSERT_TRUE(fakes.ok()) << fakes.status().message();
  const uint8_t axes[] = {0};
  std::vector<std::unique_ptr<ChannelProvider>> providers;
  std::vector<std::unique_ptr<Channel>> channels;
  for (int64_t rank : {0, 1}) {
    providers.push_back(std::move(*fakes->channels(hub->provider(rank), *fakes->device(rank))));
    channels.push_back(std::move(*providers.back()->channel(axes)));
  }
  const std::shared_ptr<Device> device = fakes->device(0);
  Fault fault;
  auto stream = std::move(*device->create_stream({.fault = &fault}));
  const auto kernel = std::move(
      *channels[0]->prepare({CollectiveKind::kAllReduce, ReduceOp::kSum, Dtype::kF32, 1}));
  const MemorySpec spec{4};
  void* const buffers[] = {*device->allocate(spec), *device->allocate(spec), nullptr};
  kernel->launch(*stream, buffers);
  EXPECT_TRUE(stream->synchronize().ok()) << "the stream drains";
  const Status status = providers[0]->async_status();
  EXPECT_FALSE(status.ok());
  for (const char* word : {"has not ended after", "on rank 0", "all_reduce(sum)[x] #1 of f32[1]"})
    EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
  for (int b : {0, 1}) device->free(buffers[b], spec);
}

}  // namespace
}  // namespace shw::runtime::cuda
