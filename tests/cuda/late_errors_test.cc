// Kernels that fail on the device. The driver reports only that the device is lost, and only at
// some later call. The error must still name the step, or the steps of the graph.
#include <gtest/gtest.h>

#include <thread>

#include "cuda/fake_ranks.h"
#include "cuda/fakes.h"
#include "runtime/virtual_ranks.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime::cuda {
namespace {

using testing::fake_calls;
using testing::Injected;
using testing::make_tensor;
using testing::open_fakes;
using testing::ProgramBuilder;
using testing::small_integer;
using testing::view_of;

const TensorType kType = row_major(Dtype::kF32, {4, 4});
// steps of a chain; long enough that the error comes while the chain is being enqueued
constexpr int kLength = 40;

// A chain with one kernel for each step (neg, exp, neg, exp, …), and a copy into the result.
std::shared_ptr<const Plan> chain() {
  ProgramBuilder b({{"a", 1}});
  ValueId v = b.input("x", Dtype::kF32, {4, 4}, Layout{});
  for (int i = 0; i < kLength; ++i) v = b.compute(i % 2 == 0 ? "neg" : "exp", {v}, kType);
  b.output("y", v, {4, 4}, Layout{});
  return b.finish();
}

// Steps 1 and 2 are on the two streams of host copies and wait for step 0. Steps 3 and 4 are on the
// compute stream and wait for steps 1 and 2.
std::shared_ptr<const Plan> branches() {
  ProgramBuilder b({{"a", 1}});
  const ValueId x = b.input("x", Dtype::kF32, {4, 4}, Layout{});
  const ValueId r = b.compute("relu", {x}, kType);
  const ValueId left = b.compute("neg", {r}, kType), right = b.compute("exp", {r}, kType);
  const ValueId after = b.compute("abs", {left}, kType);
  const ValueId sum = b.compute("add", {after, right}, kType);
  b.output("y", sum, {4, 4}, Layout{});
  Program& p = b.program();
  p.num_events = 3;
  const auto place = [&](uint32_t step, StreamNumber stream, uint32_t records,
                         std::vector<uint32_t> waits) {
    p.steps[step].stream = stream;
    p.steps[step].records = records;
    p.steps[step].waits = std::move(waits);
  };
  const StreamNumber one = host_stream(p, HostCopy::kToHost),
                     two = host_stream(p, HostCopy::kFromHost);
  place(0, 0, 0, {});
  place(1, one, 1, {0});
  place(2, two, 2, {0});
  place(3, 0, kNoEvent, {1});
  place(4, 0, kNoEvent, {2});
  return b.finish();
}

// A plan of two launches, a region and two launches. The region's work is in no graph, so the
// launches are two graphs.
class Outside final : public PreparedKernel {
 public:
  bool can_be_captured() const override { return false; }
  void launch(Stream& stream, void* const* buffers) override {
    stream.copy(buffers[1], buffers[0], kType.bytes(), CopyKind::kDeviceToDevice);
  }
};
std::shared_ptr<const Plan> two_graphs() {
  ProgramBuilder b({{"a", 1}});
  Attrs region;
  region.set(AttrKey::kRegion, std::string("outside"));
  ValueId v = b.input("x", Dtype::kF32, {4, 4}, Layout{});
  v = b.compute("exp", {b.compute("neg", {v}, kType)}, kType);
  v = b.compute("local_map", {v}, kType, region);
  v = b.compute("abs", {b.compute("neg", {v}, kType)}, kType);
  b.output("y", v, {4, 4}, Layout{});
  return b.finish();
}

struct Job {
  explicit Job(const std::shared_ptr<const Plan>& plan, bool graphs = false) {
    ExecutorOptions options;
    options.graphs = graphs;
    options.time_limit = std::chrono::seconds(20);  // so that a hang fails
    options.regions.push_back({"outside", [](Device&, const RegionArgs&) {
                                 return Result<std::unique_ptr<PreparedKernel>>(
                                     std::make_unique<Outside>());
                               }});
    auto made = VirtualRanks::create(plan, options, *open_fakes(1));
    EXPECT_TRUE(made.ok()) << made.status().message();
    ranks = std::move(*made);
  }
  Status run() const {
    const HostTensor x = make_tensor(Dtype::kF32, {4, 4}, small_integer);
    const HostTensorView views[] = {view_of(x)};
    return ranks->run("step", views).status();
  }
  std::unique_ptr<VirtualRanks> ranks;
};

void expect_text(const Status& status, const std::string& text) {
  EXPECT_NE(status.message().find("CUDA_ERROR_LAUNCH_FAILED (719)"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

TEST(CudaLateErrors, NameTheStepWhoseKernelFailed) {
  const auto plan = chain();
  // the last step is not a kernel but the driver's copy
  for (const int step : {0, 1, 7, kLength - 1}) {
    const Job job(plan);
    const Injected fault("a kernel", 999, step);
    const Status status = job.run();
    const std::string kernel = step % 2 == 0 ? "neg" : "exp";
    expect_text(status, "; it was in step " + std::to_string(step) + " of entry 'step': " + kernel +
                            " of node " + std::to_string(step));
    EXPECT_EQ(status.node_index(), step);
    EXPECT_EQ(status.node_name(), kernel);
  }
}

TEST(CudaLateErrors, NameTheStepInALaterRun) {
  const Job job(chain());
  for (int run = 0; run < 6; ++run) ASSERT_TRUE(job.run().ok());  // more runs than can be in flight
  const Injected fault("a kernel", 999, 12);
  expect_text(job.run(), "; it was in step 12 of entry 'step'");
}

TEST(CudaLateErrors, StayOfTheirStep) {
  const Job job(chain());
  Status first;
  {
    const Injected fault("a kernel", 999, 5);
    first = job.run();
  }
  EXPECT_EQ(job.ranks->executor(0).fault().message(), first.message()) << "sticky";
  EXPECT_FALSE(job.run().ok());
  job.ranks->reset();
  const Status after = job.ranks->executor(0).fault();
  for (const char* words : {"the CUDA device is lost", "until the process is started anew"})
    EXPECT_NE(after.message().find(words), std::string::npos) << after.message();
}

// A launch that the driver refuses is an error of that step, whatever else is running.
TEST(CudaLateErrors, AreNotThoseOfCalls) {
  const Job job(chain());
  const Injected fault("cuLaunchKernel", 999, 9);
  const Status status = job.run();
  EXPECT_EQ(status.node_index(), 9) << status.message();
  EXPECT_EQ(status.message().find("it was in"), std::string::npos) << status.message();
}

// With several streams, the error names the steps of the streams that may have begun their next
// step.
TEST(CudaLateErrors, LeaveOutStreamsThatWait) {
  const auto plan = branches();
  {
    const Job job(plan);
    const Injected fault("a kernel", 999, 0);
    const Status status = job.run();
    expect_text(status, "; it was in step 0 of entry 'step': relu of node 0");
    EXPECT_EQ(status.node_index(), 0) << status.message();
  }
  const Job job(plan);
  const Injected fault("a kernel", 999, 3);  // after relu, neg and exp in any order, and abs or add
  const Status status = job.run();
  EXPECT_EQ(status.message().find("step 0"), std::string::npos) << status.message();
  EXPECT_EQ(status.message().find("step 5"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("it was in step"), std::string::npos) << status.message();
}

TEST(CudaLateErrors, NameTheStepsOfAGraph) {
  const Job job(chain(), true);
  ASSERT_TRUE(job.run().ok());
  const Injected fault("a kernel", 999, 7);
  const Status status = job.run();
  expect_text(status,
              "; it was in one of 41 steps, 0 to 40 of entry 'step': neg of node 0 to clone "
              "of node 40");
  EXPECT_EQ(status.node_index(), -1) << "nobody knows which";
}

TEST(CudaLateErrors, NameTheGraphOfSeveral) {
  const auto plan = two_graphs();
  for (const int kernel : {1, 3}) {
    const Job job(plan, true);
    ASSERT_TRUE(job.run().ok());
    const Injected fault("a kernel", 999, kernel);
    expect_text(job.run(), kernel == 1 ? "; it was in one of 2 steps, 0 to 1 of entry 'step'"
                                       : "; it was in one of 3 steps, 3 to 5 of entry 'step'");
  }
}

// During a capture the driver must not be asked whether the device is lost. So the error of a
// captured call does not name that call's step.
TEST(CudaLateErrors, AreNotThoseOfACapture) {
  const auto device = open_fakes(1)->device(0);
  Fault fault, other;
  auto captured = std::move(*device->create_stream({.fault = &fault}));
  auto failing = std::move(*device->create_stream({.fault = &other}));
  const TensorType* const types[] = {&kType};
  const Mesh mesh = *Mesh::parse("a=1");
  const Attrs none;
  const auto kernel = std::move(*device->prepare("neg", {types, types, none, mesh, 0}));
  kernel->origin = {5, "neg"};
  const MemorySpec spec{kType.bytes()};
  void* const buffers[] = {*device->allocate(spec), *device->allocate(spec), nullptr};
  ASSERT_TRUE(captured->begin_capture().ok());
  const Injected broken("a kernel", 999);
  kernel->launch(*failing, buffers);
  while (failing->status().ok()) std::this_thread::yield();
  kernel->launch(*captured, buffers);
  EXPECT_FALSE(fault.raised()) << fault.status().message();
  EXPECT_FALSE(captured->end_capture().ok());
  EXPECT_NE(captured->status().message().find("the CUDA device is lost"), std::string::npos);
  EXPECT_EQ(captured->status().node_index(), -1);
}

// If a device has no stream-ordered memory writes, the step is unknown and the error names none.
TEST(CudaLateErrors, DoNotGuess) {
  const Injected unable("cuStreamWriteValue32_v2", 801);
  const Job job(chain());
  ASSERT_TRUE(job.run().ok());
  const Injected fault("a kernel", 999, 5);
  const Status status = job.run();
  expect_text(status, "the CUDA device is lost");
  EXPECT_EQ(status.message().find("it was in"), std::string::npos) << status.message();
  EXPECT_EQ(status.node_index(), -1);
}

}  // namespace
}  // namespace shw::runtime::cuda
