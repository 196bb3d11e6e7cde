// Tests the fake accelerator itself: it must report the errors that CUDA would punish.
#include "strict/device.h"

#include <unistd.h>

#include <cerrno>

#include "cts/hal_test.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::cts {
namespace {

using runtime::HostTensor;
using runtime::HostTensorView;
using runtime::VirtualRanks;
using strict::Options;
using strict::StrictDevice;

struct Strict {
  explicit Strict(const Options& options = {}) : device(options) {}
  std::unique_ptr<Stream> stream() { return std::move(*device.create_stream({.fault = &fault})); }
  StrictDevice device;
  Fault fault;
};

bool host_can_read(const void* address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool read = write(ends[1], address, 1) == 1 || errno != EFAULT;
  close(ends[0]);
  close(ends[1]);
  return read;
}

TEST(Strict, DeviceMemoryCannotBeTouchedByTheHost) {
  Strict s;
  const MemorySpec device{64}, pinned{64, 64, MemoryKind::kHost};
  void *a = *s.device.allocate(device), *b = *s.device.allocate(pinned);
  EXPECT_FALSE(host_can_read(a));
  EXPECT_TRUE(host_can_read(b));
  s.device.free(a, device);
  s.device.free(b, pinned);
  EXPECT_EQ(s.device.bytes_in_use(), 0);
  EXPECT_TRUE(s.device.status().ok());
}

TEST(Strict, ACallToTheDeviceFromACallbackLosesIt) {
  Strict s;
  Work bad([&] { (void)s.device.create_event({}); });
  auto stream = s.stream();
  stream->host(bad, nullptr);
  EXPECT_EQ(stream->synchronize().code(), Code::kFailedPrecondition);
  EXPECT_NE(s.device.status().message().find("callback"), std::string::npos);
}

class NegTest : public ::testing::Test {
 protected:
  std::unique_ptr<runtime::PreparedKernel> neg(StrictDevice& device) {
    const TensorType pair = row_major(Dtype::kF32, {2});
    const TensorType* types[] = {&pair};
    return std::move(*device.prepare("neg", {types, types, attrs_, mesh_, 0}));
  }
  Attrs attrs_;
  Mesh mesh_ = *Mesh::parse("x=1");
};
using StrictKernels = NegTest;

TEST_F(StrictKernels, UseOfMemoryThatWasGivenBackLosesTheDevice) {
  Strict s;
  const auto kernel = neg(s.device);
  const MemorySpec spec{8};
  void *x = *s.device.allocate(spec), *y = *s.device.allocate(spec);
  void* const buffers[] = {x, y, nullptr};
  auto stream = s.stream();
  kernel->launch(*stream, buffers);
  stream->free(y, spec);
  EXPECT_TRUE(stream->synchronize().ok()) << "in the stream's order this is right";
  kernel->launch(*stream, buffers);
  EXPECT_EQ(stream->synchronize().code(), Code::kOutOfRange);
}

TEST_F(StrictKernels, UseOfAStreamsMemoryBeforeItsTurnLosesTheDevice) {
  Strict s;
  const auto kernel = neg(s.device);
  const MemorySpec spec{8};
  void* x = *s.device.allocate(spec);
  Gate gate;
  Work blocked([&] { gate.wait(); });
  auto late = s.stream(), early = s.stream();
  late->host(blocked, nullptr);
  void* y = *late->allocate(spec);
  void* const buffers[] = {x, y, nullptr};
  kernel->launch(*early, buffers);
  EXPECT_EQ(early->synchronize().code(), Code::kOutOfRange);
  gate.open();
}

TEST_F(StrictKernels, AreLostForGood) {
  Strict s({.failing_launch = 1});
  const auto kernel = neg(s.device);
  const MemorySpec spec{8};
  void *x = *s.device.allocate(spec), *y = *s.device.allocate(spec);
  void* const buffers[] = {x, y, nullptr};
  auto stream = s.stream();
  kernel->launch(*stream, buffers);
  EXPECT_TRUE(stream->synchronize().ok());
  kernel->launch(*stream, buffers);
  EXPECT_EQ(stream->synchronize().code(), Code::kInternal);
  EXPECT_FALSE(s.fault.raised()) << "nobody is told";
  EXPECT_EQ(s.device.allocate(spec).status().code(), Code::kInternal);
  int calls = 0;
  Work count([&] { ++calls; });
  stream->host(count, nullptr);
  EXPECT_FALSE(stream->synchronize().ok());
  EXPECT_EQ(calls, 0) << "callbacks are not called any more";
}

TEST(Strict, AFailingAllocationIsAnErrorOfTheCall) {
  Strict s({.failing_allocation = 0});
  EXPECT_EQ(s.device.allocate({8}).status().code(), Code::kResourceExhausted);
  EXPECT_TRUE(s.device.allocate({8}).ok());
}

// Chains of steps on both streams, for two ranks.
std::shared_ptr<const Plan> plan() {
  testing::ProgramBuilder b({{"a", 2}});
  ValueId v = b.input("x", Dtype::kF32, {8}, *parse_layout("S(0)", 1));
  for (int i = 0; i < 4; ++i) {
    v = b.compute("neg", {v}, row_major(Dtype::kF32, {4}));
    v = b.collective(CollectiveKind::kAllReduce, {0}, v, {4});
  }
  b.output("y", v, {4}, *parse_layout("R", 1));
  return b.finish();
}

runtime::RankBackend strict_ranks(const Options& options) {
  return {[options](int64_t rank) -> std::shared_ptr<runtime::Device> {
            Options own = options;
            own.seed += static_cast<uint64_t>(rank);
            if (rank != 1) own.failing_launch = own.failing_allocation = -1;
            return std::make_shared<StrictDevice>(own);
          },
          [](std::unique_ptr<runtime::ChannelProvider> channels, runtime::Device& device) {
            return strict::make_strict_channels(static_cast<StrictDevice&>(device).context(),
                                                std::move(channels));
          }};
}

TEST(StrictRanks, DelaysChangeNothing) {
  const HostTensor x = testing::make_tensor(Dtype::kF32, {8}, testing::small_integer);
  const HostTensorView views[] = {testing::view_of(x)};
  auto on_cpu = VirtualRanks::create(plan());
  const auto want = (*on_cpu)->run("step", views);
  ASSERT_TRUE(want.ok());
  for (uint64_t seed = 0; seed < 10; ++seed) {
    auto ranks = VirtualRanks::create(plan(), {.max_in_flight = 2, .graphs = seed % 2 == 1},
                                      strict_ranks({.seed = 2 * seed, .delay_percent = 30}));
    ASSERT_TRUE(ranks.ok()) << ranks.status().message();
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto out = (*ranks)->run("step", views);
      ASSERT_TRUE(out.ok()) << out.status().message();
      EXPECT_EQ((*out)[0].data, (*want)[0].data) << seed;
    }
  }
}

TEST(StrictRanks, AnyLaunchThatFailsIsAnErrorOnEveryRank) {
  const HostTensor x = testing::make_tensor(Dtype::kF32, {8}, testing::small_integer);
  const HostTensorView views[] = {testing::view_of(x)};
  bool failed = true;
  int64_t n = 0;
  for (; failed; ++n) {
    ASSERT_LT(n, 100);
    auto ranks =
        VirtualRanks::create(plan(), {.graphs = true}, strict_ranks({.failing_launch = n}));
    ASSERT_TRUE(ranks.ok()) << ranks.status().message();
    const Status status = (*ranks)->run("step", views).status();
    failed = !status.ok();
    if (!failed) continue;
    EXPECT_EQ(status.code(), Code::kInternal) << n << ": " << status.message();
    (*ranks)->reset();
    EXPECT_EQ((*ranks)->executor(1).fault().code(), Code::kInternal) << "the device stays lost";
  }
  EXPECT_EQ(n, 10) << "four times neg and all_reduce, and a clone; then nothing fails";
}

TEST(StrictRanks, AnyAllocationThatFailsIsAnError) {
  const HostTensor x = testing::make_tensor(Dtype::kF32, {8}, testing::small_integer);
  const HostTensorView views[] = {testing::view_of(x)};
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    ASSERT_LT(n, 100);
    auto ranks = VirtualRanks::create(plan(), {}, strict_ranks({.failing_allocation = n}));
    const Status status = ranks.ok() ? (*ranks)->run("step", views).status() : ranks.status();
    failed = !status.ok();
    if (failed) {
      EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.message();
    }
  }
}

}  // namespace
}  // namespace shw::cts
